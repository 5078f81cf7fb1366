import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { ok, type People, people, refused } from '../../support/people.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

describe('audits over HTTP', function () {
  this.timeout(300_000);
  let service: TestService;
  let who: People;
  before(async () => {
    service = await startService();
    who = await people(service);
  });
  after(() => service.stop());

  type Ask = TestService['ask'];
  const all = async (query: string, ask: Ask | People['reader'] = service.ask): Promise<any[]> => {
    const found: any[] = [];
    let cursor: string | null = null;
    do {
      const page: any = ok(await ask('GET', `/audit/events?${query}${cursor === null ? '' : `&cursor=${cursor}`}`));
      found.push(...page.results);
      cursor = page.cursor;
    } while (cursor !== null);
    return found;
  };
  const automation = async (name: string, more: object = {}, ask: People['member'] = service.ask): Promise<Answer> =>
    ask('POST', '/operations-manager/automations', { name, ...more });
  const idOf = async (username: string): Promise<string> =>
    ok(await service.ask('GET', `/authorization/accounts/${username}`))._id;

  it('find the events of an account, a resource, an operation, a request', async () => {
    const requestId = randomUUID();
    const made = await service.ask(
      'POST',
      '/operations-manager/automations',
      { name: 'a' },
      { 'X-Request-Id': requestId },
    );
    const { _id: id } = ok(made).data;
    ok(await who.member('PATCH', `/operations-manager/automations/${id}`, { description: 'changed' }));
    const member = await idOf('member');
    const [changed, created] = await all(`resource=automation/${id}`);
    assert.equal(created.position, Number(made.headers.get('x-event-position')));
    assert.deepEqual(
      { ...created, id: '', at: '', position: 0 },
      {
        id: '',
        position: 0,
        source: '@platform/operations-manager',
        topic: 'automationCreated',
        at: '',
        actor: { id: await idOf('admin'), username: 'admin', provenance: 'local', via: 'password' },
        resource: { kind: 'automation', id },
        revision: 0,
        correlation: requestId,
        causation: requestId,
        operation: 'createAutomation',
        requestId,
        data: {
          name: 'a',
          description: '',
          componentType: null,
          componentName: null,
          gbac: { read: [], write: [] },
        },
      },
    );
    assert.deepEqual(await all(`requestId=${requestId}`), [created]);
    assert.deepEqual(await all(`correlation=${requestId}`), [created]);
    assert.deepEqual(await all(`actor=${member}`), [changed]);
    assert.deepEqual(await all(`actor=${member}&operation=updateAutomation&topic=automationChanged`), [changed]);
    assert.deepEqual(await all(`actor=${member}&operation=createAutomation`), []);
    assert.deepEqual(await all(`resource=automation/${id}&since=${changed.position}`), [changed]);
    assert.deepEqual(await all(`resource=automation/${id}&until=${created.position}`), [created]);
    assert.deepEqual(await all(`resource=automation/${id}&since=${changed.at}&until=${changed.at}`), [changed]);
    assert.deepEqual(await all(`resource=automation/${id}&source=@platform/mop`), []);
  });

  it('find events by a part of their topics, those of the platform and published ones', async () => {
    const made = await automation('by part');
    const { _id: id } = ok(made).data;
    ok(await service.ask('PATCH', `/operations-manager/automations/${id}`, { description: 'changed' }));
    for (const topic of ['LinkDown', 'linkUp', 'automationLost'])
      ok(await service.ask('POST', `/operations-manager/events/net/${topic}`, {}));
    const topics = async (query: string) => (await all(query)).map(({ topic }) => topic);
    assert.deepEqual(await topics('topicContains=link'), ['linkUp', 'LinkDown']);
    assert.deepEqual(await topics('topicContains=LINKDOWN&source=net'), ['LinkDown']);
    assert.deepEqual(await topics(`topicContains=Automation&resource=automation/${id}`), [
      'automationChanged',
      'automationCreated',
    ]);
    assert.equal((await topics('topicContains=automation&limit=2'))[0], 'automationLost');
    assert.deepEqual(await topics('topicContains=automation&topic=linkUp'), []);
    assert.deepEqual(await topics('topicContains=nothing%20has%20it'), []);
    const whole = await topics('limit=1000');
    for (const part of ['automation', 'e'])
      assert.deepEqual(
        await topics(`topicContains=${part}&limit=3`),
        whole.filter((topic) => topic.toLowerCase().includes(part)),
        part,
      );
  });

  it('are paged, and repeat and miss nothing while others write', async () => {
    const { _id: id } = ok(await automation('paged')).data;
    const change = async (n: number) =>
      ok(await service.ask('PATCH', `/operations-manager/automations/${id}`, { description: `${n}` }));
    for (let n = 0; n < 7; n++) await change(n);
    const before = (await all(`resource=automation/${id}`)).map(({ revision }) => revision);
    assert.deepEqual(before, [7, 6, 5, 4, 3, 2, 1, 0]);
    const paged: number[] = [];
    let cursor: string | null = null;
    do {
      const next: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page = ok(await service.ask('GET', `/audit/events?resource=automation/${id}&limit=3${next}`));
      assert.ok(page.results.length <= 3);
      paged.push(...page.results.map(({ revision }: { revision: number }) => revision));
      cursor = page.cursor;
      await change(paged.length + 100);
    } while (cursor !== null);
    assert.deepEqual(paged, before);
  });

  it('refuse what they cannot read, and name the parameter', async () => {
    for (const [query, parameter] of [
      ['events?limit=0', 'limit'],
      ['events?limit=1001', 'limit'],
      ['events?cursor=x', 'cursor'],
      ['events?since=yesterday', 'since'],
      ['events?until=2026-02-30T00:00:00Z', 'until'],
      ['events?resource=automation', 'resource'],
      ['events?skip=1', 'skip'],
      ['denied?cursor=7', 'cursor'],
      ['denied?since=x', 'since'],
      ['resources/automation/x?cursor=-1', 'cursor'],
      ['diff?from=1&to=2', 'resource'],
      ['diff?resource=automation/x&to=2', 'from'],
      ['diff?resource=automation/x&from=1', 'to'],
      ['diff?resource=automation/x&from=1&to=99999999', 'to'],
    ])
      refused(await service.ask('GET', `/audit/${query}`), 400, new RegExp(`"path":"${parameter}"`));
  });

  it('show an event to who may see its resource now', async () => {
    const { _id: hidden } = ok(await automation('hidden', { gbac: { read: ['ops'], write: ['ops'] } })).data;
    const { _id } = ok(await automation('gone', { gbac: { read: ['ops'], write: ['ops'] } })).data;
    ok(await service.ask('DELETE', `/operations-manager/automations/${_id}`));
    const { _id: opened } = ok(await automation('opened', { gbac: { read: ['ops'], write: ['ops'] } })).data;
    ok(await service.ask('PATCH', `/operations-manager/automations/${opened}`, { gbac: { read: [], write: [] } }));
    for (const [id, seen] of [
      [hidden, { member: 1, stranger: 0, reader: 0 }],
      [_id, { member: 2, stranger: 0, reader: 0 }],
      [opened, { member: 2, stranger: 2, reader: 2 }],
    ] as const) {
      for (const [name, count] of Object.entries(seen)) {
        const ask = who[name as keyof typeof seen];
        const about = `${name} ${id}`;
        assert.equal((await all(`resource=automation/${id}`, ask)).length, count, about);
        const [history, diff] = [
          await ask('GET', `/audit/resources/automation/${id}`),
          await ask('GET', `/audit/diff?resource=automation/${id}&from=0&to=${1}`),
        ];
        assert.deepEqual([history.status, diff.status], count > 0 ? [200, 200] : [404, 404], about);
        const cut = await ask('GET', `/audit/resources/automation/${id}?cursor=0`);
        assert.equal(cut.status, count > 0 ? 200 : 404, 'a cursor shows nothing either');
      }
      refused(await who.outsider('GET', `/audit/events?resource=automation/${id}`), 403);
    }
  });

  it('show what no resource owns to admins, and what the platform keeps to itself to nobody', async () => {
    const kinds = async (ask: Ask | People['reader']) =>
      new Set((await all('limit=1000', ask)).map(({ resource, topic }) => resource?.kind ?? topic));
    const [admins, readers] = [await kinds(service.ask), await kinds(who.reader)];
    for (const hidden of ['name', 'series', 'login', 'payload', 'log', 'secret', 'logIdentified', 'keyChecked'])
      assert.ok(!admins.has(hidden), hidden);
    assert.ok(admins.has('account') && admins.has('automation'));
    assert.ok(readers.has('automation'));
  });

  it('mask secrets in data and patches, and say that one has changed', async () => {
    const [first, second] = ['first-secret-of-all', 'second-secret-of-all'];
    const put = (token: string, more: object = {}) => ({
      type: 'http',
      properties: { baseUrl: 'http://127.0.0.1:1', token, ...more },
    });
    ok(await service.ask('POST', '/configuration_manager/adapters', { name: 'box', ...put(first) }));
    ok(await service.ask('PUT', '/configuration_manager/adapters/box', put(second)));
    ok(await service.ask('PUT', '/configuration_manager/adapters/box', put('********', { timeout: 700 })));
    const events = await service.ask('GET', '/audit/events?resource=adapter/box');
    const history = await service.ask('GET', '/audit/resources/adapter/box');
    for (const { text } of [events, history])
      for (const secret of [first, second, '$sealed', '\\u0000']) assert.ok(!text.includes(secret), secret);
    const patches = history.body.results.map(({ patch }: { patch: { path: string }[] }) =>
      patch.filter(({ path }) => path.startsWith('/properties')),
    );
    assert.deepEqual(patches.slice(0, 2), [
      [{ op: 'add', path: '/properties/timeout', value: 700 }],
      [{ op: 'replace', path: '/properties/token', value: '********' }],
    ]);
    const [created] = history.body.results.at(-1).patch;
    assert.deepEqual([created.op, created.path, created.value.properties.token], ['replace', '', '********']);
  });

  it('tell the secrets of a trigger that have changed, though its document has only masks', async () => {
    const { _id: actionId } = ok(await automation('with a trigger')).data;
    const made = ok(
      await service.ask('POST', '/operations-manager/triggers', {
        name: 'secretive',
        type: 'manual',
        enabled: true,
        actionType: 'automations',
        actionId,
        formId: null,
        formData: { password: 'one', plain: 1 },
      }),
    ).data;
    ok(
      await service.ask('PATCH', `/operations-manager/triggers/${made._id}`, {
        formData: { password: 'two', plain: 1 },
      }),
    );
    ok(
      await service.ask('PATCH', `/operations-manager/triggers/${made._id}`, {
        formData: { password: '********', plain: 2 },
      }),
    );
    const { results } = ok(await service.ask('GET', `/audit/resources/trigger/${made._id}`));
    const inForm = results
      .slice(0, 2)
      .map(({ patch }: any) => patch.filter(({ path }: { path: string }) => path.startsWith('/formData')));
    assert.deepEqual(inForm, [
      [{ op: 'replace', path: '/formData/plain', value: 2 }],
      [{ op: 'replace', path: '/formData/password', value: '********' }],
    ]);
  });

  it('give histories whose patches lead from nothing to the document of each time', async () => {
    const { _id: id } = ok(await automation('history', { description: 'one' })).data;
    const path = `/operations-manager/automations/${id}`;
    for (const description of ['two', 'three', 'four']) ok(await service.ask('PATCH', path, { description }));
    ok(await service.ask('DELETE', path));
    const { results, cursor } = ok(await service.ask('GET', `/audit/resources/automation/${id}`));
    assert.equal(cursor, null);
    assert.deepEqual(
      results.map(({ topic }: { topic: string }) => topic),
      ['automationDeleted', 'automationChanged', 'automationChanged', 'automationChanged', 'automationCreated'],
    );
    assert.ok(results.every((entry: object) => !('data' in entry)));
    assert.deepEqual(results[0].patch, [{ op: 'replace', path: '', value: null }]);
    assert.deepEqual(results[4].patch[0].path, '');
    const { value } = results[4].patch[0];
    assert.deepEqual([value.name, value.description, value.createdBy], ['history', 'one', await idOf('admin')]);
    assert.ok(results[2].patch.some((one: any) => one.path === '/description' && one.value === 'three'));

    const paged: any[] = [];
    let next: string | null = null;
    do {
      const page: any = ok(
        await service.ask('GET', `/audit/resources/automation/${id}?limit=2${next === null ? '' : `&cursor=${next}`}`),
      );
      paged.push(...page.results);
      next = page.cursor;
    } while (next !== null);
    assert.deepEqual(paged, results);

    const [deleted, , third, , created] = results;
    const diff = async (from: string | number, to: string | number) =>
      ok(await service.ask('GET', `/audit/diff?resource=automation/${id}&from=${from}&to=${to}`));
    const changed = await diff(created.position, third.position);
    assert.deepEqual([changed.from, changed.to], [created.position, third.position]);
    assert.ok(changed.patch.some((one: any) => one.path === '/description' && one.value === 'three'));
    assert.deepEqual(await diff(created.at, third.at), changed);
    assert.deepEqual((await diff(third.position, deleted.position)).patch, [{ op: 'replace', path: '', value: null }]);
    assert.deepEqual((await diff(third.position, third.position)).patch, []);
    assert.deepEqual((await diff(0, created.position)).patch, results[4].patch);
    refused(await service.ask('GET', '/audit/resources/automation/none'), 404);
    refused(await service.ask('GET', '/audit/resources/name/none'), 404);
    refused(await service.ask('GET', '/audit/diff?resource=automation/none&from=0&to=1'), 404);
  });

  it('trace what followed from a request, as a tree', async () => {
    const correlation = randomUUID();
    const { _id: actionId } = ok(await automation('started by an event')).data;
    ok(
      await service.ask('POST', '/operations-manager/triggers', {
        name: 'on ticket',
        type: 'eventSystem',
        enabled: true,
        actionType: 'automations',
        actionId,
        source: 'itsm',
        topic: 'ticketOpened',
        schema: null,
        jst: null,
      }),
    );
    const published = ok(
      await service.ask(
        'POST',
        '/operations-manager/events/itsm/ticketOpened',
        { ticket: 7 },
        { 'X-Request-Id': correlation },
      ),
    ).data;
    const trace = async (ask: Ask | People['reader'] = service.ask) =>
      ok(await ask('GET', `/audit/trace/${correlation}`)).results;
    await until(async () => ((await trace())[0]?.children.length ?? 0) > 0, 'the job');
    const [root, ...others] = await trace();
    assert.deepEqual([root.id, root.topic, root.causation, others], [published.id, 'ticketOpened', correlation, []]);
    const [started] = root.children;
    assert.deepEqual([started.topic, started.causation, started.correlation], ['jobStarted', root.id, correlation]);
    assert.deepEqual(started.children, []);
    assert.equal((await trace(who.reader))[0].children.length, 1);
    assert.deepEqual(ok(await service.ask('GET', '/audit/trace/nothing')).results, []);
  });

  it('list refused requests for admins and who has the method', async () => {
    for (let i = 0; i < 3; i++)
      refused(await who.reader('POST', '/operations-manager/automations', { name: 'a' }), 403);
    refused(await who.stranger('GET', '/audit/denied'), 403);
    const reader = await idOf('reader');
    service = await service.restart();
    const page = ok(await service.ask('GET', '/audit/denied'));
    const row = page.results.find((one: any) => one.account === reader && one.operation === 'createAutomation');
    assert.equal(row.count, 3);
    assert.deepEqual(Object.keys(row), ['account', 'address', 'operation', 'code', 'count', 'first', 'last']);
    const rows: any[] = [];
    let cursor: string | null = null;
    do {
      const next: any = ok(
        await service.ask('GET', `/audit/denied?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`),
      );
      rows.push(...next.results);
      cursor = next.cursor;
    } while (cursor !== null);
    assert.deepEqual(rows, page.results);
    assert.deepEqual(
      ok(await service.ask('GET', `/audit/denied?since=${row.first}&until=${row.last}`)).results.length > 0,
      true,
    );
    assert.deepEqual(ok(await service.ask('GET', '/audit/denied?until=2020-01-01T00:00:00Z')).results, []);
    assert.deepEqual(ok(await service.ask('GET', '/audit/denied?until=3')).results, []);
    const asEvents = await all('topic=requestsDenied');
    assert.ok(asEvents.length > 0 && asEvents.every(({ resource }) => resource === null));
    who = { ...who, reader: service.as({ user: 'reader', password: 'a long enough password' }) };
    assert.deepEqual(await all('topic=requestsDenied', who.reader), []);
    ok(
      await service.ask('POST', '/authorization/roles', {
        name: 'auditor',
        allowedMethods: [{ provenance: 'audit', name: 'getAuditDenied' }],
      }),
    );
    ok(await service.ask('PATCH', '/authorization/accounts/reader', { assignedRoles: ['auditor'] }));
    assert.deepEqual(ok(await who.reader('GET', '/audit/denied?limit=1')).results, rows.slice(0, 1));
    assert.deepEqual(await all('topic=requestsDenied', who.reader), asEvents);
  });
});

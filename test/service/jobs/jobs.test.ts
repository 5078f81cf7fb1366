import assert from 'node:assert/strict';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok, type People, refused } from '../../support/people.ts';
import type { TestService } from '../../support/service.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Jobs over HTTP', () => {
  const service = useService();
  const who = usePeople(service);
  const jobs = '/operations-manager/jobs';
  type Ask = TestService['ask'];
  const begin = async (workflow = 'Back up', options: object = {}, ask: Ask | People['member'] = service.ask) =>
    ok(await ask('POST', `${jobs}/start`, { workflow, options })).data;
  const get = async (id: string) => ok(await service.ask('GET', `${jobs}/${id}`)).data;
  const status = async (...ids: readonly string[]) => Promise.all(ids.map(async (id) => (await get(id)).status));
  const automation = async (body: object) =>
    ok(await service.ask('POST', '/operations-manager/automations', body)).data._id as string;

  it('start with all that is asked for, and show it', async () => {
    const before = Date.now();
    const made = await begin(
      'Turn up port',
      { description: 'Desk 4', type: 'request', variables: { vlan: 210 } },
      who.member,
    );
    const { _id, created, last_updated, metrics, ...rest } = made;
    assert.deepEqual(rest, {
      name: 'Turn up port',
      description: 'Desk 4',
      type: 'request',
      status: 'running',
      variables: { vlan: 210 },
      watchers: ['member'],
      trigger: null,
      automation: null,
      component: { type: 'workflows', name: 'Turn up port' },
      groups: [],
      created_by: 'member',
      error: null,
      event: null,
      instant: null,
      depth: 0,
      parent: null,
      claim: null,
      progress: null,
      workflow: null,
    });
    assert.ok(Date.parse(created) >= before - 1 && created === last_updated);
    assert.deepEqual(metrics, { start_time: created, end_time: null, duration: null });
    assert.deepEqual(await get(_id), made);
  });

  it('start by name or id of an automation', async () => {
    const id = await automation({ name: 'Nightly', componentType: 'workflows', componentName: 'Back up' });
    for (const workflow of ['Nightly', id]) {
      const { name, automation, component, type } = await begin(workflow);
      assert.deepEqual(
        { name, automation, component, type },
        { name: 'Nightly', automation: id, component: { type: 'workflows', name: 'Back up' }, type: 'automation' },
      );
    }
  });

  it('are listed newest first, by status and more', async () => {
    const made: string[] = [];
    for (const variables of [{}, {}, {}]) made.unshift((await begin('Listed', { type: 'kind', variables }))._id);
    ok(await service.ask('POST', `${jobs}/cancel`, { jobIds: [made[1]] }));
    const list = async (query: string) => ok(await service.ask('GET', `${jobs}?multiEquals[name]=Listed&${query}`));
    const { data, metadata } = await list('limit=2');
    assert.deepEqual(metadata, { skip: 0, limit: 2, total: 3 });
    const newestFirst = (await list('')).data.map((doc: { created: string; _id: string }) => [doc.created, doc._id]);
    assert.deepEqual(newestFirst, newestFirst.toSorted().reverse());
    assert.deepEqual(data, (await list('')).data.slice(0, 2));
    assert.deepEqual(
      (await list('multiEquals[status]=canceled')).data.map(({ _id }: { _id: string }) => _id),
      [made[1]],
    );
    assert.deepEqual((await list('multiEquals[type]=kind&multiEquals[component]=Listed')).metadata.total, 3);
  });

  it('pause, resume and cancel together, and answer as they are then', async () => {
    const [a, b] = [(await begin())._id, (await begin())._id];
    const paused = ok(await service.ask('POST', `${jobs}/pause`, { jobIds: [a, b, a] }));
    assert.deepEqual(
      paused.data.map(({ _id, status }: { _id: string; status: string }) => [_id, status]),
      [
        [a, 'paused'],
        [b, 'paused'],
      ],
    );
    ok(await service.ask('POST', `${jobs}/resume`, { jobIds: [b] }));
    assert.deepEqual(await status(a, b), ['paused', 'running']);
    ok(await service.ask('POST', `${jobs}/cancel`, { jobIds: [a, b] }));
    ok(await service.ask('POST', `${jobs}/cancel`, { jobIds: [a, b] }));
    const { status: last, metrics, created, last_updated } = await get(a);
    assert.equal(last, 'canceled');
    assert.deepEqual(metrics, {
      start_time: created,
      end_time: last_updated,
      duration: Date.parse(last_updated) - Date.parse(created),
    });
  });

  it('change all or none', async () => {
    const [a, done] = [(await begin())._id, (await begin())._id];
    ok(await service.ask('POST', `${jobs}/${done}/complete`));
    refused(await service.ask('POST', `${jobs}/pause`, { jobIds: [a, 'x', 'y'] }), 404, /x, y/);
    refused(
      await service.ask('POST', `${jobs}/cancel`, { jobIds: [a, done] }),
      409,
      new RegExp(`${done} \\(complete\\)`),
    );
    refused(await service.ask('POST', `${jobs}/watch`, { jobIds: [a, 'x'] }), 404, /x/);
    assert.deepEqual(await status(a, done), ['running', 'complete']);
  });

  it('take what workers report, and end', async () => {
    const [good, bad] = [(await begin('x', { variables: { site: 'Bonn', n: 1 } }))._id, (await begin())._id];
    const { variables, status, metrics, error } = ok(
      await service.ask('POST', `${jobs}/${good}/complete`, { variables: { n: 2, saved: true } }),
    ).data;
    assert.deepEqual(
      { variables, status, error },
      { variables: { site: 'Bonn', n: 2, saved: true }, status: 'complete', error: null },
    );
    assert.ok(metrics.duration >= 0);
    const answer = ok(
      await service.ask('POST', `${jobs}/${bad}/error`, { error: { message: 'No answer', attempts: 3 } }),
    ).data;
    assert.deepEqual([answer.status, answer.error], ['error', { message: 'No answer', attempts: 3 }]);
    ok(await service.ask('POST', `${jobs}/${good}/complete`, { variables: { n: 2 } }));
    refused(await service.ask('POST', `${jobs}/${good}/error`, { error: 'Late' }), 409, new RegExp(good));
    refused(await service.ask('POST', `${jobs}/${bad}/complete`), 409, new RegExp(bad));
  });

  it('show no secret, and keep none in clear', async () => {
    const made = await begin('x', {
      variables: {
        device: { user: 'u', password: 'hunter2-in-clear' },
        list: [{ apiKey: 1, token: { a: 'hunter2-in-clear' } }],
      },
    });
    assert.deepEqual(made.variables, {
      device: { user: 'u', password: '********' },
      list: [{ apiKey: '********', token: '********' }],
    });
    const done = ok(
      await service.ask('POST', `${jobs}/${made._id}/complete`, {
        variables: { device: { password: '********' }, secret: 'hunter2-in-clear' },
      }),
    ).data;
    assert.deepEqual([done.variables.device, done.variables.secret], [{ password: '********' }, '********']);
    const failed = await begin();
    const { error } = ok(
      await service.ask('POST', `${jobs}/${failed._id}/error`, {
        error: { message: 'Refused', credentials: 'hunter2-in-clear' },
      }),
    ).data;
    assert.deepEqual(error, { message: 'Refused', credentials: '********' });
    for (const text of [(await service.ask('GET', `${jobs}?limit=1000`)).text, service.lines.join()])
      assert.ok(!/hunter2|\$sealed/.test(text));
    const {
      data: [listed],
    } = ok(await service.ask('GET', `${jobs}?multiEquals[status]=error&limit=1`));
    for (const { name, bytes } of keptFiles(service.folder))
      assert.ok(!bytes.includes('hunter2'), `${name} has it in clear`);
    assert.equal(listed.error.credentials, '********');
  });

  it('are watched by who started them, and by who asks to', async () => {
    const [mine, other] = [(await begin('x', {}, who.member))._id, (await begin('y'))._id];
    const watchers = async () => [(await get(mine)).watchers, (await get(other)).watchers];
    const ask = async (what: string, jobIds: readonly string[], person: People['member'] = who.member) => {
      const { data, metadata } = ok(await person('POST', `${jobs}/${what}`, { jobIds }));
      assert.deepEqual({ data, metadata }, { data: null, metadata: {} });
    };
    assert.deepEqual(await watchers(), [['member'], ['admin']]);
    await ask('watch', [mine, other]);
    await ask('watch', [mine], who.stranger);
    assert.deepEqual(await watchers(), [
      ['member', 'stranger'],
      ['admin', 'member'],
    ]);
    await ask('unwatch', [mine, other]);
    await ask('unwatch', [mine]);
    assert.deepEqual(await watchers(), [['stranger'], ['admin']]);
    await ask('watch', [mine, mine]);
    assert.deepEqual(await watchers(), [['member', 'stranger'], ['admin']]);
    refused(await who.member('POST', `${jobs}/unwatch`, { jobIds: [mine, 'x', 'y'] }), 404, /x, y/);
    assert.deepEqual(await watchers(), [['member', 'stranger'], ['admin']]);
    const { data } = ok(await service.ask('GET', `${jobs}?multiEquals[name]=x`));
    assert.deepEqual(data.find(({ _id }: { _id: string }) => _id === mine).watchers, ['member', 'stranger']);
  });

  it('store nothing where nothing changes', async () => {
    const { _id } = await begin();
    const position = async (path: string, body: object) => {
      const answer = await service.ask('POST', `${jobs}/${path}`, body);
      ok(answer);
      return Number(answer.headers.get('x-event-position'));
    };
    const first = await position('unwatch', { jobIds: [_id] });
    assert.equal(await position('unwatch', { jobIds: [_id] }), first);
    assert.equal(await position('unwatch', { jobIds: [] }), first);
    const ended = await position(`${_id}/error`, { error: 'x' });
    assert.equal(await position(`${_id}/error`, { error: 'x' }), ended);
  });

  it('of a restricted automation are there for its readers only', async () => {
    const id = await automation({ name: 'Restricted', gbac: { read: [], write: ['ops'] } });
    const open = (await begin('Open'))._id;
    const { _id } = await begin('Restricted', {}, who.member);
    const all = async (person: People['member']) =>
      ok(await person('GET', `${jobs}?multiEquals[name]=Restricted`)).metadata.total;
    assert.deepEqual([await all(who.member), await all(who.stranger), await all(service.ask)], [1, 0, 1]);
    const totals = await Promise.all(
      [service.ask, who.stranger].map(async (person) => ok(await person('GET', `${jobs}?limit=1`)).metadata.total),
    );
    assert.equal(totals[0] - totals[1], 1);
    for (const workflow of ['Restricted', id]) refused(await who.stranger('POST', `${jobs}/start`, { workflow }), 404);
    refused(await who.stranger('GET', `${jobs}/${_id}`), 404);
    refused(await who.stranger('POST', `${jobs}/${_id}/complete`), 404);
    refused(await who.stranger('POST', `${jobs}/${_id}/error`, { error: 'x' }), 404);
    for (const what of ['watch', 'unwatch', 'pause', 'resume', 'cancel'])
      refused(await who.stranger('POST', `${jobs}/${what}`, { jobIds: [open, _id] }), 404, new RegExp(_id));
    ok(await who.member('POST', `${jobs}/cancel`, { jobIds: [_id] }));
  });

  it('that name groups are there for their members who may also see the automation', async () => {
    await automation({ name: 'For operators', gbac: { write: ['operators'] } });
    const [narrowed, barred] = [
      (await begin('For operators', { groups: ['ops'] }))._id,
      (await begin('Nobody but readers', { groups: [{ name: 'readers' }] }))._id,
    ];
    const seen = async (person: People['member'], id: string) => (await person('GET', `${jobs}/${id}`)).status;
    assert.deepEqual(
      [await seen(who.member, narrowed), await seen(who.stranger, narrowed), await seen(who.reader, narrowed)],
      [200, 404, 404],
    );
    assert.deepEqual(
      [await seen(who.member, barred), await seen(who.stranger, barred), await seen(who.reader, barred)],
      [404, 404, 200],
    );
    assert.equal(
      ok(await who.stranger('GET', `${jobs}?multiEquals[name]=For operators`.replace(' ', '%20'))).metadata.total,
      0,
    );
    refused(await who.stranger('POST', `${jobs}/${narrowed}/complete`), 404);
    refused(await service.ask('DELETE', '/authorization/groups/ops'), 409, /For operators/);
    ok(await who.member('POST', `${jobs}/${narrowed}/complete`));
  });
});

import assert from 'node:assert/strict';
import type { Recorded } from '../../../src/store/event.ts';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import {
  type ApiNode,
  type Cluster,
  type ClusterNode,
  cluster,
  lookUntil,
  note,
  soon,
  type Wait,
  withinSecond,
} from '../../support/cluster.ts';
import { audience, browser, logoutClaims, startIssuer } from '../../support/issuer.ts';
import { logAudit } from '../../support/logAudit.ts';
import { ok, refused } from '../../support/people.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { adminPassword, basic } from '../../support/service.ts';
import { openStream } from '../../support/sse.ts';
import { says, webhookServer } from '../../support/webhookServer.ts';

describeOwnRedis('several nodes', (redis) => {
  let nodes: Cluster;
  let [a, b] = [] as unknown as [ClusterNode, ClusterNode];
  let agent: Awaited<ReturnType<typeof webhookServer>>;
  let log: Recorded[];
  let audit: ReturnType<typeof logAudit>;
  before(async function () {
    this.timeout(300_000);
    agent = await webhookServer({ '/agent': says({ status: 'COMPLETE', lastMessage: 'Done' }) });
    nodes = await cluster(redis(), { OUTBOUND_ALLOW: '127.0.0.1' });
    // Both for the first time, at the same moment.
    await nodes.start();
    [a, b] = nodes.nodes as [ClusterNode, ClusterNode];
    audit = logAudit(() => openSqliteReader(nodes.logFile));
    log = [];
  });
  after(async () => {
    agent?.close();
    await nodes?.remove();
  });

  const events = async (topic: string): Promise<readonly Recorded<any>[]> => {
    // data as the topic has it
    log.push(...(await audit()));
    return log.filter((event) => event.topic === topic);
  };
  const made = async (node: ApiNode, path: string, body: unknown) => ok(await node.ask('POST', path, body));
  const password = 'a long enough password';
  const whoami =
    (user: string, secret = password) =>
    async (node: ApiNode) =>
      (await node.ask('GET', '/authorization/whoami', undefined, { Authorization: basic({ user, password: secret }) }))
        .status;
  const acts = async (what: string, so: () => Promise<boolean>): Promise<void> => {
    note(`${what} after ${await soon(what, so)} ms`);
  };
  const position = ({ headers }: { readonly headers: Headers }) => ({
    'X-Min-Position': headers.get('x-event-position')!,
  });
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

  it('start for the first time at once with one account, one of each group and one adapter', async () => {
    for (const { ask } of [a, b]) {
      assert.deepEqual(
        ok(await ask('GET', '/authorization/accounts')).results.map(({ username }: { username: string }) => username),
        ['admin'],
      );
      const groups = ok(await ask('GET', '/authorization/groups')).results.map(({ name }: { name: string }) => name);
      assert.ok(groups.includes('admins') && new Set(groups).size === groups.length, groups.join());
      assert.equal(ok(await ask('GET', '/configuration_manager/adapters')).total, 1);
    }
    assert.equal((await events('accountCreated')).length, 1);
  });

  it('say which of them leads', async () => {
    const { leader, other } = await nodes.roles();
    for (const [node, leads] of [
      [leader, true],
      [other, false],
    ] as const) {
      const { status, readStore } = await node.status();
      assert.deepEqual([status, readStore.leads, readStore.fault, readStore.lag], ['up', leads, null, 0]);
      assert.equal((await node.ask('GET', '/health/ready')).status, 200);
    }
  });

  it('stream events from a position that another has just answered, and from none beyond the log', async () => {
    for (let n = 0; n < 10; n++) {
      const { position: at } = (await made(a, '/operations-manager/events/nodes/told', { n })).data;
      const stream = await openStream(b.url(), `?from=${at}`);
      stream.close();
      assert.equal(stream.status, 200, stream.text());
    }
    const beyond = await b.ask('GET', '/operations-manager/events/stream?from=999999999');
    refused(beyond, 400, /beyond/);
  });

  it('know a login of another at once, and its end soon', async () => {
    for (const [one, another] of [
      [a, b],
      [b, a],
    ] as const) {
      const { status, text: token } = await one.ask('POST', '/login', { username: 'admin', password: adminPassword });
      assert.equal(status, 200);
      const bearer = { Authorization: `Bearer ${token}` };
      for (const node of [another, one])
        assert.equal((await node.ask('GET', '/authorization/whoami', undefined, bearer)).status, 200);
      ok(await one.ask('POST', '/logout', undefined, bearer));
      assert.equal((await one.ask('GET', '/authorization/whoami', undefined, bearer)).status, 401);
      await acts(
        'a logout',
        async () => (await another.ask('GET', '/authorization/whoami', undefined, bearer)).status === 401,
      );
    }
  });

  it('hear soon of a changed password, a role that is taken away or changed, and an account that is deactivated', async () => {
    for (const [one, another, username] of [
      [a, b, 'ann'],
      [b, a, 'ben'],
    ] as const) {
      const role = `${username}'s role`;
      const all = ['getAutomations', 'getJobs'].map((name) => ({ provenance: 'operations-manager', name }));
      await made(one, '/authorization/roles', { name: role, allowedMethods: all });
      await made(one, '/authorization/accounts', { username, password, assignedRoles: [role] });
      const change = async (path: string, body: unknown) => ok(await one.ask('PATCH', `/authorization/${path}`, body));
      const may = async (method: string, secret = password) =>
        (
          await another.ask('GET', `/operations-manager/${method}`, undefined, {
            Authorization: basic({ user: username, password: secret }),
          })
        ).status;

      await acts('a new account', async () => (await may('automations')) === 200);
      await change(`roles/${encodeURIComponent(role)}`, { allowedMethods: all.slice(0, 1) });
      await acts('a changed role', async () => (await may('jobs')) === 403);
      assert.equal(await may('automations'), 200);
      await change(`accounts/${username}`, { password: 'another password' });
      await acts('a changed password', async () => (await may('automations')) === 401);
      assert.equal(await may('automations', 'another password'), 200);
      await change(`accounts/${username}`, { assignedRoles: [] });
      await acts('a role that was taken away', async () => (await may('automations', 'another password')) === 403);
      await change(`accounts/${username}`, { inactive: true });
      await acts('a deactivated account', async () => (await whoami(username, 'another password')(another)) === 401);
    }
  });

  it('hear soon of a token that is ended, a mapping that is removed, and an account that is deactivated', async () => {
    const waits: Wait[] = [];
    for (const [one, another, name] of [
      [a, b, 'cleo'],
      [b, a, 'dora'],
    ] as const) {
      const mapping = { provenance: 'typed', externalGroup: name, platformGroups: ['readers'] };
      await made(one, '/group-mappings', mapping);
      const account = { username: name, password, provenance: 'typed', externalGroups: [name] };
      const own = { Authorization: basic({ user: name, password }) };
      const created = await one.ask('POST', '/authorization/accounts', account);
      const { token, id } = ok(
        await one.ask('POST', '/authorization/tokens', { name: 'ci' }, { ...own, ...position(created) }),
      ).data;
      const second = ok(await one.ask('POST', '/authorization/tokens', { name: 'ci' }, own)).data.token;
      const status = async (text: string) =>
        (await another.ask('GET', '/authorization/groups', undefined, { Authorization: `Bearer ${text}` })).status;
      const ends = async (
        change: Promise<{ readonly status: number; readonly body: any; readonly text: string }>,
        text: string,
        as: number,
      ) => {
        ok(await change);
        waits.push(await lookUntil(`${text.slice(0, 10)} is ${as}`, async () => (await status(text)) === as));
      };
      for (const text of [token, second]) assert.equal(await status(text), 200);
      await ends(one.ask('DELETE', `/authorization/tokens/${id}`), token, 401);
      assert.equal(await status(second), 200);
      await ends(one.ask('DELETE', `/group-mappings/typed/${name}`), second, 403);
      await ends(one.ask('PATCH', `/authorization/accounts/${name}`, { inactive: true }), second, 401);
    }
    withinSecond(waits);
  });

  it('hear soon of a mapping, a token, a login and an account of a person of an issuer that end', async () => {
    const names = { finn: [a, b], gwen: [b, a] } as const;
    const claimsOf = (name: string) => ({ preferred_username: name, groups: [name] });
    const people = Object.fromEntries(Object.keys(names).map((name) => [name, claimsOf(name)]));
    const issuer = await startIssuer({ service: a.url(), name: 'corp', people });
    const waits: Wait[] = [];
    try {
      const properties = { ...issuer.properties, apiTokens: true, audience };
      await made(a, '/authorization/providers', { name: 'corp', type: 'oidc', properties });
      for (const [name, [one, another]] of Object.entries(names)) {
        const mapping = { provenance: 'corp', externalGroup: name, platformGroups: ['readers'] };
        const mapped = await one.ask('POST', '/group-mappings', mapping);
        const status = async (node: ApiNode, bearer: string) =>
          (await node.ask('GET', '/authorization/groups', undefined, { Authorization: `Bearer ${bearer}` })).status;
        const ends = async (change: ReturnType<ApiNode['ask']>, bearers: readonly string[], as: number) => {
          ok(await change);
          for (const bearer of bearers) {
            assert.equal(await status(one, bearer), as, bearer);
            waits.push(
              await lookUntil(`${bearer.slice(0, 10)} is ${as}`, async () => (await status(another, bearer)) === as),
            );
          }
        };

        // The login begins at one node, and comes back to the other.
        issuer.letIn(name);
        const user = browser();
        const { url } = await user.follow(`${a.url()}/authorization/oidc/corp/login`, issuer.redirectUri);
        user.jarOf(b.url()).set('oidc', user.jarOf(a.url()).get('oidc')!);
        assert.equal((await user.get(url.replace(a.url(), b.url()))).status, 200);
        assert.equal((await user.get(url)).status, 401, 'the same login at another node');
        const cookie = user.jarOf(b.url()).get('token')!;
        const access = await issuer.sign({ sub: name, ...claimsOf(name) });
        const own = { Authorization: `Bearer ${cookie}`, ...position(mapped) };
        const [first, second] = [
          ok(await one.ask('POST', '/authorization/tokens', { name: 'ci' }, own)).data,
          ok(await one.ask('POST', '/authorization/tokens', { name: 'ci' }, own)).data,
        ];
        for (const bearer of [cookie, access, first.token, second.token])
          for (const node of [one, another]) assert.equal(await status(node, bearer), 200);

        await ends(one.ask('DELETE', `/authorization/tokens/${first.id}`), [first.token], 401);
        const going = [cookie, access, second.token];
        await ends(one.ask('DELETE', `/group-mappings/corp/${name}`), going, 403);
        const logout = { logout_token: await issuer.sign(logoutClaims(name)) };
        const send = one.ask('POST', '/authorization/oidc/corp/backchannel-logout', logout, { Authorization: '' });
        await ends(send, [cookie], 401);
        for (const bearer of [access, second.token]) assert.equal(await status(another, bearer), 403);
        await ends(
          one.ask('PATCH', `/authorization/accounts/${name}`, { inactive: true }),
          [access, second.token],
          401,
        );
      }
    } finally {
      await issuer.stop();
    }
    withinSecond(waits);
  });

  it('go by the active profile soon, whoever changed it', async () => {
    const headers = async ({ ask }: ApiNode) => {
      const answer = await ask('GET', '/health/live');
      return [answer.headers.get('cache-control'), answer.headers.get('access-control-allow-origin')].join(' ');
    };
    const put = async ({ ask }: ApiNode, name: string, expressProps: object) =>
      ok(await ask('PUT', `/profiles/${name}`, { properties: { expressProps } }));
    const shown = (text: string) =>
      acts(`a profile with ${text}`, async () =>
        (await Promise.all([a, b].map(headers))).every((found) => found === text),
      );
    await put(a, 'one', { cacheControl: true, access_control_allow_origin: 'https://one.example' });
    ok(await b.ask('PUT', '/profiles/one/active', undefined, {}));
    await shown('no-cache https://one.example');
    await put(b, 'one', { cacheControl: true, access_control_allow_origin: '*' });
    await shown('no-cache *');
    await put(b, 'two', {});
    ok(await a.ask('PUT', '/profiles/two/active'));
    await shown(' ');
  });

  it('give a name once, though all ask for it at the same time', async () => {
    for (const [path, list] of [
      ['/operations-manager/automations', 'data'],
      ['/authorization/groups', 'results'],
    ] as const) {
      const answers = await Promise.all(
        numbers(10).map((n) => Promise.all([a, b].map(({ ask }) => ask('POST', path, { name: `only one ${n}` })))),
      );
      assert.deepEqual(
        [
          ...new Set(
            answers.map((two) =>
              two
                .map(({ status }) => status)
                .sort()
                .join(),
            ),
          ),
        ],
        ['200,409'],
      );
      const last = String(Math.max(...answers.flat().map(({ headers }) => Number(headers.get('x-event-position')))));
      for (const { ask } of [a, b]) {
        const names = ok(await ask('GET', `${path}?limit=1000`, undefined, { 'X-Min-Position': last }))
          [list].map(({ name }: { name: string }) => name)
          .filter((name: string) => name.startsWith('only one'));
        assert.equal(names.length, 10);
        assert.equal(new Set(names).size, 10);
      }
    }
  });

  it('carry out a request once that both get at the same time under one Idempotency-Key, and answer the same', async () => {
    const send = async (path: string, body: unknown, key: string) => {
      const answers = await Promise.all([a, b].map(({ ask }) => ask('POST', path, body, { 'Idempotency-Key': key })));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200],
        answers.map(({ text }) => text).join('\n'),
      );
      assert.deepEqual(
        answers.map((answer) => answer.headers.get('idempotency-replayed') ?? 'false').sort(),
        ['false', 'true'],
        key,
      );
      assert.equal(answers[0]!.text, answers[1]!.text);
    };
    await Promise.all(
      numbers(8).flatMap((n) => [
        send('/operations-manager/jobs/start', { workflow: 'w', options: { description: `once ${n}` } }, `job-${n}`),
        send('/operations-manager/automations', { name: `once ${n}` }, `automation-${n}`),
      ]),
    );
    const once = (descriptions: readonly string[]) =>
      assert.deepEqual(
        descriptions.filter((text) => text.startsWith('once ')).sort(),
        numbers(8)
          .map((n) => `once ${n}`)
          .sort(),
      );
    once((await events('jobStarted')).map(({ data }) => data.description));
    once((await events('automationCreated')).map(({ data }) => data.name));
  });

  it('show what another has acknowledged to whoever sends its position', async () => {
    const etags = new Set<string>();
    for (const n of numbers(8)) {
      const [one, another] = n % 2 === 0 ? [a, b] : [b, a];
      const change = await one.ask('PATCH', '/group-mappings/ldap/across', {
        updates: { platformGroups: [String(n)] },
      });
      assert.equal(change.status, 200, change.text);
      const read = await another.ask('GET', '/group-mappings/ldap/across', undefined, position(change));
      assert.deepEqual(ok(read).platformGroups, [String(n)]);
      assert.equal(read.headers.get('etag'), change.headers.get('etag'));
      etags.add(read.headers.get('etag')!);
      const { results } = ok(await another.ask('GET', '/group-mappings?limit=1000', undefined, position(change)));
      assert.deepEqual(
        results.find(({ externalGroup }: { externalGroup: string }) => externalGroup === 'across').platformGroups,
        [String(n)],
      );
    }
    assert.equal(etags.size, 8);
    refused(
      await a.ask(
        'PATCH',
        '/group-mappings/ldap/across',
        { updates: { platformGroups: ['x'] } },
        { 'If-Match': [...etags][0]! },
      ),
      412,
    );
  });

  const path = '/lifecycle-manager/resources';
  it('lose no change of a resource that both change, and let members go once, whoever leads', async () => {
    await made(a, path, { name: 'Vlan', schema: {} });
    const instances = await Promise.all(
      numbers(8).map(
        async (n) =>
          (await made([a, b][n % 2]!, `${path}/Vlan/instances`, { name: `v${n}`, instanceData: {} })).data
            ._id as string,
      ),
    );
    await made(a, `${path}/Vlan/groups`, { name: 'Edge' });
    await Promise.all(
      instances.map(async (id, n) =>
        ok(await [b, a][n % 2]!.ask('PATCH', `${path}/Vlan/groups/Edge`, { instancesToAdd: [id] })),
      ),
    );
    const members = async ({ ask }: ApiNode): Promise<number> =>
      ok(await ask('PATCH', `${path}/Vlan/groups/Edge`, {})).metadata.total;
    assert.equal(await members(a), 8);

    await Promise.all(
      instances
        .slice(0, 4)
        .map(async (id, n) => ok(await [a, b][n % 2]!.ask('DELETE', `${path}/Vlan/instances/${id}`))),
    );
    for (const node of [a, b]) await acts('members that have gone', async () => (await members(node)) === 4);
    const removed = (await events('resourceGroupMembersChanged')).flatMap(({ data }) => data.removed as string[]);
    assert.deepEqual([...removed].sort(), instances.slice(0, 4).sort());
  });

  it('carry out each session once, whoever is asked and whoever leads', async () => {
    const manager = '/agent-session-manager';
    await made(a, `${manager}/agents`, {
      name: 'summary',
      inputSchema: {},
      runner: 'template',
      template: 'Change {{ ticket }}',
    });
    await made(b, `${manager}/agents`, {
      name: 'caller',
      inputSchema: {},
      runner: 'webhook',
      url: agent.url('/agent'),
    });
    const sessions = await Promise.all(
      numbers(6).map(async (n) => ({
        id: (
          await made([a, b][n % 2]!, `${manager}/sessions/run-agent`, {
            agent: n < 3 ? 'summary' : 'caller',
            inputs: { ticket: n },
          })
        ).sessionId as string,
        message: n < 3 ? `Change ${n}` : 'Done',
      })),
    );
    for (const { id, message } of sessions) {
      for (const { ask } of [a, b])
        await soon(
          'a session ends',
          async () => (await ask('GET', `${manager}/sessions/${id}`)).body?.status === 'COMPLETE',
        );
      assert.equal(ok(await a.ask('GET', `${manager}/sessions/${id}`)).lastMessage, message);
    }
    assert.deepEqual(
      agent.called.map(({ body }) => body.sessionId).sort(),
      sessions
        .slice(3)
        .map(({ id }) => id)
        .sort(),
    );
    assert.deepEqual(
      (await events('sessionCompleted')).map(({ stream }) => stream.slice(stream.indexOf('-') + 1)).sort(),
      sessions.map(({ id }) => id).sort(),
    );
  });

  it('run each instant of a schedule once, also when the one that leads is killed', async function () {
    this.timeout(300_000);
    const om = '/operations-manager';
    const { leader, other } = await nodes.roles();
    const { _id: actionId } = (await made(a, `${om}/automations`, { name: 'by the clock' })).data;
    const trigger = {
      name: 'each second',
      type: 'schedule',
      enabled: true,
      actionType: 'automations',
      actionId,
      formId: null,
      formData: null,
      firstRunAt: Date.now() + 1000,
      repeatInterval: 1000,
      processMissedRuns: 'last',
    };
    const { _id: id } = (await made(a, `${om}/triggers`, trigger)).data;
    const fired = async () =>
      (await events('scheduleFired')).filter(({ stream }) => stream === `triggerSchedule-${id}`);
    const started = async () => (await events('jobStarted')).filter(({ data }) => data.trigger === id);
    await acts('the first runs', async () => (await started()).length >= 2);
    await leader.kill();
    await acts('the other leads', () => other.leads());
    const before = (await started()).length;
    await acts('runs of the other', async () => (await started()).length >= before + 2);
    ok(await other.ask('PATCH', `${om}/triggers/${id}`, { enabled: false }));
    await acts('all jobs', async () => (await started()).length === (await fired()).length);
    const instants = (await fired()).map(({ data }) => data.instant);
    assert.equal(new Set(instants).size, instants.length);
    assert.deepEqual((await started()).map(({ data }) => data.instant).sort(), instants.sort());
    await leader.start();
  });

  it('hand the lead over at once when the one that leads is stopped, and go on without an error', async function () {
    this.timeout(300_000);
    const { leader, other } = await nodes.roles();
    let stop = false;
    const answers: number[] = [];
    const writing = (async () => {
      for (let n = 0; !stop; n++) {
        const { status, headers } = await other.ask('PATCH', '/group-mappings/ldap/handed-over', {
          updates: { platformGroups: [String(n)] },
        });
        answers.push(
          status,
          (
            await other.ask('GET', '/group-mappings/ldap/handed-over', undefined, {
              'X-Min-Position': headers.get('x-event-position') ?? '',
            })
          ).status,
        );
      }
    })();
    try {
      const stopped = leader.stop();
      await acts('the lead handed over', () => other.leads());
      assert.equal(await stopped, 0);
    } finally {
      stop = true;
      await writing;
    }
    assert.deepEqual([...new Set(answers)], [200]);
    await leader.start();
    assert.equal(await leader.leads(), false);
    assert.deepEqual(
      ok(await leader.ask('GET', '/group-mappings/ldap/handed-over')),
      ok(await other.ask('GET', '/group-mappings/ldap/handed-over')),
    );
  });
});

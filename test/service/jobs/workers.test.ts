import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import type { Context } from 'koa';
import { secrecyReader } from '../../../src/http/engine/incoming.ts';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { type Answer, adminPassword, basic, startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { worker, workflow } from '../../support/workflowSamples.ts';

type Ask = People['member'];

const om = '/operations-manager';
const jobs = `${om}/jobs`;

/** Requests of workers, as an account. */
const workerOf = (ask: Ask) => ({
  start: async (workflow: string, options: object = {}): Promise<any> =>
    ok(await ask('POST', `${jobs}/start`, { workflow, options })).data,
  claim: async (component: string, more: object = {}, headers: Record<string, string> = {}): Promise<any[]> =>
    ok(await ask('POST', `${jobs}/claim`, { components: [component], worker: 'w1', ...more }, headers)).data,
  report: (what: string, id: string, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
    ask('POST', `${jobs}/${id}/${what}`, body, headers),
  get: async (id: string): Promise<any> => ok(await ask('GET', `${jobs}/${id}`)).data,
});

/** The events of one stream. */
const loggedOf = ({ folder }: TestService, stream: string) =>
  withLog(join(folder, 'events.db'), (log) => eventsOf(log, stream));

describe('workers', function () {
  this.timeout(120_000);
  let service: TestService;
  let who: People;
  before(async () => {
    service = await startService();
    who = await people(service);
  });
  after(() => service.stop());

  it('claim a job with its secrets in clear; the event names who got it', async () => {
    const { start, claim, get } = workerOf(who.member);
    const { _id: id } = await start('Secrets', { variables: { site: 'Bonn', login: { password: 'hunter2' } } });
    const before = Date.now();
    const [given, ...others] = await claim('Secrets', { worker: 'rack 7', lease: 60 });
    assert.deepEqual(others, []);
    const { job, claim: number, until: end } = given;
    assert.deepEqual(job.variables, { site: 'Bonn', login: { password: 'hunter2' } });
    assert.equal(number, 1);
    assert.ok(end >= before + 60_000 && end <= Date.now() + 60_000);
    const shown = await get(id);
    assert.deepEqual(shown.variables, { site: 'Bonn', login: { password: '********' } });
    assert.deepEqual(shown.claim, { worker: 'rack 7', until: end, attempts: 1 });
    assert.deepEqual({ ...job, variables: null }, { ...shown, variables: null });
    const [, claimed] = await loggedOf(service, `job-${id}`);
    assert.equal(claimed?.topic, 'jobClaimed');
    assert.deepEqual(claimed.data, {
      claim: 1,
      worker: 'rack 7',
      account: claimed.metadata.actor.id,
      until: end,
      lease: 60,
    });
    assert.equal(claimed.metadata.actor.username, 'member');
  });

  it('get the oldest jobs first, as many as they ask for, and nothing if there is none', async () => {
    const { start, claim } = workerOf(service.ask);
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) ids.push((await start('Oldest'))._id);
    const first = await claim('Oldest', { max: 3 });
    assert.deepEqual(
      first.map(({ job }) => job._id),
      ids.slice(0, 3),
    );
    assert.deepEqual(
      (await claim('Oldest', { max: 3 })).map(({ job }) => job._id),
      ids.slice(3),
    );
    assert.deepEqual(await claim('Oldest'), []);
    assert.deepEqual(await claim('Oldest', { wait: 1 }), []);
  });

  it('wait for a job without asking again; each job goes to one of them', async () => {
    const { start, claim } = workerOf(service.ask);
    const waiting = [1, 2, 3].map(() => claim('Waited for', { wait: 30 }));
    const started: string[] = [];
    for (let i = 0; i < 3; i++) started.push((await start('Waited for'))._id);
    const got = (await Promise.all(waiting)).map((given) => given.map(({ job }) => job._id));
    assert.deepEqual(got.flat().sort(), started.sort());
    assert.ok(got.every(({ length }) => length === 1));
  });

  it('get nothing once they have hung up', async () => {
    const { start, get, claim } = workerOf(who.member);
    const gone = new AbortController();
    const waiting = fetch(`${service.url}${jobs}/claim`, {
      method: 'POST',
      headers: { Authorization: basic({ user: 'admin', password: adminPassword }), 'Content-Type': 'application/json' },
      body: JSON.stringify({ components: ['Hung up'], worker: 'gone', wait: 30 }),
      signal: gone.signal,
    });
    // Its request has come before this one is answered.
    await claim('Hung up');
    await claim('Hung up', { wait: 1 });
    gone.abort();
    await assert.rejects(waiting);
    const { _id: id } = await start('Hung up');
    // If it was given out before the service noticed, it was given back.
    assert.equal((await claim('Hung up', { wait: 30 })).length, 1);
    assert.equal((await get(id)).claim.worker, 'w1');
  });

  it('are not bound by the timeout of answers while they wait', async () => {
    const { start, claim } = workerOf(service.ask);
    const use = async (properties: object) =>
      ok(await service.ask('PUT', '/profiles/p', { properties: { id: 'p', ...properties } }));
    ok(await service.ask('POST', '/profiles', { properties: { id: 'p' } }));
    ok(await service.ask('PUT', '/profiles/p/active'));
    await use({ expressProps: { timeout: 300 } });
    const waiting = claim('Later', { wait: 2 });
    assert.deepEqual(await waiting, []);
    await use({ expressProps: { timeout: 0 } });
    await start('Later');
    assert.equal((await claim('Later')).length, 1);
  });

  it('hear in a heartbeat what they are asked; progress is shown and not stored', async () => {
    const { start, claim, report, get } = workerOf(service.ask);
    const { _id: id } = await start('Beats');
    const [{ claim: number, until: end }] = await claim('Beats');
    const beat = async (more: object = {}) => ok(await report('heartbeat', id, { claim: number, ...more })).data;
    assert.deepEqual(await beat({ progress: { percent: 40, message: 'Half of the ports' } }), {
      until: end,
      asked: null,
    });
    assert.deepEqual((await get(id)).progress, { percent: 40, message: 'Half of the ports' });
    ok(await service.ask('POST', `${jobs}/pause`, { jobIds: [id] }));
    assert.equal((await beat()).asked, 'pause');
    ok(await service.ask('POST', `${jobs}/resume`, { jobIds: [id] }));
    assert.equal((await beat()).asked, null);
    refused(await report('heartbeat', id, { claim: number + 1 }), 409, /claim/);
    ok(await service.ask('POST', `${jobs}/cancel`, { jobIds: [id] }));
    assert.deepEqual(await beat(), { until: end, asked: 'cancel' });
    const { claim: held, progress } = await get(id);
    assert.deepEqual([held, progress], [null, null]);
    assert.deepEqual(
      (await loggedOf(service, `job-${id}`)).map(({ topic }) => topic),
      ['jobStarted', 'jobClaimed', 'jobPaused', 'jobResumed', 'jobCanceled'],
    );
  });

  it('report with the claim that they hold, and with no other', async () => {
    const { start, claim, report, get } = workerOf(who.member);
    const { _id: id } = await start('Reports');
    const [{ claim: number }] = await claim('Reports');
    refused(await report('complete', id, {}), 409, /claim/);
    refused(await report('error', id, { error: 'x' }), 409, /claim/);
    refused(await report('complete', id, { claim: number + 1 }), 409, /claim/);
    refused(await workerOf(who.stranger).report('complete', id, { claim: number }), 409, /another account/);
    refused(await report('complete', id, { claim: 0 }), 400, /claim/);
    assert.equal((await get(id)).status, 'running');
    const done = ok(await report('complete', id, { claim: number, variables: { saved: 3 } })).data;
    assert.deepEqual([done.status, done.variables, done.claim], ['complete', { saved: 3 }, null]);
    ok(await report('complete', id, { claim: number, variables: { saved: 3 } }));
    refused(await report('heartbeat', id, { claim: number }), 409, /ended/);
  });

  it('give a job back, and somebody else gets it', async () => {
    const { start, claim, report, get } = workerOf(service.ask);
    const { _id: id } = await start('Returned');
    const [{ claim: number }] = await claim('Returned');
    ok(await report('release', id, { claim: number }));
    assert.equal((await get(id)).claim, null);
    refused(await report('release', id, { claim: number }), 409);
    const [again] = await claim('Returned', { worker: 'w2', wait: 30 });
    assert.deepEqual([again.job._id, again.claim, again.job.claim.attempts], [id, 2, 2]);
    refused(await report('complete', id, { claim: number }), 409);
    ok(await report('release', id, { claim: 2 }));
    ok(await report('complete', id, {}));
  });

  it('get jobs of error and incomplete again after a retry, of all or of none', async () => {
    const { start, claim, report, get } = workerOf(service.ask);
    const [failed, running] = [(await start('Retried'))._id, (await start('Other'))._id];
    const [{ claim: number }] = await claim('Retried');
    ok(await report('error', failed, { claim: number, error: 'No answer' }));
    refused(await service.ask('POST', `${jobs}/retry`, { jobIds: [failed, running] }), 409, /running/);
    assert.equal((await get(failed)).status, 'error');
    const { data } = ok(await service.ask('POST', `${jobs}/retry`, { jobIds: [failed] }));
    assert.deepEqual([data[0].status, data[0].error, data[0].metrics.end_time], ['running', null, null]);
    const [again] = await claim('Retried', { wait: 30 });
    assert.deepEqual([again.claim, again.job.claim.attempts], [2, 1]);
  });

  it('get only what they may see', async () => {
    const gbac = { read: [], write: ['ops'] };
    const body = { name: 'Closed', componentType: 'workflows', componentName: 'Closed', gbac };
    ok(await service.ask('POST', `${om}/automations`, body));
    const { _id: id } = await workerOf(who.member).start('Closed');
    const stranger = workerOf(who.stranger).claim('Closed', { wait: 2 });
    const member = workerOf(who.member).claim('Closed', { wait: 30 });
    assert.deepEqual(
      (await member).map(({ job }) => job._id),
      [id],
    );
    assert.deepEqual(await stranger, []);
  });

  it('get nothing that waited for them once they have lost the right', async () => {
    ok(
      await service.ask('POST', '/authorization/accounts', {
        username: 'leaver',
        password: 'a long enough password',
        memberOf: ['operators'],
      }),
    );
    const leaver = service.as({ user: 'leaver', password: 'a long enough password' });
    const waiting = leaver('POST', `${jobs}/claim`, { components: ['Left'], worker: 'w', wait: 30 });
    // The next answer shows that the one before is under way.
    await workerOf(leaver).claim('Nothing');
    const { results } = ok(await service.ask('GET', '/authorization/accounts?limit=1000'));
    const { _id: id } = results.find(({ username }: any) => username === 'leaver');
    ok(await service.ask('PATCH', `/authorization/accounts/${id}`, { inactive: true }));
    await workerOf(service.ask).start('Left');
    refused(await waiting, 403);
    assert.equal((await workerOf(service.ask).claim('Left', { wait: 30 })).length, 1);
  });

  it('are not offered what the platform runs itself', async () => {
    const { start, claim } = workerOf(service.ask);
    ok(await service.ask('POST', '/template_builder/templates', { name: 'built in', template: 'x' }));
    ok(
      await service.ask('POST', `${om}/automations`, {
        name: 'By template',
        componentType: 'template',
        componentName: 'built in',
      }),
    );
    await start('By template');
    await start('built in');
    assert.deepEqual(
      (await claim('built in', { max: 10 })).map(({ job }) => job.automation),
      [null],
    );
  });

  it('of several workflows get jobs of each in turn', async () => {
    const { start, claim } = workerOf(service.ask);
    for (const workflow of ['Many', 'Many', 'Many', 'Few']) await start(workflow);
    const given = await claim('Many', { components: ['Many', 'Few'], max: 4 });
    assert.deepEqual(
      given.map(({ job }) => job.name),
      ['Many', 'Few', 'Many', 'Many'],
    );
  });

  describe('with an Idempotency-Key', () => {
    const key = (value: string) => ({ 'Idempotency-Key': value });

    it('get the same jobs again while they hold them, then 409', async () => {
      const { start, claim, report } = workerOf(service.ask);
      for (let i = 0; i < 3; i++) await start('Keyed');
      const body = { max: 2 };
      const first = await claim('Keyed', body, key('k1'));
      assert.equal(first.length, 2);
      const same = (given: readonly any[]) => given.map(({ job, claim }) => `${job._id} ${claim}`).sort();
      assert.deepEqual(same(await claim('Keyed', body, key('k1'))), same(first));
      refused(
        await service.ask('POST', `${jobs}/claim`, { components: ['Keyed'], worker: 'w1', max: 3 }, key('k1')),
        422,
      );
      ok(await report('complete', first[0].job._id, { claim: 1 }));
      assert.deepEqual(same(await claim('Keyed', body, key('k1'))), same(first.slice(1)));
      ok(await report('release', first[1].job._id, { claim: 1 }));
      const late = await service.ask(
        'POST',
        `${jobs}/claim`,
        { components: ['Keyed'], worker: 'w1', max: 2 },
        key('k1'),
      );
      refused(late, 409, /held/);
      assert.equal((await claim('Keyed', { max: 10, wait: 30 }, key('k2'))).length > 0, true);
    });

    it('that found nothing may be used again', async () => {
      const { start, claim } = workerOf(service.ask);
      assert.deepEqual(await claim('Empty', {}, key('k3')), []);
      await start('Empty');
      assert.equal((await claim('Empty', {}, key('k3'))).length, 1);
    });

    it('get a job once, however many send the key at the same time', async () => {
      const { start, claim } = workerOf(service.ask);
      for (let i = 0; i < 8; i++) await start('At once');
      const given = await Promise.all([1, 2, 3, 4].map(() => claim('At once', {}, key('k4'))));
      assert.equal(new Set(given.flat().map(({ job }) => job._id)).size, 1);
      // What the others had claimed meanwhile is offered again.
      const rest = new Set<string>();
      await until(async () => {
        for (const { job } of await claim('At once', { max: 10 })) rest.add(job._id);
        return rest.size === 7;
      }, 'the other jobs');
    });
  });

  describe('that publish events', () => {
    const publish = (ask: Ask, claim: string) => ask('POST', `${om}/events/w/done`, { n: 1 }, { 'X-Claim': claim });

    it('name the claim that they hold', async () => {
      const { start, claim, report } = workerOf(who.member);
      const { _id: id } = await start('Publishes');
      const [{ claim: number }] = await claim('Publishes');
      ok(await publish(who.member, `${id}/${number}`));
      refused(await publish(who.member, `${id}/${number + 1}`), 409, /X-Claim/);
      refused(await publish(service.ask, `${id}/${number}`), 409, /X-Claim/);
      refused(await publish(who.member, `${'0'.repeat(24)}/1`), 409, /X-Claim/);
      for (const malformed of [id, `${id}/`, `${id}/0`, `${id}/x`, `/1`])
        refused(await publish(who.member, malformed), 400, /X-Claim/);
      ok(await report('complete', id, { claim: number }));
      refused(await publish(who.member, `${id}/${number}`), 409, /X-Claim/);
    });

    it('may repeat a request under its Idempotency-Key after they have lost the claim', async () => {
      const { start, claim, report } = workerOf(service.ask);
      const { _id: id } = await start('Repeats');
      const [{ claim: number }] = await claim('Repeats');
      const again = () =>
        service.ask('POST', `${om}/events/w/once`, {}, { 'X-Claim': `${id}/${number}`, 'Idempotency-Key': 'p1' });
      const { data } = ok(await again());
      ok(await report('release', id, { claim: number }));
      assert.deepEqual(ok(await again()).data, data);
    });

    it('give them the depth of their job', async () => {
      const { claim } = workerOf(service.ask);
      const automation = ok(
        await service.ask('POST', `${om}/automations`, {
          name: 'Deep',
          componentType: 'workflows',
          componentName: 'Deep',
        }),
      ).data._id;
      const about = { type: 'eventSystem', enabled: true, actionType: 'automations', actionId: automation };
      ok(
        await service.ask('POST', `${om}/triggers`, {
          ...about,
          name: 'Deep',
          source: 'deep',
          topic: 'next',
          schema: null,
          jst: null,
        }),
      );
      ok(await service.ask('POST', `${om}/events/deep/next`, {}));
      for (const depth of [1, 2, 3]) {
        const [{ job, claim: number }] = await claim('Deep', { wait: 30 });
        assert.equal(job.depth, depth);
        ok(await service.ask('POST', `${om}/events/deep/next`, {}, { 'X-Claim': `${job._id}/${number}` }));
      }
    });
  });
});

describe('secrets of jobs in clear', () => {
  const asking = { components: ['Secrets'], worker: 'w' };

  it('go to callers on this machine and over TLS, and to nobody else', async () => {
    const service = await startService({ TRUST_PROXY: '127.0.0.1' });
    const { start, get } = workerOf(service.ask);
    const { _id: id } = await start('Secrets');
    const from = (address: string, more: Record<string, string> = {}) =>
      service.ask('POST', `${jobs}/claim`, asking, { 'X-Forwarded-For': address, ...more });
    refused(await from('192.0.2.7'), 403, /TLS/);
    refused(await from('192.0.2.7', { 'X-Forwarded-Proto': 'http' }), 403);
    refused(await from('192.0.2.7', { 'X-Forwarded-Proto': 'https, http' }), 403);
    // A caller whose address cannot be read may be anywhere.
    for (const unknown of ['192.0.2.7:4711', 'unknown', '192.0.2.7:4711, 127.0.0.1']) refused(await from(unknown), 403);
    // What the caller says is not what the proxy says.
    refused(await from('127.0.0.1, 192.0.2.7'), 403);
    refused(await from('::ffff:192.0.2.7'), 403);
    assert.equal((await get(id)).claim, null);
    assert.equal(ok(await from('192.0.2.7', { 'X-Forwarded-Proto': 'https' })).data.length, 1);
    assert.equal(ok(await from('::ffff:127.0.0.1')).data.length, 0);
    assert.equal(ok(await from('127.0.0.1')).data.length, 0);
    await service.stop();
  });

  /** Whether secrets go to a socket at this address, with these headers. */
  const secrecyOf =
    (trusted: BlockList) =>
    (remoteAddress: string, encrypted?: boolean, headers: Record<string, string> = {}): boolean => {
      const get = (name: string) => headers[name] ?? '';
      return secrecyReader(trusted)({ req: { socket: { remoteAddress, encrypted } }, get } as unknown as Context);
    };

  it("go over the service's own TLS to any address, and to none over plain HTTP", () => {
    const secret = secrecyOf(new BlockList());
    const isSecret = (address: string, encrypted?: boolean) =>
      secret(address, encrypted, { 'x-forwarded-proto': 'https' });
    assert.deepEqual(
      [isSecret('192.0.2.7', true), isSecret('192.0.2.7'), isSecret('2001:db8::7')],
      [true, false, false],
    );
    for (const here of ['127.0.0.9', '::1', '::ffff:127.0.0.1']) assert.equal(isSecret(here), true, here);
  });

  it('do not go to the machine of a proxy, whose callers are not on this one', () => {
    const proxies = new BlockList();
    proxies.addSubnet('10.0.0.0', 8, 'ipv4');
    const isSecret = secrecyOf(proxies);
    for (const address of ['127.0.0.1', '127.0.0.1, 10.1.2.3', '']) {
      const headers = { 'x-forwarded-for': address };
      assert.equal(isSecret('10.0.0.1', false, headers), false, address);
      assert.equal(isSecret('10.0.0.1', false, { ...headers, 'x-forwarded-proto': 'https' }), true, address);
    }
  });

  it('do not go to this machine where a header speaks of a proxy, trusted or not', () => {
    const here = new BlockList();
    here.addAddress('127.0.0.1', 'ipv4');
    for (const [headers, untrusted, trusted] of [
      [{}, true, true],
      [{ 'x-forwarded-for': '192.0.2.7' }, false, false],
      [{ 'x-forwarded-for': '127.0.0.1' }, false, true],
      [{ 'x-real-ip': '192.0.2.7' }, false, false],
      [{ 'x-real-ip': '192.0.2.7', 'x-forwarded-for': '127.0.0.1' }, false, false],
      [{ 'x-real-ip': '127.0.0.1', 'x-forwarded-for': '127.0.0.1' }, false, true],
      [{ forwarded: 'for=192.0.2.7' }, false, false],
      [{ forwarded: 'for=192.0.2.7', 'x-forwarded-for': '127.0.0.1' }, false, false],
      [{ via: '1.1 proxy' }, false, false],
      [{ via: '1.1 proxy', 'x-forwarded-for': '127.0.0.1' }, false, false],
    ] as const) {
      assert.equal(secrecyOf(new BlockList())('127.0.0.1', false, headers), untrusted, JSON.stringify(headers));
      assert.equal(secrecyOf(here)('127.0.0.1', false, headers), trusted, JSON.stringify(headers));
      assert.equal(secrecyOf(here)('127.0.0.1', true, headers), true, JSON.stringify(headers));
    }
  });
});

describe('the record of secrets that were given out', () => {
  it('names account, address and job; jobs without secrets are not in it', async () => {
    const service = await startService();
    const { start, claim } = workerOf(service.ask);
    const { _id: id } = await start('Recorded', { variables: { password: 'p' } });
    await start('Recorded');
    const [{ job }] = await claim('Recorded', { max: 2 });
    assert.equal(job._id, id);
    const flow = workflow({ w: worker({ login: '$var.job.password' }) }, ['start -> w', 'w -> end'], { name: 'Tasks' });
    ok(await service.ask('POST', '/operations-manager/workflows', flow));
    const { _id: ofTask } = await start('Tasks', { variables: { password: 'p' } });
    ok(await service.ask('POST', '/operations-manager/tasks/claim', { apps: ['Lab'], worker: 'w' }));
    const again = await service.restart();
    const day = new Date().toISOString().slice(0, 10);
    const events = await loggedOf(again, `handedOut-${day}`);
    assert.deepEqual(
      events.map(({ topic, data }) => [topic, data.rows]),
      [
        [
          'secretsHandedOut',
          [
            ['claimJobs', id],
            ['claimTasks', ofTask],
          ].map(([operation, id]) => ({
            account: events[0]?.data.rows[0].account,
            address: '127.0.0.1',
            operation,
            resource: { kind: 'job', id },
            count: 1,
          })),
        ],
      ],
    );
    assert.match(events[0]?.data.rows[0].account, /^[0-9a-f]{24}$/);
    await again.stop();
    rmSync(service.folder, { recursive: true, force: true });
  });
});

describe('a service that stops', () => {
  it('answers workers that wait, with nothing', async () => {
    const service = await startService();
    const { claim } = workerOf(service.ask);
    const waiting = claim('Nothing', { wait: 30 });
    await claim('Nothing');
    const [given] = await Promise.all([waiting, service.stop()]);
    assert.deepEqual(given, []);
  });

  it('offers after its next start what waited, and knows what is claimed', async () => {
    const service = await startService();
    const first = workerOf(service.ask);
    const ids = [(await first.start('Kept'))._id, (await first.start('Kept'))._id];
    await first.claim('Kept');
    const again = await service.restart();
    const [given, ...others] = await workerOf(again.ask).claim('Kept', { max: 5, wait: 30 });
    assert.deepEqual([given.job._id, others], [ids[1], []]);
    ok(await workerOf(again.ask).report('complete', ids[0], { claim: 1 }));
    await again.stop();
    rmSync(service.folder, { recursive: true, force: true });
  });
});

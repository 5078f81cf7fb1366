import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { decode, type Recorded } from '../../../src/store/event.ts';
import { copyLog } from '../../../src/store/moving/copyLog.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { ok, people, refused } from '../../support/people.ts';
import { temporaryFolder } from '../../support/process.ts';
import { startService, type TestService } from '../../support/service.ts';
import { openStream } from '../../support/sse.ts';
import { outcomeIn } from '../../support/triggering.ts';
import { until } from '../../support/until.ts';

const om = '/operations-manager';
const onlyOps = { read: ['ops'], write: ['ops'] };

const eventsOf = async (folder: string): Promise<readonly Recorded<any>[]> => {
  const store = await openSqliteReader(join(folder, 'events.db'));
  try {
    const events: Recorded<any>[] = [];
    for await (const batch of store.readAll(0)) events.push(...batch.events.flatMap((event) => readable(event)));
    return events;
  } finally {
    await store.close();
  }
};

const readable = (event: Parameters<typeof decode>[0]): Recorded<any>[] => {
  try {
    return [decode(event)];
  } catch {
    return [];
  }
};

describe('event triggers over HTTP', function () {
  this.timeout(300_000);
  let service: TestService;
  let folder: string;
  beforeEach(async () => {
    folder = temporaryFolder();
    service = await startService({ TRIGGER_RATE: '3' }, join(folder, 'a'));
  });
  afterEach(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const trigger = async (name: string, more: object = {}): Promise<string> => {
    const automations = ok(await service.ask('GET', `${om}/automations`)).data;
    const actionId = automations[0]?._id ?? ok(await service.ask('POST', `${om}/automations`, { name: 'a' })).data._id;
    const body = {
      name,
      type: 'eventSystem',
      enabled: true,
      actionType: 'automations',
      actionId,
      source: 's',
      topic: 't',
      schema: null,
      jst: null,
      ...more,
    };
    return ok(await service.ask('POST', `${om}/triggers`, body)).data._id;
  };
  const publish = async (payload: unknown, topic = 't'): Promise<{ id: string; position: number }> =>
    ok(await service.ask('POST', `${om}/events/s/${topic}`, payload)).data;
  const jobs = async (): Promise<any[]> => ok(await service.ask('GET', `${om}/jobs?limit=1000`)).data;
  const status = async () => ok(await service.ask('GET', '/health/status')).triggers;
  const metric = async (name: string): Promise<string | undefined> =>
    new RegExp(`^automation_platform_${name} (.*)$`, 'm').exec((await service.ask('GET', '/metrics')).text)?.[1];
  /** How many runs of event triggers had which outcome since the service started. */
  const outcomes = async (): Promise<Record<string, number>> => {
    const { text } = await service.ask('GET', '/metrics');
    const lines = text.matchAll(
      /^automation_platform_trigger_runs_total\{type="eventSystem",outcome="(\w+)"\} (\d+)$/gm,
    );
    return Object.fromEntries([...lines].map(([, outcome, count]) => [outcome, Number(count)]));
  };

  it('start jobs that say where they come from; health and metrics tell of them', async () => {
    const id = await trigger('t', { legacyWrapper: false });
    const event = await publish({ vlan: 7 });
    await until(async () => (await jobs()).length === 1, 'the job');
    const [job] = await jobs();
    assert.deepEqual(
      [job.trigger, job.event, job.depth, job.instant, job.watchers, job.created_by],
      [id, event.id, 1, null, [], 'admin'],
    );
    assert.equal(job.variables.vlan, 7);
    assert.deepEqual(job.variables._trigger, { id, name: 't', type: 'eventSystem' });
    assert.equal(job.variables._event.position, event.position);
    assert.deepEqual(await status(), { waiting: 0, behind: 0, parked: 0 });
    assert.deepEqual(await outcomes(), { job: 1 });
    assert.equal(await metric('triggers_waiting'), '0');
    await until(async () => (await metric('triggers_lag_events')) === '0', 'no lag');
    const lastExecuted = async () => ok(await service.ask('GET', `${om}/triggers/${id}`)).data.lastExecuted;
    await until(async () => (await lastExecuted()) !== null);
    assert.equal(await lastExecuted(), Date.parse(job.created));
  });

  it('have a place in the log before the first request; after an upgrade it is the head, and a line says so', async () => {
    const at = join(folder, 'a');
    await trigger('t');
    await publish(1);
    await until(async () => (await jobs()).length === 1, 'the job');
    await service.stop();
    const log = await openSqliteStore({ file: join(at, 'events.db') });
    await log.removeCheckpoint('triggers');
    const head = await log.head();
    await log.close();
    service = await startService({ LOG_LEVEL: 'info' }, at);
    const reader = await openSqliteReader(join(at, 'events.db'));
    const place = await reader.checkpoint('triggers');
    await reader.close();
    assert.ok(place !== undefined && place >= head, `${place}`);
    const said = service.lines.filter((line) => line.includes('begin at the head')).map((line) => JSON.parse(line));
    assert.deepEqual(
      said.map(({ level, position, head }) => [level, position, head]),
      [[30, place, place]],
    );
    const { id } = await publish(2);
    await until(async () => (await jobs()).some(({ event }) => event === id), 'the next job');
    assert.equal((await jobs()).length, 2);
  });

  it('start jobs by events of whoever publishes, and by who imports the trigger unless this is an admin', async () => {
    const who = await people(service);
    const hidden = ok(await service.ask('POST', `${om}/automations`, { name: 'hidden', gbac: onlyOps })).data._id;
    const id = await trigger('t', { actionId: hidden, topic: 'by whoever' });
    const publishing = async (topic: string) => ok(await who.stranger('POST', `${om}/events/s/${topic}`, {})).data.id;
    const event = await publishing('by%20whoever');
    await until(async () => (await jobs()).length === 1, 'the job');
    const [job] = await jobs();
    assert.deepEqual([job.event, job.trigger, job.created_by], [event, id, 'admin']);

    // Whoever may change an automation may import triggers for it, but no rights of others with them.
    const automation = ok(await who.stranger('POST', `${om}/automations`, { name: 'open' })).data;
    const document = ok(await service.ask('GET', `${om}/triggers/${id}`)).data;
    const forged = { ...document, actionId: automation._id, lastUpdatedBy: 'admin' };
    const alone = { ...forged, _id: '1'.repeat(24), name: 'alone', topic: 'alone' };
    const inside = { ...forged, _id: '2'.repeat(24), name: 'inside', topic: 'inside' };
    const put = (path: string, body: object) => who.stranger('PUT', `${om}/${path}`, { ...body, overwrite: true });
    const [first] = ok(await put('triggers', { triggers: [alone] })).data;
    assert.equal(first.success, true, JSON.stringify(first));
    const [second] = ok(await put('automations', { automations: [{ ...automation, triggers: [alone, inside] }] })).data;
    assert.equal(second.success, true, JSON.stringify(second));
    for (const topic of ['alone', 'inside']) await publishing(topic);
    await until(async () => (await jobs()).length === 3, 'their jobs');
    assert.deepEqual((await jobs()).map(({ created_by }) => created_by).sort(), ['admin', 'stranger', 'stranger']);
    // An admin moves in with what others have made.
    const moved = { ...forged, _id: '3'.repeat(24), name: 'moved', topic: 'moved', lastUpdatedBy: 'member' };
    assert.equal(ok(await service.ask('PUT', `${om}/triggers`, { triggers: [moved] })).data[0].success, true);
    await publishing('moved');
    await until(async () => (await jobs()).length === 4, 'the last job');
    assert.ok((await jobs()).some(({ created_by }) => created_by === 'member'));
    assert.deepEqual(await outcomes(), { job: 4 });
    // An account that is inactive starts nothing more.
    ok(await service.ask('PATCH', '/authorization/accounts/stranger', { inactive: true }));
    await publish({}, 'alone');
    const refusals = async () => outcomeIn(await eventsOf(join(folder, 'a'))).refused;
    await until(async () => (await refusals())[`${alone._id} rights`] === 1, 'the refusal');
    assert.equal((await jobs()).length, 4);
    assert.deepEqual(await outcomes(), { job: 4, rights: 1 });
  });

  it('give a job that publishes the depth of its own start, as long as its claim is held', async () => {
    await trigger('t');
    await publish({});
    await until(async () => (await jobs()).length === 1, 'the first job');
    const claiming = { components: ['a'], worker: 'w' };
    const [{ job, claim }] = ok(await service.ask('POST', `${om}/jobs/claim`, claiming)).data;
    const inClaim = { 'X-Claim': `${job._id}/${claim}` };
    ok(await service.ask('POST', `${om}/events/s/t`, {}, inClaim));
    await publish({});
    await until(async () => (await jobs()).length === 3, 'the other jobs');
    assert.deepEqual((await jobs()).map(({ depth }) => depth).sort(), [1, 1, 2]);
    ok(await service.ask('POST', `${om}/jobs/${job._id}/complete`, { claim }));
    const late = await service.ask('POST', `${om}/events/s/t`, {}, inClaim);
    refused(late, 409);
    assert.equal((await jobs()).length, 3);
  });

  it('get events whole that lie in parts, and keep their secrets sealed', async () => {
    await trigger('t', { schema: { type: 'object', required: ['last'] } });
    const payload = { text: 'x'.repeat(500_000), password: 'fired-hunter2', last: 1 };
    await publish(payload);
    await until(async () => (await jobs()).length === 1, 'the job');
    const [job] = await jobs();
    assert.deepEqual(job.variables.payload, { ...payload, password: '********' });
    const [started] = (await eventsOf(join(folder, 'a'))).filter(({ topic }) => topic === 'jobStarted');
    assert.ok(!JSON.stringify(started).includes('fired-hunter2'));
  });

  it('give workers the secrets of jobs, and none by which the service itself logs in or is logged in to', async () => {
    const claimedPayload = async (): Promise<any> => {
      const claiming = { components: ['a'], worker: 'w', wait: 30 };
      return ok(await service.ask('POST', `${om}/jobs/claim`, claiming)).data[0]?.job.variables.payload;
    };
    const of = (area: string, topic: string, schema: object | null = null) =>
      trigger(topic, { source: `@platform/${area}`, topic, schema });
    const secret = 'handed-out-hunter2';
    await of('operations-manager', 'jobStarted', { properties: { variables: { required: ['password'] } } });
    ok(await service.ask('POST', `${om}/jobs/start`, { workflow: 'w', options: { variables: { password: secret } } }));
    assert.equal((await claimedPayload()).variables.password, secret);
    const kept = [
      ['configuration-manager', 'adapterCreated', '/configuration_manager/adapters', 'adapter'],
      ['authorization', 'accountCreated', '/authorization/accounts', 'account'],
      ['agent-session-manager', 'agentCreated', '/agent-session-manager/agents', 'agent'],
      ['profiles', 'profileCreated', '/profiles', 'profile'],
    ] as const;
    const bodies = {
      adapter: { name: 'out', type: 'http', properties: { baseUrl: 'http://127.0.0.1:9', token: secret } },
      account: { username: 'anna', password: secret },
      agent: { name: 'out', runner: 'webhook', url: 'http://127.0.0.1:9', headers: { Login: secret }, inputSchema: {} },
      profile: { id: 'out', alarmProps: [{ ip: 'a', community: secret }] },
    };
    for (const [area, topic, path, kind] of kept) {
      await of(area, topic);
      const made = await service.ask('POST', path, bodies[kind]);
      assert.ok(made.status < 300, made.text);
      const text = JSON.stringify(await claimedPayload());
      assert.match(text, /\*{8}/, kind);
      assert.doesNotMatch(text, /hunter2|scrypt|\$sealed/, kind);
    }
  });

  it('whose transformation fails or takes too long are refused, and hold up nobody', async () => {
    const jsonata = (expression: string) => ({ jst: { type: 'jsonata', expression } });
    const endless = await trigger('endless', jsonata('($f := function($n) { $f($n + 1) }; $f(0))'));
    const wrong = await trigger('wrong', jsonata('$error("no such site")'));
    const good = await trigger('good', jsonata('{"site": $uppercase(payload.site)}'));
    await publish({ site: 'bonn' });
    await until(async () => (await jobs()).length === 1, 'the job of the other trigger');
    assert.equal((await jobs())[0].variables.site, 'BONN');
    const refusals = async () => outcomeIn(await eventsOf(join(folder, 'a'))).refused;
    await until(async () => Object.keys(await refusals()).length === 2, 'the refusals');
    assert.deepEqual(await refusals(), { [`${endless} transformation`]: 1, [`${wrong} transformation`]: 1 });
    assert.equal((await jobs())[0].trigger, good);
    assert.deepEqual(await status(), { waiting: 0, behind: 0, parked: 0 });
    assert.deepEqual(await outcomes(), { job: 1, transformation: 2 });
  });

  it('and readers may be many: Node does not warn of their number', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    const streams = await Promise.all(Array.from({ length: 30 }, () => openStream(service.url)));
    for (let n = 0; n < 30; n++) await trigger(`t${n}`);
    for (let n = 0; n < 5; n++) await publish({ n });
    await until(async () => (await jobs()).length === 90, 'all that the rate allows');
    await until(async () => (await status()).behind === 30, 'all triggers behind');
    for (const stream of streams) stream.close();
    service = await service.restart();
    process.off('warning', warned);
    assert.deepEqual(warnings, []);
  });

  it('that wait are told, and go on after log copy: no second job for what had fired, one for what waited', async () => {
    await trigger('t');
    const events = [];
    for (let n = 0; n < 5; n++) events.push(await publish(n));
    await until(async () => (await status()).behind === 1, 'the trigger that is behind');
    // The others have not been read yet.
    assert.ok((await status()).waiting > 0);
    assert.ok(Number(await metric('triggers_waiting')) > 0);
    assert.ok(Number(await metric('triggers_lag_events')) > 0);
    assert.equal((await jobs()).length, 3);
    await service.stop();
    mkdirSync(join(folder, 'b'));
    const from = await openSqliteStore({ file: join(folder, 'a', 'events.db') });
    const to = await openSqliteStore({ file: join(folder, 'b', 'events.db') });
    try {
      await copyLog({ from, to, signal: new AbortController().signal, report: () => undefined });
    } finally {
      await from.close();
      await to.close();
    }
    copyFileSync(join(folder, 'a', 'secret.key'), join(folder, 'b', 'secret.key'));
    service = await startService({}, join(folder, 'b'));
    await until(async () => (await jobs()).length === 5, 'the jobs that waited');
    await until(async () => (await status()).behind === 0, 'nothing behind');
    const { jobs: started } = outcomeIn(await eventsOf(join(folder, 'b')));
    assert.deepEqual(
      started.map((one) => one.split(' ')[1]),
      events.map(({ id }) => id),
    );
    service = await service.restart();
    await publish({ more: true });
    await until(async () => (await jobs()).length === 6, 'one more job');
  });

  it('park what cannot run; it is retried or discarded by who may see the trigger', async () => {
    const [first, second] = [await trigger('one'), await trigger('two')];
    await service.stop();
    const log = await openSqliteStore({ file: join(folder, 'a', 'events.db') });
    const poison = randomUUID();
    try {
      const data = `{"$payload":{"sha256":"${'0'.repeat(64)}","bytes":10,"parts":1}}`;
      await log.append(`publishedEvent-${poison}`, -1, [{ id: poison, type: 's:t', data, metadata: '{}' }]);
    } finally {
      await log.close();
    }
    service = await startService({}, join(folder, 'a'));
    await until(async () => (await status()).parked === 2, 'the parked runs');
    await publish({ well: true });
    await until(async () => (await jobs()).length === 2, 'the next jobs');
    assert.deepEqual(await outcomes(), { parked: 2, job: 2 });
    const { data, metadata } = ok(await service.ask('GET', `${om}/parked`));
    assert.equal(metadata.total, 2);
    assert.deepEqual(data.map((doc: any) => doc.trigger).sort(), [first, second].sort());
    for (const doc of data) {
      assert.deepEqual([doc.event.id, doc.event.source, doc.event.topic, doc.tries], [poison, 's', 't', 1]);
      assert.match(doc.reason, /missing or damaged/);
    }
    const [{ _id: one, ...doc }, { _id: two }] = data;
    const again = ok(await service.ask('POST', `${om}/parked/${one}/retry`)).data;
    assert.deepEqual([again.job, again.refused.reason], [null, 'unusable']);
    assert.match(again.refused.message, /missing or damaged/);
    ok(await service.ask('PATCH', `${om}/triggers/${doc.trigger}`, { enabled: false }));
    const discarded = ok(await service.ask('POST', `${om}/parked/${one}/discard`)).data;
    assert.deepEqual(discarded, { _id: one, ...doc });
    refused(await service.ask('POST', `${om}/parked/${one}/discard`), 404);
    refused(await service.ask('POST', `${om}/parked/${one}/retry`), 404);
    ok(
      await service.ask('POST', '/authorization/accounts', {
        username: 'reader',
        password: 'a long enough password',
        memberOf: ['readers'],
      }),
    );
    const asReader = service.as({ user: 'reader', password: 'a long enough password' });
    assert.deepEqual(
      ok(await asReader('GET', `${om}/parked`)).data.map(({ _id }: { _id: string }) => _id),
      [two],
    );
    refused(await asReader('POST', `${om}/parked/${two}/discard`), 403);
    ok(await service.ask('PATCH', `${om}/automations/a`, { gbac: { read: ['admins'], write: ['admins'] } }));
    assert.deepEqual(ok(await asReader('GET', `${om}/parked`)).data, []);
    service = await service.restart();
    assert.deepEqual(await status(), { waiting: 0, behind: 0, parked: 1 });
  });
});

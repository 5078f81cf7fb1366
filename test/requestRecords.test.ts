import assert from 'node:assert/strict';
import { join } from 'node:path';
import { requestRecorder } from '../src/commands/authorization/requestRecorder.ts';
import type { Counted, DeniedRequest, HandOut } from '../src/domain/authorization/requestRecords.ts';
import { RequestError } from '../src/domain/engine/requestError.ts';
import { decode, splitStream } from '../src/store/event.ts';
import { openSqliteReader } from '../src/store/sqlite.ts';
import { textsKept } from './logged.ts';
import { fixedClock, nodesOnLog } from './node.ts';
import { ok, people, refused } from './people.ts';
import { startService, type TestService } from './service.ts';
import { until } from './until.ts';

const recorded = async <Row>(folder: string, topic: string): Promise<readonly (Row & { readonly count: number })[]> => {
  const log = await openSqliteReader(join(folder, 'events.db'));
  const found: Counted<Row>[] = [];
  for await (const { events } of log.readAll(0))
    for (const event of events.map(decode)) {
      if (event.topic !== topic) continue;
      const data = event.data as Counted<Row>;
      assert.equal(event.source, '@platform/authorization');
      assert.equal(splitStream(event.stream).id, data.first.slice(0, 10), 'the stream of the day in UTC');
      assert.ok(data.first <= data.last);
      found.push(data);
    }
  await log.close();
  return found.flatMap(({ rows }) => rows);
};

describe('records of requests over HTTP', function () {
  this.timeout(300_000);
  let service: TestService;
  let stopped: boolean;
  beforeEach(async () => {
    service = await startService();
    stopped = false;
  });
  afterEach(() => service.stop());

  /** The service stops, as at SIGTERM, and starts again: then everything is in the log. */
  const restarted = async () => {
    assert.ok(!stopped);
    stopped = true;
    service = await service.restart();
  };
  const denials = () => recorded<DeniedRequest>(service.folder, 'requestsDenied');
  const handOuts = () => recorded<HandOut>(service.folder, 'exported');
  const idOf = async (username: string): Promise<string> =>
    ok(await service.ask('GET', `/authorization/accounts/${username}`))._id;

  it('count what was refused with 401, 403 and 429, by account, address, operation and code', async () => {
    const { reader, outsider } = await people(service);
    for (let i = 0; i < 3; i++) refused(await reader('POST', '/operations-manager/automations', { name: 'a' }), 403);
    refused(await outsider('GET', '/operations-manager/automations'), 403);
    refused(await service.as(null)('GET', '/operations-manager/automations'), 401);
    refused(await service.as(null)('GET', '/nowhere'), 401);
    refused(await reader('GET', '/operations-manager/automations/none'), 404);
    refused(await service.ask('POST', '/operations-manager/automations', {}), 400);
    const [readers, outsiders] = [await idOf('reader'), await idOf('outsider')];
    await restarted();
    const address = '127.0.0.1';
    const key = (row: object) => JSON.stringify(row);
    assert.deepEqual(
      (await denials()).toSorted((a, b) => key(a).localeCompare(key(b))),
      [
        { account: readers, address, operation: 'createAutomation', code: 'forbidden', count: 3 },
        { account: outsiders, address, operation: 'getAutomations', code: 'forbidden', count: 1 },
        { account: null, address, operation: 'getAutomations', code: 'unauthenticated', count: 1 },
        { account: null, address, operation: null, code: 'unauthenticated', count: 1 },
      ].toSorted((a, b) => key(a).localeCompare(key(b))),
    );
  });

  it('name the account that was meant by a failed login, and never what was sent', async () => {
    await people(service);
    const [typedName, typedPassword] = ['my-password-in-the-wrong-field', 'this-is-no-password-either'];
    const meant = await idOf('member');
    for (let i = 0; i < 12; i++)
      await service.as({ user: 'member', password: typedPassword })('GET', '/authorization/whoami');
    await service.ask('POST', '/login', { username: typedName, password: typedPassword }, {}, null);
    refused(await service.as({ user: typedName, password: typedPassword })('GET', '/authorization/whoami'), 401);
    await restarted();
    const rows = (await denials()).map(({ account, operation, code, count }) => [account, operation, code, count]);
    assert.deepEqual(rows, [
      [meant, 'whoami', 'unauthenticated', 10],
      [meant, 'whoami', 'limited', 2],
      [null, 'login', 'unauthenticated', 1],
      [null, 'whoami', 'unauthenticated', 1],
    ]);
    assert.deepEqual(textsKept(service, [typedName, typedPassword]), []);
  });

  it('do not double logins that succeed, and know the account of a login that has ended', async () => {
    await people(service);
    const body = { username: 'member', password: 'a long enough password' };
    const { text: token } = await service.ask('POST', '/login', body, {}, null);
    const id = await idOf('member');
    ok(await service.ask('PATCH', '/authorization/accounts/member', { inactive: true }));
    refused(
      await service.ask('GET', '/authorization/whoami', undefined, { Authorization: `Bearer ${token}` }, null),
      401,
    );
    await restarted();
    assert.deepEqual(
      (await denials()).map(({ account, code }) => [account, code]),
      [[id, 'unauthenticated']],
    );
  });

  it('count exports of each kind by resource', async () => {
    const made = async (path: string, body: object) => {
      const answer = ok(await service.ask('POST', path, body));
      return answer.data ?? answer.created;
    };
    const automation = (await made('/operations-manager/automations', { name: 'a' }))._id;
    const template = (await made('/mop/createTemplate', { mop: { name: 'm', commands: [] } }))._id;
    for (let i = 0; i < 2; i++) ok(await service.ask('GET', `/operations-manager/automations/${automation}/export`));
    ok(await service.ask('POST', '/mop/export', { options: { name: 'm' } }));
    refused(await service.ask('GET', '/operations-manager/automations/none/export'), 404);
    const account = await idOf('admin');
    await restarted();
    const address = '127.0.0.1';
    assert.deepEqual(await handOuts(), [
      {
        account,
        address,
        operation: 'exportAutomation',
        resource: { kind: 'automation', id: automation },
        count: 2,
      },
      {
        account,
        address,
        operation: 'exportTemplate',
        resource: { kind: 'commandTemplate', id: template },
        count: 1,
      },
    ]);
  });

  it('are none while the active profile says so; the log itself goes on', async () => {
    ok(await service.ask('PUT', '/profiles/quiet', { properties: { auditProps: { audit: false } } }));
    ok(await service.ask('PUT', '/profiles/quiet/active'));
    refused(await service.as(null)('GET', '/operations-manager/automations'), 401);
    const { data } = ok(await service.ask('POST', '/operations-manager/automations', { name: 'a' }));
    ok(await service.ask('GET', `/operations-manager/automations/${data._id}/export`));
    await restarted();
    assert.deepEqual([await denials(), await handOuts()], [[], []]);
    ok(await service.ask('GET', `/operations-manager/automations/${data._id}`));
  });
});

describe('records of requests', () => {
  const { node } = nodesOnLog();
  const day = 'denied-2026-01-01';
  const row = (n: number): DeniedRequest => ({
    account: null,
    address: `192.0.2.${n}`,
    operation: 'login',
    code: 'unauthenticated',
  });

  const inStream = async (
    events: (stream: string, first: number, last: number) => Promise<readonly { readonly data: unknown }[]>,
    stream = day,
  ) => (await events(stream, 0, Infinity)).map(({ data }) => data as Counted<DeniedRequest>);

  it('are gathered for a time, and stored in the stream of the day on which they began', async () => {
    const { handle, events } = await node();
    const clock = fixedClock(Date.parse('2026-01-01T23:59:59.000Z'));
    const recorder = requestRecorder({ handle, isOn: () => true, now: clock.now, log: () => undefined, gatherMs: 20 });
    recorder.denied(row(1));
    clock.pass(2000);
    recorder.denied(row(1));
    await until(async () => (await inStream(events)).length === 1);
    recorder.denied(row(2));
    await recorder.stop();
    assert.deepEqual(await inStream(events), [
      { rows: [{ ...row(1), count: 2 }], first: '2026-01-01T23:59:59.000Z', last: '2026-01-02T00:00:01.000Z' },
    ]);
    assert.deepEqual(
      (await inStream(events, 'denied-2026-01-02')).map(({ rows }) => rows),
      [[{ ...row(2), count: 1 }]],
    );
  });

  it('have 1,000 rows at most; the 1,001st counts all others', async () => {
    const { handle, events } = await node();
    const now = fixedClock().now;
    const recorder = requestRecorder({ handle, isOn: () => true, now, log: () => undefined });
    for (let n = 0; n < 5000; n++) recorder.denied(row(n));
    for (let n = 0; n < 5000; n++) recorder.denied(row(n));
    await recorder.stop();
    const [{ rows } = assert.fail('nothing was stored'), ...more] = await inStream(events);
    assert.equal(more.length, 0);
    assert.equal(rows.length, 1001);
    assert.deepEqual(rows[999], { ...row(999), count: 2 });
    assert.deepEqual(rows[1000], { account: null, address: null, operation: null, code: null, count: 8000 });
  });

  it('of different kinds have streams of their own', async () => {
    const { handle, events } = await node();
    const recorder = requestRecorder({ handle, isOn: () => true, now: fixedClock().now, log: () => undefined });
    const exported: HandOut = {
      account: 'a',
      address: '::1',
      operation: 'exportForm',
      resource: { kind: 'form', id: 'f' },
    };
    recorder.exported(exported);
    await recorder.stop();
    assert.deepEqual(
      (await inStream(events, 'handedOut-2026-01-01')).map(({ rows }) => rows),
      [[{ ...exported, count: 1 }]],
    );
    assert.deepEqual(await inStream(events), []);
  });

  it("say to whom workers' secrets were given, and of which jobs", async () => {
    const { handle, events } = await node();
    const recorder = requestRecorder({ handle, isOn: () => true, now: fixedClock().now, log: () => undefined });
    const given: HandOut = { account: 'a', address: '::1', operation: 'claimJobs', resource: { kind: 'job', id: 'j' } };
    recorder.secretsHandedOut(given);
    await recorder.stop();
    assert.deepEqual(
      (await events('handedOut-2026-01-01', 0, Infinity)).map(({ topic }) => topic),
      ['secretsHandedOut'],
    );
  });

  it('are stored once, however often storing fails; what comes meanwhile is counted together', async () => {
    const { handle, events } = await node();
    let failures = 0;
    const failing: typeof handle = async (...args) => {
      const done = await handle(...args);
      // The outcome is unknown to the caller, but it is stored.
      if (failures++ < 2) throw new RequestError('unavailable', 'The log is away');
      return done;
    };
    const told: string[] = [];
    const recorder = requestRecorder({
      handle: failing,
      isOn: () => true,
      now: fixedClock().now,
      log: (message) => told.push(message),
      gatherMs: 5,
    });
    recorder.denied(row(1));
    await until(() => failures > 0);
    for (let n = 0; n < 10; n++) recorder.denied(row(2));
    await until(async () => (await inStream(events)).length === 2);
    await recorder.stop();
    assert.deepEqual(
      (await inStream(events)).map(({ rows }) => rows),
      [[{ ...row(1), count: 1 }], [{ ...row(2), count: 10 }]],
    );
    assert.deepEqual(told, ['Requests could not be recorded; it is tried again']);
  });
});

import assert from 'node:assert/strict';
import { requestRecorder } from '../../../src/commands/authorization/requestRecorder.ts';
import type { Counted, DeniedRequest, HandOut } from '../../../src/domain/authorization/requestRecords.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { fixedClock, nodesOnLog } from '../../support/node.ts';
import { until } from '../../support/until.ts';

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

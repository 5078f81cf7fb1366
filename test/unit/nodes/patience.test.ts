import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { patience } from '../../../src/service/serviceNode.ts';
import type { OpenedLog } from '../../../src/store/open.ts';
import { until } from '../../support/until.ts';

describe('A step of the start', () => {
  const remote = { remote: {} } as OpenedLog;
  const embedded = { embedded: {} } as OpenedLog;
  const away = new RequestError('unavailable', 'EventStoreDB does not answer', { retryAfterSeconds: 1 });
  const setUp = (opened: OpenedLog, ...failures: readonly Error[]) => {
    const left = [...failures];
    const said: string[] = [];
    const leaving = new AbortController();
    const patiently = patience(opened, leaving.signal, (message) => void said.push(message));
    const outcome = patiently(async () => {
      const failure = left.shift();
      if (failure) throw failure;
      return 'done';
    });
    return { outcome, said, leaving };
  };

  it('is done again while the log does not answer, which is said once', async () => {
    const { outcome, said } = setUp(remote, away, away);
    assert.equal(await outcome, 'done');
    assert.deepEqual(said, ['The start waits for the event log']);
  });

  it('fails at once for any other reason, and with an embedded log', async () => {
    const denied = new RequestError('unavailable', 'EventStoreDB denies access');
    for (const [opened, failure] of [
      [remote, denied],
      [remote, new Error('A bug')],
      [embedded, away],
    ] as const) {
      const { outcome, said } = setUp(opened, failure);
      await assert.rejects(outcome, (error) => error === failure);
      assert.deepEqual(said, []);
    }
  });

  it('is given up when the service is to end', async () => {
    const { outcome, said, leaving } = setUp(remote, ...Array.from({ length: 100 }, () => away));
    outcome.catch(() => undefined);
    await until(() => said.length === 1, 'the first failure');
    leaving.abort();
    await assert.rejects(outcome, { name: 'AbortError' });
  });
});

import assert from 'node:assert/strict';
import { until } from '../../../../test/support/until.ts';
import { idBatches } from '../../src/index.ts';

describe('Batches of ids', () => {
  const stop = new AbortController();
  const setUp = (work: (ids: readonly string[]) => Promise<void>, most = 10) => {
    const failures: unknown[] = [];
    const { signal } = stop;
    return { ...idBatches({ work, most, signal, onFailure: (error) => failures.push(error) }), failures };
  };

  it('come one after the other, so many ids at a time, each id once', async () => {
    const batches: string[] = [];
    const { add, idle } = setUp(async (ids) => void batches.push(ids.join('')), 2);
    for (const id of 'abcbcd') add(id);
    await idle();
    assert.deepEqual(batches, ['ab', 'cd']);
  });

  it('have an id again that is added while its batch is under way', async () => {
    let release = (): void => undefined;
    const batches: string[] = [];
    const { add } = setUp(async (ids) => {
      batches.push(ids.join(''));
      if (batches.length === 1)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
    });
    add('a');
    await until(() => batches.length === 1);
    for (const id of 'ab') add(id);
    release();
    await until(() => batches.length === 2);
    assert.deepEqual(batches, ['a', 'ab']);
  });

  it('come again after a failure, with what has been added since', async () => {
    const batches: string[] = [];
    const { add, failures } = setUp(async (ids) => {
      batches.push([...ids].sort().join(''));
      if (batches.length === 1) {
        add('b');
        throw new Error('not now');
      }
    });
    add('a');
    await until(() => batches.length === 2);
    assert.deepEqual(batches, ['a', 'ab']);
    assert.equal(failures.length, 1);
  });

  it('do not begin once the signal has aborted', async () => {
    stop.abort();
    const { add, idle } = setUp(async () => assert.fail('a batch'));
    add('a');
    await idle();
  });
});

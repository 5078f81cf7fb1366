import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { runAtOnce } from '../../src/index.ts';

const pass = async (turns: number): Promise<void> => {
  for (let n = 0; n < turns; n++) await nextTurn();
};

describe('Work on items at once', () => {
  it('gives the results in the order of the items, and has no more than so many in work', async () => {
    let inWork = 0;
    let most = 0;
    const results = await runAtOnce([3, 1, 2, 0], 2, async (turns) => {
      most = Math.max(most, ++inWork);
      await pass(turns);
      inWork--;
      return turns * 10;
    });
    assert.deepEqual([results, most], [[30, 10, 20, 0], 2]);
  });

  it('begins none after a failure, and throws the first one when those in work have ended', async () => {
    const begins: number[] = [];
    const ends: number[] = [];
    const running = runAtOnce([0, 1, 2, 3], 2, async (n) => {
      begins.push(n);
      if (n === 0) throw new Error('first');
      await pass(5);
      ends.push(n);
      if (n === 1) throw new Error('second');
    });
    await assert.rejects(running, /first/);
    assert.deepEqual([begins, ends], [[0, 1], [1]]);
  });
});

import assert from 'node:assert/strict';
import { gathering } from '../../src/index.ts';

describe('gathering', () => {
  it('works on what comes while a batch is under way together, and gives each its result', async () => {
    const batches: (readonly number[])[] = [];
    const double = gathering({
      work: async (items: readonly number[]) => {
        batches.push(items);
        await new Promise(setImmediate);
        return items.map((item) => 2 * item);
      },
      fits: (items) => items.length < 3,
    });
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(double)), [2, 4, 6, 8, 10]);
    assert.deepEqual(batches, [[1], [2, 3, 4], [5]]);
    assert.equal(await double(6), 12);
  });

  it('lets a batch fail together, one item alone, and goes on', async () => {
    const work = gathering({
      work: async (items: readonly number[]) => {
        await new Promise(setImmediate);
        if (items.includes(0)) throw new Error(`all of ${items}`);
        return items.map((item) => (item < 0 ? Promise.reject(new Error(`${item} alone`)) : item));
      },
    });
    const outcomes = await Promise.allSettled([1, 0, 2].map(work));
    assert.deepEqual(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
      [1, 'all of 0,2', 'all of 0,2'],
    );
    const alone = await Promise.allSettled([3, -1, 4].map(work));
    assert.deepEqual(
      alone.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
      [3, '-1 alone', 4],
    );
  });
});

import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { places } from '../../src/index.ts';

/** Works that begin and end when a test says so. */
const works = () => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    work: (name: string) => (): Promise<void> =>
      new Promise((resolve) => {
        begun.push(name);
        ends.set(name, resolve);
      }),
    end: async (name: string): Promise<void> => {
      ends.get(name)?.();
      await turn();
    },
  };
};

describe('Places for works', () => {
  it('are taken in the order of the calls, so many at once', async () => {
    const { begun, work, end } = works();
    const atPlace = places(() => 2);
    const done = ['a', 'b', 'c'].map((name) => atPlace(work(name)));
    await turn();
    assert.deepEqual(begun, ['a', 'b']);
    await end('b');
    assert.deepEqual(begun, ['a', 'b', 'c']);
    await end('a');
    await end('c');
    await Promise.all(done);
  });

  it('are free again after a work that fails', async () => {
    const atPlace = places(() => 1);
    await assert.rejects(
      atPlace(() => Promise.reject(new Error('failed'))),
      /^Error: failed$/,
    );
    assert.equal(await atPlace(async () => 'next'), 'next');
  });

  it('rest after each work, before the next one begins there; who waits for the work does not wait for the rest', async () => {
    const { begun, work, end } = works();
    const rests: (() => void)[] = [];
    const rest = (): Promise<void> => new Promise((resolve) => rests.push(resolve));
    const atPlace = places(() => 1, rest);
    const [first, second] = ['a', 'b'].map((name) => atPlace(work(name)));
    await turn();
    await end('a');
    await first;
    assert.deepEqual([begun, rests.length], [['a'], 1]);
    rests[0]?.();
    await turn();
    assert.deepEqual(begun, ['a', 'b']);
    await end('b');
    await second;
  });
});

import assert from 'node:assert/strict';
import { Busy, fairScheduler } from '../../src/index.ts';

const never = new AbortController().signal;
const settled = () => new Promise(setImmediate);

describe('Fair shares', () => {
  const setUp = (bounds: Partial<Parameters<typeof fairScheduler>[0]> = {}) => {
    let now = 0;
    const { inTurn } = fairScheduler({
      places: () => 2,
      express: () => 0,
      inLine: 10,
      inAll: 100,
      now: () => now,
      ...bounds,
    });
    const begun: string[] = [];
    const ends = new Map<string, (ms: number) => void>();
    const ask = (name: string, signal = never) =>
      inTurn(name[0]!, signal, (used) => {
        begun.push(name);
        return new Promise<string>((resolve) => {
          ends.set(name, (ms) => {
            used(ms);
            resolve(name);
          });
        });
      });
    const pass = (ms: number): void => {
      now += ms;
    };
    /** Ends the turn, after so many milliseconds. */
    const end = async (name: string, ms = 0) => {
      pass(ms);
      ends.get(name)?.(ms);
      await settled();
    };
    return { ask, begun, end, pass };
  };
  const all = (ask: (name: string) => Promise<string>, ...names: readonly string[]) => names.map((name) => ask(name));

  it('are one at a time for each account', async () => {
    const { ask, begun, end } = setUp();
    const work = all(ask, 'a1', 'a2', 'b1');
    await settled();
    assert.deepEqual(begun, ['a1', 'b1']);
    await end('b1');
    assert.deepEqual(begun, ['a1', 'b1']);
    await end('a1');
    await end('a2');
    assert.deepEqual(await Promise.all(work), ['a1', 'a2', 'b1']);
  });

  it('come first to who owes the least, however many others there are', async () => {
    const { ask, begun, end, pass } = setUp();
    const work = all(ask, 'a1', 'b1', 'a2', 'b2', 'c1', 'd1', 'e1');
    await settled();
    assert.deepEqual(begun, ['a1', 'b1']);
    // Nobody who waits owes anything: the latest comes first.
    await end('a1', 1000);
    work.push(ask('p1'));
    await end('b1', 1000);
    assert.deepEqual(begun.slice(2), ['e1', 'p1']);
    await end('p1', 1);
    work.push(ask('p2'));
    await end('d1', 1000);
    assert.deepEqual(begun.slice(4), ['d1', 'p2'], 'after d, what little p owed is settled');
    await end('p2', 1);
    await end('c1', 1000);
    await end('e1');
    // a had its turn before b.
    assert.deepEqual(begun.slice(6), ['c1', 'a2', 'b2']);
    pass(100_000);
    work.push(ask('a3'), ask('p3'));
    await end('b2');
    assert.equal(begun.at(-1), 'p3');
    await end('p3');
    await end('a2');
    await end('a3');
    await Promise.all(work);
  });

  it('are had at once by who owes little, while the others fill their places', async () => {
    const { ask, begun, end } = setUp({ places: () => 2, express: () => 1 });
    const work = all(ask, 'a1', 'a2', 'a3', 'b1', 'b2');
    await settled();
    assert.deepEqual(begun, ['a1', 'b1']);
    await end('a1', 1000);
    await end('b1', 950);
    // Both owe for a second: one place is not for them.
    assert.deepEqual(begun.slice(2), ['a2']);
    for (const name of ['p1', 'p2', 'p3']) {
      work.push(ask(name));
      await settled();
      assert.equal(begun.at(-1), name);
      await end(name, 10);
    }
    await end('a2', 1000);
    assert.equal(begun.at(-1), 'b2');
    await end('b2');
    await end('a3');
    await Promise.all(work);
  });

  it('are left by who does not wait any more', async () => {
    const { ask, begun, end } = setUp({ places: () => 1 });
    const leaving = new AbortController();
    const first = ask('a1');
    const gone = assert.rejects(ask('a2', leaving.signal), /gone/);
    const next = ask('a3');
    leaving.abort(new Error('gone'));
    await gone;
    await assert.rejects(ask('a4', leaving.signal), /gone/);
    await end('a1');
    await end('a3');
    assert.deepEqual([await first, await next, begun], ['a1', 'a3', ['a1', 'a3']]);
  });

  it('are not waited for by too many, of one account or in all; who waits the most leaves room', async () => {
    const { ask, begun, end } = setUp({ places: () => 1, inLine: 3, inAll: 4 });
    const kept = all(ask, 'a1', 'a2', 'a3');
    const last = assert.rejects(ask('a4'), Busy);
    await assert.rejects(ask('a5'), Busy);
    kept.push(ask('b1'), ask('b2'));
    await last;
    await assert.rejects(ask('b3'), Busy);
    await settled();
    for (const name of ['a1', 'b1', 'a2', 'b2', 'a3']) await end(name, 10);
    await Promise.all(kept);
    assert.deepEqual(begun, ['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('are more at once when there are more places, and fewer once work has ended', async () => {
    let places = 1;
    const { inTurn, changed } = fairScheduler({ places: () => places, express: () => 0, inLine: 9, inAll: 9 });
    const ends: (() => void)[] = [];
    const works = ['a', 'b', 'c', 'd'].map((account) =>
      inTurn(account, never, () => new Promise<void>((resolve) => void ends.push(resolve))),
    );
    await settled();
    assert.equal(ends.length, 1);
    places = 3;
    changed();
    await settled();
    assert.equal(ends.length, 3);
    places = 1;
    ends[0]?.();
    ends[1]?.();
    await settled();
    assert.equal(ends.length, 3);
    ends[2]?.();
    await settled();
    assert.equal(ends.length, 4);
    ends[3]?.();
    await Promise.all(works);
  });

  it('go on after work that fails', async () => {
    const { inTurn } = fairScheduler({ places: () => 1, express: () => 0, inLine: 1, inAll: 1 });
    const failing = inTurn('a', never, async () => {
      throw new Error('failed');
    });
    const next = inTurn('a', never, async () => 'next');
    await assert.rejects(failing, /failed/);
    assert.equal(await next, 'next');
  });
});

import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { paced } from '../../src/index.ts';

/** Uses the thread for so long. */
const use = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

describe('paced works', () => {
  it('begin at once until they have taken their time, then in later turns of the event loop, in order', async () => {
    const { inTurn } = paced(5);
    const order: string[] = [];
    const work = (name: string) => (): void => {
      use(6);
      order.push(name);
    };
    assert.equal(inTurn(work('a')), undefined);
    let turning = true;
    const turns = (async () => {
      while (turning) {
        await nextTurn();
        order.push('|');
      }
    })();
    await Promise.all(['b', 'c', 'd'].map((name) => inTurn(work(name))));
    turning = false;
    await turns;
    assert.match(order.join(''), /^a\|*b\|+c\|+d\|*$/);
  });

  it('share a turn while they are short', async () => {
    const { inTurn, timed } = paced(50);
    assert.throws(() =>
      timed(() => {
        use(51);
        throw new Error('counts, too');
      }),
    );
    const order: number[] = [];
    const all = [1, 2, 3].map((n) => inTurn(() => order.push(n)));
    assert.deepEqual(order, []);
    await nextTurn();
    await nextTurn();
    assert.deepEqual(order, [1, 2, 3]);
    await Promise.all(all);
  });

  it('with many items are done in pieces, between which others have their turn', async () => {
    const { inPieces } = paced(5);
    const pieces: number[][] = [];
    let turns = 0;
    const all = inPieces(
      Array.from({ length: 100 }, (_, n) => n),
      (piece) => {
        use(6);
        pieces.push([...piece]);
      },
    ).then(() => true);
    while (!(await Promise.race([all, nextTurn(false)]))) turns++;
    assert.deepEqual(
      pieces.flat(),
      Array.from({ length: 100 }, (_, n) => n),
    );
    assert.ok(turns >= pieces.length - 2 && pieces.length > 2, `${turns} turns, ${pieces.length} pieces`);
  });

  it('of many items give all of them, and others have their turn meanwhile', async () => {
    const { collect } = paced(5);
    const taken: number[] = [];
    function* items(): Generator<number> {
      for (let n = 0; n < 100; n++) {
        use(0.5);
        taken.push(n);
        yield n;
      }
    }
    let turns = 0;
    const all = collect(items());
    while ((await Promise.race([all, nextTurn()])) === undefined) turns++;
    assert.deepEqual(await all, taken);
    assert.ok(turns >= 2 && taken.length === 100, `${turns} turns`);
  });

  it('that throw refuse their caller alone', async () => {
    const { inTurn } = paced(5);
    const fail = (): never => {
      use(6);
      throw new Error('no');
    };
    assert.throws(() => inTurn(fail), /no/);
    const later = inTurn(fail);
    assert.ok(later instanceof Promise);
    await assert.rejects(later, /no/);
    assert.equal(await inTurn(() => 1), 1);
  });
});

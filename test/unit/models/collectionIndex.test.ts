import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Query } from '../../../src/projections/engine/port.ts';
import { type CollectionIndex, collectionIndex, type Indexed } from '../../../src/projections/index/collectionIndex.ts';

type Named = Indexed & { readonly name: string };

const many = 30_000;
const spec = { name: 'jobs', sorts: ['name', 'created'], filters: ['status'] };

/** An entry whose name is spread over the order by name. */
const entry = (n: number, status = n % 100 === 0 ? 'running' : 'complete'): Named => {
  const name = String((n * 7919) % 1_000_003).padStart(7, '0');
  return {
    id: `j${n}`,
    name,
    revision: 0,
    sorts: { name, created: String(n).padStart(7, '0') },
    filters: { status: [status] },
  };
};

const filled = (): CollectionIndex<Named> => {
  const index = collectionIndex<Named>(spec);
  for (let n = 0; n < many; n++) index.put(entry(n));
  return index;
};

const running = { field: 'status', op: 'equals', value: 'running' } as const;
const first = { sort: 'name', order: 1, skip: 0, limit: 25 } as const satisfies Query;

/** The index as one that made its order after all changes. */
const isAsAnew = (index: CollectionIndex<Named>): void => {
  const anew = collectionIndex<Named>(spec);
  for (const one of index.all()) anew.put(one);
  for (const sort of spec.sorts)
    for (const order of [1, -1] as const)
      for (const skip of [0, 10_000])
        for (const where of [undefined, running]) {
          const query: Query = where ? { sort, order, skip, limit: 500, where } : { sort, order, skip, limit: 500 };
          assert.deepEqual(index.page(query), anew.page(query));
        }
};

/** Waits for the work, and calls `meanwhile` in each turn until then. Gives the number of turns. */
const turnsOf = async (work: Promise<void> | undefined, meanwhile: (turn: number) => void = () => undefined) => {
  let isDone = false;
  const done = work?.then(() => {
    isDone = true;
  });
  let turns = 0;
  for (; work && !isDone; turns++) {
    meanwhile(turns);
    await nextTurn();
  }
  await done;
  return turns;
};

describe('the index of many documents', () => {
  it('is sorted and searched in slices, between which others have their turn', async () => {
    const index = filled();
    assert.ok((await turnsOf(index.prepare(first))) > 2);
    assert.equal(index.prepare(first), undefined);
    assert.ok((await turnsOf(index.prepare({ ...first, where: running }))) > 0);
    assert.equal(index.prepare({ ...first, where: running }), undefined);
    assert.equal(index.page({ ...first, where: running }).total, many / 100);
    isAsAnew(index);
  });

  it('has in its lists what changes while they are made', async () => {
    const index = filled();
    let n = 0;
    const change = (): void => {
      for (const at of [n, many - 1 - n, (many >> 1) + n]) index.put(entry(at, 'running'));
      index.put({ ...entry(n + 100), sorts: entry(n + many).sorts });
      index.put(entry(many + n));
      for (const at of [n + 1000, many - 1000 - n, many + n - 2]) index.remove(`j${at}`);
      n++;
    };
    for (const sort of spec.sorts) assert.ok((await turnsOf(index.prepare({ sort }), change)) > 2);
    await turnsOf(index.prepare({ ...first, where: running }), change);
    change();
    isAsAnew(index);
  });

  it('is sorted once for all who ask meanwhile, also for one who cannot wait', async () => {
    const index = filled();
    const making = Promise.all([index.prepare(first), index.prepare(first)]);
    await nextTurn();
    index.put(entry(many));
    assert.equal(index.page(first).total, many + 1);
    await making;
    index.put(entry(many + 1));
    isAsAnew(index);
  });

  it('is empty when it is cleared meanwhile', async () => {
    const index = filled();
    const making = index.prepare({ ...first, where: running });
    await nextTurn();
    index.clear();
    index.put(entry(7));
    await making;
    assert.deepEqual(index.page(first), { entries: [entry(7)], total: 1 });
    isAsAnew(index);
  });

  it('refuses a sort field that it does not have', () => {
    assert.throws(() => filled().prepare({ sort: 'size' }), /no sort field size/);
  });
});

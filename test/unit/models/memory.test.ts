import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Change } from '../../../src/projections/engine/port.ts';
import { memoryReadStore } from '../../../src/projections/index/memory.ts';
import { contractCollections, listed, put, readStoreContract, thing } from '../../support/readStore.contract.ts';

readStoreContract('memory', () => memoryReadStore({ collections: contractCollections }));

describe('a memory read store', () => {
  it('makes a step of many changes in several turns, of which reads see all or nothing', async () => {
    const store = memoryReadStore({ collections: contractCollections });
    const ids = Array.from({ length: 20_000 }, (_, n) => String(n));
    const applying = store.apply(
      ids.map((id) => put(thing(id))),
      0,
      { position: 1, event: 'e1' },
    );
    let turns = 0;
    const totals: Promise<number>[] = [];
    const found: Promise<unknown>[] = [];
    while ((await Promise.race([applying, nextTurn()])) === undefined) {
      turns++;
      totals.push(listed(store).then(({ total }) => total));
      found.push(store.get('things', '19999'));
    }
    assert.ok(turns > 2, `${turns} turns`);
    assert.deepEqual(new Set(await Promise.all(totals)), new Set([ids.length]));
    assert.ok((await Promise.all(found)).every((one) => one !== undefined));
    assert.deepEqual(await store.getMany('things', ['0', '20000']), [await store.get('things', '0'), undefined]);
  });

  it('makes nothing of a step of which one change does not fit', async () => {
    const store = memoryReadStore({ collections: contractCollections });
    const changes = Array.from({ length: 5000 }, (_, n) => put(thing(String(n))));
    const step = store.apply([...changes, { collection: 'gone', id: '1' }], 0, { position: 1, event: 'e1' });
    await assert.rejects(step, /No collection gone/);
    assert.equal((await listed(store)).total, 0);
    assert.equal(await store.apply(changes, 0, { position: 1, event: 'e1' }), true);
  });
});

describe('a memory read store with a snapshot', () => {
  const checkpoint = { position: 7, event: 'e7' };
  const open = (changes: () => AsyncIterable<readonly Change[]>) => {
    let asked = 0;
    const store = memoryReadStore({
      collections: contractCollections,
      load: async () => {
        asked++;
        return { checkpoint, changes: changes() };
      },
    });
    return { store, asked: () => asked };
  };

  it('starts from it, and goes on from there', async () => {
    const { store } = open(async function* () {
      yield [put(thing('1'))];
      yield [put(thing('2')), put(thing('1', { name: 'z' }))];
    });
    assert.deepEqual(await store.resume(), checkpoint);
    assert.deepEqual(await listed(store), { ids: ['2', '1'], total: 2 });
    assert.equal(await store.apply([put(thing('3'))], 7, { position: 8, event: 'e8' }), true);
    assert.deepEqual(await store.resume(), { position: 8, event: 'e8' });
    assert.equal((await listed(store)).total, 3);
  });
  it('asks for it once only, even when it is cleared', async () => {
    const { store, asked } = open(async function* () {
      yield [put(thing('1'))];
    });
    await store.resume();
    await store.clear();
    assert.deepEqual(await store.resume(), { position: 0, event: '' });
    assert.equal(asked(), 1);
  });
  for (const [fault, last] of [
    [
      'breaks off',
      () => {
        throw new Error('checksum');
      },
    ],
    ['does not fit', () => [{ collection: 'gone', id: '1' }]],
  ] as const) {
    it(`uses nothing of one that ${fault}`, async () => {
      const { store, asked } = open(async function* () {
        yield [put(thing('1'))];
        yield last();
      });
      assert.deepEqual(await store.resume(), { position: 0, event: '' });
      assert.deepEqual(await listed(store), { ids: [], total: 0 });
      await store.resume();
      assert.equal(asked(), 1);
    });
  }
});

import assert from 'node:assert/strict';
import type { Change } from '../../../src/projections/engine/port.ts';
import { memoryReadStore } from '../../../src/projections/index/memory.ts';
import { contractCollections, listed, put, readStoreContract, thing } from '../../support/readStore.contract.ts';

readStoreContract('memory', () => memoryReadStore({ collections: contractCollections }));

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

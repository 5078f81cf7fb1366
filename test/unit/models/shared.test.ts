import assert from 'node:assert/strict';
import { shared } from '../../../src/projections/index/collectionIndex.ts';

/** Texts that are equal and not the same, as those of a snapshot. */
const parsed = <T>(value: T): T => JSON.parse(JSON.stringify(value));

const entry = (n: number) => ({
  id: `j${n}`,
  text: '{}',
  revision: n,
  sorts: { name: `job ${n}`, status: 'complete' },
  filters: { name: [`job ${n}`], status: ['complete'], groups: [] as string[], tags: ['a', 'b'] },
});

describe('entries of a collection', () => {
  it('are what they were, and have lists of values in common', () => {
    const sharing = shared();
    const [first, second] = [sharing(parsed(entry(1))), sharing(parsed(entry(2)))];
    assert.deepEqual([first, second], [entry(1), entry(2)]);
    for (const field of ['status', 'groups']) assert.equal(first.filters[field], second.filters[field]);
  });

  it('keep their guard, and have none if they had none', () => {
    const guarded = { ...entry(1), guard: 'groups:["a"]' };
    assert.deepEqual(shared()(guarded), guarded);
    assert.equal(Object.hasOwn(shared()(entry(1)), 'guard'), false);
  });

  it('stay right with more different values than are remembered', () => {
    const sharing = shared();
    for (let n = 0; n < 3000; n++) assert.deepEqual(sharing(parsed(entry(n))), entry(n));
    assert.deepEqual(sharing(entry(5)), entry(5));
  });
});

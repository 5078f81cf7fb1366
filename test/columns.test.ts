import assert from 'node:assert/strict';
import { type Derived, type Filtered, matcher } from '../src/projections/columns.ts';
import { countBits } from '../src/projections/bits.ts';
import { sortedList } from '../src/projections/sorted.ts';

describe('the matches of a block', () => {
  const list = sortedList<Filtered, Derived>(Array.from({ length: 300 }, (_, n) => [String(n), { filters: { name: [`name ${n}`] } }]));
  const block = list.blocks[0]!;
  const containing = (value: string) => matcher({ field: 'name', op: 'contains', value }, ['name'])(block);

  it('are worked out once for a filter', () => {
    const found = containing('7');
    assert.equal(countBits(found), 57);
    assert.equal(containing('7'), found);
  });
  it('are remembered for a bounded number of filters', () => {
    for (let n = 0; n < 300; n++) assert.ok(countBits(containing(`name ${n}`)) > 0);
    assert.ok(block.derived!.hits.size <= 32);
  });
});

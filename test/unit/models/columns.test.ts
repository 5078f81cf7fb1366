import assert from 'node:assert/strict';
import { countBits, type Derived, type Filtered, matcher } from '../../../src/projections/index/columns.ts';
import { sortedList } from '../../../src/projections/index/sorted.ts';

describe('the matches of a block', () => {
  const list = sortedList<Filtered, Derived>(
    Array.from({ length: 300 }, (_, n) => [String(n), { filters: { name: [`name ${n}`] } }]),
  );
  const block = list.blocks[0]!;
  const containing = (value: string) => matcher({ field: 'name', op: 'contains', value }, ['name'])(block);

  it('are found, also when there are none', () => {
    assert.equal(countBits(containing('7')), 57);
    assert.equal(countBits(containing('NAME 29')), 11);
    assert.equal(countBits(containing('300')), 0);
  });
  it('keep nothing for the next filter but the values themselves', () => {
    for (let n = 0; n < 300; n++) assert.ok(countBits(containing(`name ${n}`)) > 0);
    assert.equal(block.derived!.columns.size, 1);
  });
});

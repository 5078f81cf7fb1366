import type { Query } from '../engine/port.ts';
import { addBits, type Bits, countBits, dropBits, firstBits, hasBit, noBits, setBit } from './bits.ts';
import { type Derived, derivedOf, type Filtered, type FilteredBlock } from './columns.ts';
import type { Block } from './sorted.ts';

type Scan = Pick<Query, 'skip' | 'limit' | 'order'> & {
  /** Finds a block's matches; if undefined, everything matches. */
  readonly match?: (block: FilteredBlock) => Bits;
  /** Items with these guards are neither listed nor counted. */
  readonly refused: ReadonlySet<string>;
  /** The total, if it is known. Then the scan ends with the page. */
  readonly known?: number;
};

const refusedOf = (block: FilteredBlock, refused: ReadonlySet<string>): Bits => {
  const found = noBits();
  const { guards } = derivedOf(block);
  if (guards)
    for (const [guard, bits] of guards) {
      if (refused.has(guard)) addBits(found, bits);
    }
  else
    for (const [at, { guard }] of block.items.entries())
      if (guard !== undefined && refused.has(guard)) setBit(found, at);
  return found;
};

/** A page of the items that match and are not refused, and the total number of such items. */
export const scan = <E extends Filtered>(
  blocks: readonly Block<E, Derived>[],
  { skip, limit, order, match, refused, known }: Scan,
): { readonly entries: readonly E[]; readonly total: number } => {
  const entries: E[] = [];
  let total = 0;
  for (const block of order === 1 ? blocks : blocks.toReversed()) {
    if (known !== undefined && entries.length === limit) break;
    let bits = match ? match(block) : firstBits(block.items.length);
    if (refused.size > 0) bits = dropBits(addBits(noBits(), bits), refusedOf(block, refused));
    const count = countBits(bits);
    if (total + count > skip && entries.length < limit) {
      const found = block.items.filter((_, at) => hasBit(bits, at));
      if (order === -1) found.reverse();
      const from = Math.max(0, skip - total);
      entries.push(...found.slice(from, from + limit - entries.length));
    }
    total += count;
  }
  return { entries, total: known ?? total };
};

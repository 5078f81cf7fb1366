import type { Query } from '../engine/port.ts';
import {
  addBits,
  type Bits,
  countBits,
  type Derived,
  derivedOf,
  dropBits,
  type Filtered,
  type FilteredBlock,
  firstBits,
  hasBit,
  noBits,
  setBit,
} from './columns.ts';
import { type SortedList, unknown } from './sorted.ts';

/** The entries of a list that a filter matches. */
export type Matching = {
  /** Finds a block's matches. */
  readonly match: (block: FilteredBlock) => Bits;
  /** How many matches each block has, as far as that is known. */
  readonly counts: number[];
};

type Scan = Pick<Query, 'skip' | 'limit' | 'order'> & {
  /** If undefined, everything matches. */
  readonly matching?: Matching;
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

/** The matches of the block at an index. Notes their number. */
export const matchesIn = ({ match, counts }: Matching, block: FilteredBlock, at: number): Bits => {
  const bits = match(block);
  counts[at] = countBits(bits);
  return bits;
};

/** A page of the items that match and are not refused, and the total number of such items. */
export const scan = <E extends Filtered>(
  { blocks }: Pick<SortedList<E, Derived>, 'blocks'>,
  { skip, limit, order, matching, refused, known }: Scan,
): { readonly entries: readonly E[]; readonly total: number } => {
  const entries: E[] = [];
  let total = 0;
  for (let nth = 0; nth < blocks.length; nth++) {
    if (known !== undefined && entries.length === limit) break;
    const at = order === 1 ? nth : blocks.length - 1 - nth;
    const counted = matching?.counts[at] ?? unknown;
    const isBeside = total + counted <= skip || entries.length === limit;
    // Most blocks are passed by, so that the time of a list hardly depends on the number of documents.
    if (counted === 0 || (counted > 0 && refused.size === 0 && isBeside)) {
      total += counted;
      continue;
    }
    const block = blocks[at]!; // the index is less than the length
    let bits = matching ? matchesIn(matching, block, at) : firstBits(block.items.length);
    if (refused.size > 0) bits = dropBits(addBits(noBits(), bits), refusedOf(block, refused));
    const count = countBits(bits);
    if (total + count > skip && entries.length < limit) {
      const found = block.items.filter((_, item) => hasBit(bits, item));
      if (order === -1) found.reverse();
      const from = Math.max(0, skip - total);
      entries.push(...found.slice(from, from + limit - entries.length));
    }
    total += count;
  }
  return { entries, total: known ?? total };
};

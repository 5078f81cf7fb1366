import type { Entry, Query, Where } from '../engine/port.ts';
import { type Block, blockSize, type SortedList, unknown } from './sorted.ts';

/** The part of an entry that filters read. */
export type Filtered = Pick<Entry, 'filters' | 'guard'>;

/** Data that queries have computed about a block. */
export type Derived = {
  /** The values of filter fields, by case and field. */
  readonly columns: Map<string, Column>;
  /** The items that have each guard; null if there are many guards. */
  guards: ReadonlyMap<string, Bits> | null;
};

export type FilteredBlock = Block<Filtered, Derived>;

/**
 * The values of one field in a block. If there are few different ones: for each value the items that have it. Otherwise
 * all values in one text to search, each between STX and ETX. `starts` has the offset of each item's first value, and
 * last the length of the text.
 */
type Column = { readonly owners: ReadonlyMap<string, Bits> } | { readonly text: string; readonly starts: Uint32Array };

type ValuesOf = (item: Filtered) => readonly string[];

const few = 64;
const control = /[\0-\x1f\x7f]/;
const frame = /[\x02\x03]/g;

const ownersOf = (items: readonly Filtered[], valuesOf: ValuesOf): Map<string, Bits> | null => {
  const owners = new Map<string, Bits>();
  for (const [at, item] of items.entries()) {
    for (const value of valuesOf(item)) {
      let bits = owners.get(value);
      if (!bits) {
        if (owners.size === few) return null;
        bits = noBits();
        owners.set(value, bits);
      }
      setBit(bits, at);
    }
  }
  return owners;
};

const textOf = (items: readonly Filtered[], valuesOf: ValuesOf) => {
  const starts = new Uint32Array(items.length + 1);
  const parts: string[] = [];
  let length = 0;
  for (const [at, item] of items.entries()) {
    for (const value of valuesOf(item)) {
      const framed = `\x02${value.replace(frame, '\0')}\x03`;
      parts.push(framed);
      length += framed.length;
    }
    starts[at + 1] = length;
  }
  return { text: parts.join(''), starts };
};

const derivedOf = (block: FilteredBlock): Derived =>
  (block.derived ??= {
    columns: new Map(),
    guards: ownersOf(block.items, ({ guard }) => (guard === undefined ? [] : [guard])),
  });

const columnOf = (block: FilteredBlock, field: string, lower: boolean): Column => {
  const { columns } = derivedOf(block);
  const name = `${lower ? 'lower' : 'exact'} ${field}`;
  const knownColumn = columns.get(name);
  if (knownColumn) return knownColumn;
  const valuesOf: ValuesOf = ({ filters }) =>
    lower ? (filters[field] ?? []).map((value) => value.toLowerCase()) : (filters[field] ?? []);
  const owners = ownersOf(block.items, valuesOf);
  const column = owners ? { owners } : textOf(block.items, valuesOf);
  columns.set(name, column);
  return column;
};

/** The items whose part of the text contains the needle. */
const search = (text: string, starts: Uint32Array, needle: string): Bits => {
  const found = noBits();
  for (let at = text.indexOf(needle), item = 0; at >= 0; at = text.indexOf(needle, starts[item])) {
    // `starts` ends with the length of the text, so this index exists.
    while (starts[item + 1]! <= at) item++;
    setBit(found, item++);
  }
  return found;
};

/** For each operation: whether it ignores case, its test of one value, and the needle for a text of framed values. */
const operations = {
  equals: {
    lower: false,
    test: (own: string, value: string) => own === value,
    needle: (value: string) => `\x02${value}\x03`,
  },
  startsWith: {
    lower: true,
    test: (own: string, value: string) => own.startsWith(value),
    needle: (value: string) => `\x02${value}`,
  },
  contains: {
    lower: true,
    test: (own: string, value: string) => own.includes(value),
    needle: (value: string) => value || '\x02',
  },
};

type Matcher = (block: FilteredBlock) => Bits;

const every: Matcher = ({ items }) => firstBits(items.length);

/**
 * Makes the function that finds a block's matches. The caller may change the bits that this function returns. A value
 * with control characters matches nothing.
 */
export const matcher = (where: Where, fields: readonly string[]): Matcher => {
  if ('all' in where) {
    const parts = where.all.map((part) => matcher(part, fields));
    return (block) => parts.reduce((bits, part) => keepBits(bits, part(block)), every(block));
  }
  if ('any' in where) {
    const parts = where.any.map((part) => matcher(part, fields));
    return (block) => parts.reduce((bits, part) => addBits(bits, part(block)), noBits());
  }
  const { field, op, value } = where;
  if (!fields.includes(field)) throw new Error(`No filter field ${field}`);
  if (control.test(value)) return noBits;
  const { lower, test, needle } = operations[op];
  const sought = lower ? value.toLowerCase() : value;
  // Matches are not kept for later queries: objects that outlive a query cost the garbage collector more than a search.
  return (block) => {
    const column = columnOf(block, field, lower);
    if ('text' in column) return search(column.text, column.starts, needle(sought));
    const found = noBits();
    for (const [own, bits] of column.owners) if (test(own, sought)) addBits(found, bits);
    return found;
  };
};

/** One bit for each item of a block. V8 keeps 64 bytes in its own heap, where they are cheap to make and drop. */
export type Bits = Int32Array;

const words = blockSize / 32;

const noBits = (): Bits => new Int32Array(words);

/** Bits of which the first `count` are set. */
const firstBits = (count: number): Bits => {
  const bits = noBits().fill(-1, 0, count >>> 5);
  if (count % 32 > 0) bits[count >>> 5] = (1 << (count % 32)) - 1;
  return bits;
};

const setBit = (bits: Bits, at: number): void => {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
};
const hasBit = (bits: Bits, at: number): boolean => (((bits[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1;

/** Sets in `bits` all bits that are set in `more`. */
const addBits = (bits: Bits, more: Bits): Bits => {
  for (let word = 0; word < words; word++) bits[word] = (bits[word] ?? 0) | (more[word] ?? 0);
  return bits;
};
/** Clears in `bits` all bits that are not set in `bitsToKeep`. */
const keepBits = (bits: Bits, bitsToKeep: Bits): Bits => {
  for (let word = 0; word < words; word++) bits[word] = (bits[word] ?? 0) & (bitsToKeep[word] ?? 0);
  return bits;
};
/** Clears in `bits` all bits that are set in `dropped`. */
const dropBits = (bits: Bits, dropped: Bits): Bits => {
  for (let word = 0; word < words; word++) bits[word] = (bits[word] ?? 0) & ~(dropped[word] ?? 0);
  return bits;
};

/** How many bits are set. */
export const countBits = (bits: Bits): number => {
  let count = 0;
  for (let word = 0; word < words; word++) {
    let remainingBits = bits[word] ?? 0;
    remainingBits -= (remainingBits >>> 1) & 0x55555555;
    remainingBits = (remainingBits & 0x33333333) + ((remainingBits >>> 2) & 0x33333333);
    count += Math.imul((remainingBits + (remainingBits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
};

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
  readonly knownTotal?: number;
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
  { skip, limit, order, matching, refused, knownTotal }: Scan,
): { readonly entries: readonly E[]; readonly total: number } => {
  const entries: E[] = [];
  let total = 0;
  for (let nth = 0; nth < blocks.length; nth++) {
    if (knownTotal !== undefined && entries.length === limit) break;
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
  return { entries, total: knownTotal ?? total };
};

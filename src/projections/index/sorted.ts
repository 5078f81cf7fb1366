import { LRUCache } from 'lru-cache';

/** A run of neighbours in a sorted list. */
export type Block<T, D> = {
  readonly keys: string[];
  readonly items: T[];
  /** Data that a reader has computed from the items; undefined again once they change. */
  derived: D | undefined;
};

/**
 * Items in the order of their keys (UTF-16 code units, as `<` compares); each key occurs once. They are kept in blocks
 * of at most `blockSize`. So a change moves few items, and outdates the derived data of one block only.
 */
export type SortedList<T, D> = {
  readonly blocks: readonly Block<T, D>[];
  /**
   * A count for each block, in their order; `unknown` once a block's derived data is outdated. Readers fill it in. The
   * list keeps the counts of the last names.
   */
  counts(name: string): number[];
  has(key: string): boolean;
  /** The key must not be in the list. */
  insert(key: string, item: T): void;
  /** The key must be in the list. */
  remove(key: string): void;
  /** Replaces the item of the key, which must be in the list. `alike`: both items give the same derived data. */
  replace(key: string, item: T, alike: boolean): void;
  /** Items whose rank (0 is the least key) is at least `from` and less than `to`. Both are limited to the list. */
  slice(from: number, to: number): T[];
  /** Items whose keys begin with the prefix. */
  startingWith(prefix: string): T[];
};

export const blockSize = 512;
// A new block has `filled` items, which leaves room for inserts before the first split. A block with fewer than
// `sparse` items joins a neighbour with room.
const filled = 384;
const sparse = 128;
/** Stands in the counts of a list for a block that is not counted. */
export const unknown = -1;
const keptCounts = 16;

/** Index of the first key that is not less than the given one. */
const lowerBound = (keys: readonly string[], key: string): number => {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    // There is a key at each index between low and high.
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * Makes a list of these items, given in any order; keys are unique. It sorts once, which is far cheaper than that many
 * inserts.
 */
export const sortedList = <T, D>(unsorted: readonly (readonly [key: string, item: T])[] = []): SortedList<T, D> => {
  const sorted = unsorted.toSorted(([a], [b]) => (a < b ? -1 : 1));
  // There is always at least one block; it may be empty.
  const blocks: Block<T, D>[] = [{ keys: [], items: [], derived: undefined }];
  for (let at = 0; at < sorted.length; at += filled) {
    const part = sorted.slice(at, at + filled);
    blocks[at / filled] = { keys: part.map(([key]) => key), items: part.map(([, item]) => item), derived: undefined };
  }
  // No key of a block is less than the block's bound, and all are less than the next bound. The first bound is below
  // all keys.
  const bounds = blocks.map(({ keys }, at) => (at === 0 ? '' : (keys[0] ?? '')));

  /** The index of the block that holds the key, or into which it would be inserted. */
  const blockIndexOf = (key: string): number => {
    const at = lowerBound(bounds, key);
    return bounds[at] === key ? at : at - 1;
  };

  const counted = new LRUCache<string, number[]>({ max: keptCounts });

  const outdate = (blockIndex: number, block: Block<T, D>): void => {
    block.derived = undefined;
    for (const counts of counted.values()) counts[blockIndex] = unknown;
  };

  /** Puts a block at an index. Those from there on move up. */
  const add = (blockIndex: number, block: Block<T, D>): void => {
    const [bound = ''] = block.keys;
    blocks.splice(blockIndex, 0, block);
    bounds.splice(blockIndex, 0, bound);
    for (const counts of counted.values()) counts.splice(blockIndex, 0, unknown);
  };

  const blockAt = (blockIndex: number): Block<T, D> => blocks[blockIndex]!; // callers use existing indexes only

  const place = (key: string): [blockIndex: number, block: Block<T, D>, at: number] => {
    const blockIndex = blockIndexOf(key);
    const block = blockAt(blockIndex);
    const at = lowerBound(block.keys, key);
    if (block.keys[at] !== key) throw new Error('No such key in the sorted list');
    return [blockIndex, block, at];
  };

  const split = (blockIndex: number, { keys, items }: Block<T, D>): void => {
    const half = keys.length >>> 1;
    add(blockIndex + 1, { keys: keys.splice(half), items: items.splice(half), derived: undefined });
  };

  const joinNext = (blockIndex: number): void => {
    const lower = blocks[blockIndex];
    const upper = blocks[blockIndex + 1];
    if (!lower || !upper || lower.keys.length + upper.keys.length > blockSize) return;
    lower.keys.push(...upper.keys);
    lower.items.push(...upper.items);
    outdate(blockIndex, lower);
    blocks.splice(blockIndex + 1, 1);
    bounds.splice(blockIndex + 1, 1);
    for (const counts of counted.values()) counts.splice(blockIndex + 1, 1);
  };

  return {
    blocks,
    counts(name) {
      const cachedCounts = counted.get(name);
      if (cachedCounts) return cachedCounts;
      const counts = blocks.map(() => unknown);
      counted.set(name, counts);
      return counts;
    },
    has(key) {
      const { keys } = blockAt(blockIndexOf(key));
      return keys[lowerBound(keys, key)] === key;
    },
    insert(key, item) {
      const blockIndex = blockIndexOf(key);
      const block = blockAt(blockIndex);
      const at = lowerBound(block.keys, key);
      // Items that come in order leave full blocks behind, not halves.
      if (at >= filled && at === block.keys.length && blockIndex === blocks.length - 1)
        return add(blocks.length, { keys: [key], items: [item], derived: undefined });
      block.keys.splice(at, 0, key);
      block.items.splice(at, 0, item);
      outdate(blockIndex, block);
      if (block.keys.length > blockSize) split(blockIndex, block);
    },
    remove(key) {
      const [blockIndex, block, at] = place(key);
      block.keys.splice(at, 1);
      block.items.splice(at, 1);
      outdate(blockIndex, block);
      if (block.keys.length < sparse) {
        joinNext(blockIndex);
        joinNext(blockIndex - 1);
      }
    },
    replace(key, item, alike) {
      const [blockIndex, block, at] = place(key);
      block.items[at] = item;
      if (!alike) outdate(blockIndex, block);
    },
    slice(from, to) {
      const found: T[] = [];
      let rank = 0;
      for (const { items } of blocks) {
        if (rank >= to) break;
        // There is an item at each index below the length.
        for (let at = Math.max(0, from - rank); at < items.length && rank + at < to; at++) found.push(items[at]!);
        rank += items.length;
      }
      return found;
    },
    startingWith(prefix) {
      const found: T[] = [];
      let blockIndex = blockIndexOf(prefix);
      for (let block = blocks[blockIndex]; block; block = blocks[++blockIndex]) {
        const { keys, items } = block;
        for (let at = lowerBound(keys, prefix); at < keys.length; at++) {
          if (!keys[at]?.startsWith(prefix)) return found;
          found.push(items[at]!); // each key has an item
        }
      }
      return found;
    },
  };
};

const beyondAscii = /[\0\u0080-\uffff]/;

/**
 * A string whose UTF-16 units are the UTF-8 bytes of the text, so that `<` compares bytes. In UTF-16 order U+E000 would
 * come after U+10000. NUL becomes NUL FF, so that a single NUL can end a part of a key.
 */
const bytes = (text: string): string =>
  beyondAscii.test(text) ? Buffer.from(text).toString('latin1').replaceAll('\0', '\0\xff') : text;

/** The beginning that the sort keys of all entries with exactly this value have, and no other keys. */
export const valueKey = (value: string): string => `${bytes(value.toLowerCase())}\0${bytes(value)}\0`;

/** A key that `<` orders by lower-cased value, then value, then id, each by UTF-8 bytes. */
export const sortKey = (value: string, id: string): string => valueKey(value) + bytes(id);

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CollectionSpec, Entry, Query, Where } from '../engine/port.ts';
import { type Derived, type Matching, matcher, matchesIn, scan } from './columns.ts';
import { type SortedList, sortedList, sortKey, unknown, valueKey } from './sorted.ts';

/** The part of an entry that the index needs. The text may be kept elsewhere. */
export type Indexed = Omit<Entry, 'text'>;

/** The documents of one collection by id, in every order, by filter and by guard. All functions are synchronous. */
export type CollectionIndex<E extends Indexed> = {
  get(id: string): E | undefined;
  put(entry: E): void;
  remove(id: string): void;
  /** Removes all entries of a part in constant time. Throws in a collection without parts: such a call is a bug. */
  removePart(part: string): void;
  clear(): void;
  /** All entries, or all entries of a part, in no particular order. */
  all(part?: string): Iterable<E>;
  /** Entries whose first sort field has exactly this value, in order. */
  named(name: string): readonly E[];
  /**
   * A page of the query's matches. Without a filter it takes microseconds, wherever the page is; with one, about a
   * millisecond for 100,000 entries.
   */
  page(query: Query): { readonly entries: readonly E[]; readonly total: number };
  /**
   * Does in slices what `page` and `named` would do at once, and hold up other work for seconds: it sorts many entries and
   * looks for a filter's matches. Without a query it prepares `named`. Undefined: there is nothing to do.
   */
  prepare(query?: Pick<Query, 'part' | 'sort' | 'where'>): Promise<void> | undefined;
  /** Grows with every change. */
  version(): number;
};

/** So few blocks are searched at once. */
const fewBlocks = 16;

const same = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((value, at) => value === b[at]);

export const collectionIndex = <E extends Indexed>({ name, sorts, filters }: CollectionSpec): CollectionIndex<E> => {
  const [nameSort = ''] = sorts;
  const entries = new Map<string, E>();
  const guards = new Map<string, number>();
  const sharing = shared<E>();
  let version = 0;

  const count = (guard: string | undefined, more: 1 | -1): void => {
    if (guard === undefined) return;
    const guardCount = (guards.get(guard) ?? 0) + more;
    if (guardCount === 0) guards.delete(guard);
    else guards.set(guard, guardCount);
  };

  const alike = (a: E, b: E): boolean =>
    a.guard === b.guard && filters.every((field) => same(a.filters[field], b.filters[field]));

  const lists = sortedLists<E, Derived>({ entries, alike });

  const checkSort = (sort: string): void => {
    if (!sorts.includes(sort)) throw new Error(`Collection ${name} has no sort field ${sort}`);
  };

  const matchingOf = (list: SortedList<E, Derived>, where: Where): Matching => ({
    match: matcher(where, filters),
    counts: list.counts(JSON.stringify(where)),
  });

  const countMatches = async (list: SortedList<E, Derived>, matching: Matching): Promise<void> => {
    const slice = slices();
    for (let at = 0; at < list.blocks.length; at++) {
      const block = list.blocks[at];
      if (!block || matching.counts[at] !== unknown) continue;
      matchesIn(matching, block, at);
      if (slice.isOver()) await slice.next();
    }
  };

  /** Counts a filter's matches in slices, if many blocks are not counted. */
  const prepareMatches = (sort: string, where: Where | undefined): Promise<void> | undefined => {
    const list = lists.by(sort);
    if (!where || list.blocks.length <= fewBlocks) return undefined;
    const matching = matchingOf(list, where);
    const uncounted = matching.counts.filter((count) => count === unknown);
    return uncounted.length <= fewBlocks ? undefined : countMatches(list, matching);
  };

  return {
    get: (id) => entries.get(id),
    all: () => entries.values(),
    put(newEntry) {
      const before = entries.get(newEntry.id);
      const entry = sharing(newEntry);
      entries.set(entry.id, entry);
      count(before?.guard, -1);
      count(entry.guard, 1);
      lists.put(before, entry);
      version++;
    },
    remove(id) {
      const before = entries.get(id);
      if (!before) return;
      entries.delete(id);
      count(before.guard, -1);
      lists.remove(before);
      version++;
    },
    removePart: () => {
      throw new Error(`Collection ${name} has no parts`);
    },
    clear() {
      entries.clear();
      guards.clear();
      lists.clear();
      version++;
    },
    named: (value) => lists.by(nameSort).startingWith(valueKey(value)),
    page({ where, sort, order, skip, limit, may }) {
      checkSort(sort);
      const list = lists.by(sort);
      const refused = new Set<string>();
      let total = entries.size;
      if (may)
        for (const [guard, counted] of guards) {
          if (may(guard)) continue;
          refused.add(guard);
          total -= counted;
        }
      if (where) return scan(list, { skip, limit, order, refused, matching: matchingOf(list, where) });
      if (refused.size > 0) return scan(list, { skip, limit, order, refused, knownTotal: total });
      if (order === 1) return { entries: list.slice(skip, skip + limit), total };
      return { entries: list.slice(total - skip - limit, total - skip).reverse(), total };
    },
    prepare: ({ sort, where } = { sort: nameSort }) => {
      checkSort(sort);
      const sorting = lists.prepare(sort);
      return sorting ? sorting.then(() => prepareMatches(sort, where)) : prepareMatches(sort, where);
    },
    version: () => version,
  };
};

/** The part of an id: the text before its first slash. Throws an Error if there is none. */
export const parentOf = (id: string): string => {
  const slash = id.indexOf('/');
  if (slash < 1) throw new Error(`The id ${id} names no part`);
  return id.slice(0, slash);
};

/**
 * A collection in parts, each with an index of its own. So the cost of a list depends on its part alone, and a part is
 * removed in constant time.
 */
export const partedIndex = <E extends Indexed>(spec: CollectionSpec): CollectionIndex<E> => {
  const parts = new Map<string, CollectionIndex<E>>();
  let version = 0;

  const ofId = (id: string): CollectionIndex<E> | undefined => parts.get(id.slice(0, Math.max(0, id.indexOf('/'))));

  return {
    get: (id) => ofId(id)?.get(id),
    *all(part) {
      if (part !== undefined) return yield* parts.get(part)?.all() ?? [];
      for (const index of parts.values()) yield* index.all();
    },
    put(entry) {
      const part = parentOf(entry.id);
      const index = parts.get(part) ?? collectionIndex<E>(spec);
      parts.set(part, index);
      index.put(entry);
      version++;
    },
    remove(id) {
      ofId(id)?.remove(id);
      version++;
    },
    removePart(part) {
      parts.delete(part);
      version++;
    },
    clear() {
      parts.clear();
      version++;
    },
    named: () => {
      throw new Error(`Collection ${spec.name} is kept in parts`);
    },
    page(query) {
      if (query.part === undefined) throw new Error(`Collection ${spec.name} is kept in parts; which one?`);
      return parts.get(query.part)?.page(query) ?? { entries: [], total: 0 };
    },
    prepare: (query) => (query?.part === undefined ? undefined : parts.get(query.part)?.prepare(query)),
    version: () => version,
  };
};

type Fields = Pick<Entry, 'id' | 'sorts' | 'filters'>;

const none: readonly string[] = Object.freeze([]);
const noFilters: Entry['filters'] = Object.freeze({});
/** How many values of a field are remembered. A field with more, such as a name, has few that are the same. */
const mostValues = 1000;

/**
 * Makes the entries of a collection share what is the same: there may be millions. The values of a filter field are one
 * list for all entries that have them. A text that an entry has several times is kept once.
 */
export const shared = <E extends Fields>() => {
  const lists = new Map<string, Map<string, readonly string[]>>();

  const listOf = (field: string, values: readonly string[]): readonly string[] => {
    const [value] = values;
    if (value === undefined) return none;
    if (values.length > 1) return values;
    const listsOfField = lists.get(field) ?? new Map<string, readonly string[]>();
    lists.set(field, listsOfField);
    const list = listsOfField.get(value);
    if (list) return list;
    if (listsOfField.size < mostValues) listsOfField.set(value, values);
    return values;
  };

  const filtersOf = ({ filters }: E): Entry['filters'] => {
    let found: Record<string, readonly string[]> | undefined;
    for (const field in filters) {
      found ??= {};
      found[field] = listOf(field, filters[field] ?? none);
    }
    return found ?? noFilters;
  };

  const sortsOf = ({ id, sorts }: E, filters: Entry['filters']): Entry['sorts'] => {
    const found: Record<string, string> = {};
    for (const field in sorts) {
      const value = sorts[field] ?? '';
      const same = value === id ? id : filters[field]?.[0];
      found[field] = same === value ? same : value;
    }
    return found;
  };

  return (entry: E): E => {
    const filters = filtersOf(entry);
    return { ...entry, filters, sorts: sortsOf(entry, filters) };
  };
};

type Needs<E> = {
  /** All entries by id, as they are now. */
  readonly entries: ReadonlyMap<string, E>;
  /** True if two versions of an entry give the same derived data. */
  readonly alike: (before: E, after: E) => boolean;
};

type Sorted = Pick<Entry, 'id' | 'sorts'>;

type Making<E, D> = { readonly list: SortedList<E, D>; readonly filling: Promise<void> };

/** So few entries are sorted at once. */
const few = 5000;

/** The sort key of an entry. Every entry has all sort fields. */
const keyOf = (sort: string, { id, sorts }: Sorted): string => sortKey(sorts[sort] ?? '', id);

/** Removes what may not be in the list yet. */
const removeFrom = <E, D>(list: SortedList<E, D>, key: string): void => {
  if (list.has(key)) list.remove(key);
};

/**
 * The entries of a collection in each order. An order is made when it is first asked for, because a replay fills the
 * collection before anybody reads it.
 */
const sortedLists = <E extends Sorted, D>({ entries, alike }: Needs<E>) => {
  const lists = new Map<string, SortedList<E, D>>();
  const making = new Map<string, Making<E, D>>();

  /** Fills a list entry by entry. Changes of that time are put into it by `put` and `remove`. */
  const fill = async (sort: string, list: SortedList<E, D>): Promise<void> => {
    const slice = slices();
    for (const entry of entries.values()) {
      const key = keyOf(sort, entry);
      if (!list.has(key)) list.insert(key, entry);
      if (!slice.isOver()) continue;
      await slice.next();
      // The collection was cleared, or the list was needed at once.
      if (making.get(sort)?.list !== list) return;
    }
    making.delete(sort);
    lists.set(sort, list);
  };

  return {
    /** The list by a sort field. Makes it at once if need be. */
    by: (sort: string): SortedList<E, D> => {
      const cachedList = lists.get(sort);
      if (cachedList) return cachedList;
      making.delete(sort);
      const list = sortedList<E, D>(Array.from(entries.values(), (entry) => [keyOf(sort, entry), entry]));
      lists.set(sort, list);
      return list;
    },
    /** Makes the list of many entries in slices, between which other work has its turn. Undefined: there is no need. */
    prepare: (sort: string): Promise<void> | undefined => {
      if (lists.has(sort) || entries.size <= few) return undefined;
      const makingList = making.get(sort);
      if (makingList) return makingList.filling;
      const list = sortedList<E, D>();
      // It begins in a later turn, when the list is among those that are made.
      const filling = Promise.resolve().then(() => fill(sort, list));
      making.set(sort, { list, filling });
      return filling;
    },
    put: (before: E | undefined, entry: E): void => {
      for (const [sort, list] of lists) {
        const key = keyOf(sort, entry);
        if (before && before.sorts[sort] === entry.sorts[sort]) list.replace(key, entry, alike(before, entry));
        else {
          if (before) list.remove(keyOf(sort, before));
          list.insert(key, entry);
        }
      }
      for (const [sort, { list }] of making) {
        if (before) removeFrom(list, keyOf(sort, before));
        list.insert(keyOf(sort, entry), entry);
      }
    },
    remove: (before: E): void => {
      for (const [sort, list] of lists) list.remove(keyOf(sort, before));
      for (const [sort, { list }] of making) removeFrom(list, keyOf(sort, before));
    },
    clear: (): void => {
      lists.clear();
      making.clear();
    },
  };
};

const leastMs = 2;
const mostMs = 20;
const stepsAtOnce = 16;

/** Divides long work into slices, between which requests have their turn: about half of the time, if they need it. */
const slices = () => {
  let steps = 0;
  let until = performance.now() + leastMs;
  return {
    /** To be called after each step of the work. True once the slice is over. */
    isOver: (): boolean => ++steps % stepsAtOnce === 0 && performance.now() >= until,
    /** Waits for the next slice. It is as long as the turn of the requests was, within bounds. */
    next: async (): Promise<void> => {
      const began = performance.now();
      await nextTurn();
      const now = performance.now();
      until = now + Math.min(Math.max(now - began, leastMs), mostMs);
    },
  };
};

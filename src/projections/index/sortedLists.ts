import { slices } from '../../concurrency/slices.ts';
import type { Entry } from '../engine/port.ts';
import { type SortedList, sortedList, sortKey } from './sorted.ts';

type Needs<E> = {
  /** All entries by id, as they are now. */
  readonly entries: ReadonlyMap<string, E>;
  /** True if two versions of an entry give the same derived data. */
  readonly alike: (before: E, after: E) => boolean;
};

type Sorted = Pick<Entry, 'id' | 'sorts'>;

type Making<E, D> = { readonly list: SortedList<E, D>; readonly done: Promise<void> };

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
export const sortedLists = <E extends Sorted, D>({ entries, alike }: Needs<E>) => {
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
      const known = lists.get(sort);
      if (known) return known;
      making.delete(sort);
      const list = sortedList<E, D>(Array.from(entries.values(), (entry) => [keyOf(sort, entry), entry]));
      lists.set(sort, list);
      return list;
    },
    /** Makes the list of many entries in slices, between which other work has its turn. Undefined: there is no need. */
    prepare: (sort: string): Promise<void> | undefined => {
      if (lists.has(sort) || entries.size <= few) return undefined;
      const known = making.get(sort);
      if (known) return known.done;
      const list = sortedList<E, D>();
      // It begins in a later turn, when the list is among those that are made.
      const done = Promise.resolve().then(() => fill(sort, list));
      making.set(sort, { list, done });
      return done;
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

import type { Change, CollectionSpec } from '../engine/port.ts';
import { type CollectionIndex, collectionIndex, type Indexed, parentOf, partedIndex } from './collectionIndex.ts';

/** A change whose entry may lack its text. */
export type IndexChange<E extends Indexed> = Omit<Change, 'entry'> & { readonly entry?: E };

/** The indexes of all collections. */
export type Collections<E extends Indexed> = {
  /** The index of a collection. Throws an Error if there is no such collection. */
  of(name: string): CollectionIndex<E>;
  /** Makes all changes, or throws and makes none: it checks all of them first. */
  apply(changes: readonly IndexChange<E>[]): void;
  /** Makes changes that were checked. */
  make(changes: readonly IndexChange<E>[]): void;
  /** Throws an Error if `apply` would throw for these changes. */
  check(changes: readonly IndexChange<E>[]): void;
  /** All entries, each with its collection's name. */
  all(): Iterable<readonly [string, E]>;
  /** Removes everything, then makes these changes. Versions still grow. */
  reset(changes: readonly IndexChange<E>[]): void;
};

/** Throws an Error unless the step may follow: each position stands for one state. */
export const checkStep = (changes: readonly unknown[], from: number, to: number): void => {
  if (to < from || (to === from && changes.length > 0))
    throw new Error(`A step of the read models leads from ${from} to ${to}`);
};

export const collections = <E extends Indexed>(specs: readonly CollectionSpec[]): Collections<E> => {
  const indexes = new Map(
    specs.map((spec) => [
      spec.name,
      { spec, index: spec.partitioned ? partedIndex<E>(spec) : collectionIndex<E>(spec) },
    ]),
  );

  const collectionNamed = (name: string) => {
    const found = indexes.get(name);
    if (!found) throw new Error(`No collection ${name}`);
    return found;
  };

  const check = (changes: readonly IndexChange<E>[]): void => {
    for (const { collection, id, entry, wholePart } of changes) {
      const { spec } = collectionNamed(collection);
      if (wholePart && !spec.partitioned) throw new Error(`Collection ${collection} has no parts`);
      if (spec.partitioned && !wholePart) parentOf(id);
      if (!entry) continue;
      if (entry.id !== id) throw new Error(`Document ${id} of ${collection} has the id ${entry.id}`);
      for (const sort of spec.sorts) {
        if (typeof entry.sorts[sort] !== 'string')
          throw new Error(`Document ${id} of ${collection} lacks its sort field ${sort}`);
      }
      for (const filter of spec.filters) {
        if (!Array.isArray(entry.filters[filter]))
          throw new Error(`Document ${id} of ${collection} lacks its filter field ${filter}`);
      }
    }
  };

  const make = (changes: readonly IndexChange<E>[]): void => {
    for (const { collection, id, entry, wholePart } of changes) {
      const { index } = collectionNamed(collection);
      if (wholePart) index.removePart(id);
      else if (entry) index.put(entry);
      else index.remove(id);
    }
  };

  return {
    of: (name) => collectionNamed(name).index,
    check,
    make,
    *all() {
      for (const [name, { index }] of indexes) for (const entry of index.all()) yield [name, entry];
    },
    apply(changes) {
      check(changes);
      make(changes);
    },
    reset(changes) {
      check(changes);
      for (const { index } of indexes.values()) index.clear();
      make(changes);
    },
  };
};

import type { CollectionSpec } from '../engine/port.ts';
import { type CollectionIndex, collectionIndex, type Indexed } from './collectionIndex.ts';

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

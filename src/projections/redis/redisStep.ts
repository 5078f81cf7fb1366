import type { Change, Entry } from '../engine/port.ts';
import type { Indexed } from '../index/collectionIndex.ts';
import type { Collections } from '../index/collections.ts';

/** The field of a document, or of a part, in the hashes. */
export const fieldOf = (collection: string, id: string): string => `${collection}/${id}`;

/** What the index keeps of an entry. */
export const restOf = ({ text: _, ...rest }: Entry): Indexed => rest;

/**
 * The changes as the script `apply` takes them, from its counts on: of several of one document only the last, and what
 * goes with a part before all that is written after it. `there` is what Redis holds.
 */
export const redisStep = (changes: readonly Change[], there: Collections<Indexed>): readonly string[] => {
  const parts = new Map<string, readonly string[]>();
  const latest = new Map<string, Entry | undefined>();
  for (const { collection, id, entry, wholePart } of changes) {
    const field = fieldOf(collection, id);
    if (!wholePart) latest.set(field, entry);
    else {
      for (const earlier of latest.keys()) if (earlier.startsWith(`${field}/`)) latest.delete(earlier);
      parts.set(
        field,
        Array.from(there.of(collection).all(id), (gone) => fieldOf(collection, gone.id)),
      );
    }
  }
  const written = [...latest].flatMap(([field, entry]) =>
    entry ? [field, entry.text, JSON.stringify(restOf(entry))] : [],
  );
  const removed = [...latest].flatMap(([field, entry]) => (entry ? [] : [field]));
  return [
    ...[written.length / 3, removed.length, parts.size].map(String),
    ...written,
    ...removed,
    ...parts.keys(),
    ...[...parts.values()].flat(),
  ];
};

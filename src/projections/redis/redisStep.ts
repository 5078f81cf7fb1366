import type { Change, Entry } from '../engine/port.ts';
import type { Indexed } from '../index/collectionIndex.ts';
import type { Collections } from '../index/collections.ts';

/** The field of a document or a part in the hashes of Redis. */
export const fieldOf = (collection: string, id: string): string => `${collection}/${id}`;

/** The rest of an entry, which the index keeps: all but the text. */
export const restOf = ({ text: _, ...rest }: Entry): Indexed => rest;

/**
 * The changes as arguments of the script `apply`, from its counts on. Of several changes of a document only the last
 * counts, and a part is removed before documents are written to it again. `there` is the content of Redis.
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

/** Documents to write and to remove, as arguments of the script `mend`, from its count on. */
export const mendingStep = (changes: readonly Change[]): readonly string[] => {
  const written = changes.flatMap(({ collection, id, entry }) =>
    entry ? [fieldOf(collection, id), entry.text, JSON.stringify(restOf(entry))] : [],
  );
  const removed = changes.flatMap(({ collection, id, entry }) => (entry ? [] : [fieldOf(collection, id)]));
  return [String(written.length / 3), ...written, ...removed];
};

import type { Projection } from './define.ts';
import { keyOf } from './parked.ts';
import type { Change, CollectionSpec, Entry } from './port.ts';

/**
 * The collection of the last guards of documents that were deleted. An entry's id is `<collection>/<id>`. It stays when
 * the document is made anew, and is written again when that one is deleted. What is retired has none: it keeps its guard
 * as long as it is there.
 */
export const goneSpec: CollectionSpec = { name: 'gone', sorts: ['name'], filters: [] };

/** Keeps the last guards of the documents that were deleted since the last drain. */
export const newGone = () => {
  const newlyGone = new Map<string, Entry>();
  return {
    note: ({ collection, guard }: Projection, id: string, last: unknown, revision: number): void => {
      if (!guard) return;
      const key = keyOf(collection, id);
      const entry = { id: key, text: '{}', revision, sorts: { name: key }, filters: {} };
      const own = guard(last);
      newlyGone.set(key, own === undefined ? entry : { ...entry, guard: own });
    },
    reset: (): void => newlyGone.clear(),
    drain: (changes: Change[]): void => {
      for (const [id, entry] of newlyGone) changes.push({ collection: goneSpec.name, id, entry });
      newlyGone.clear();
    },
  };
};

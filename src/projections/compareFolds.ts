import { isDeepStrictEqual } from 'node:util';
import type { Entry } from './engine/port.ts';
import type { Fold } from './foldLog.ts';

/** The result of a comparison of a collection: how many documents it should have, and the ids of those that differ. */
export type Compared = { readonly name: string; readonly documents: number; readonly differences: readonly string[] };

/** Whether two entries tell and find the same document. Members may come in another order. */
export const isSameEntry = (one: Entry | undefined, other: Entry | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.text === other.text && isDeepStrictEqual(one, other);

const idsIn = (fold: Fold): ReadonlyMap<string, ReadonlySet<string>> => {
  const ids = new Map<string, Set<string>>();
  for (const [collection, { id }] of fold.model.entries())
    ids.set(collection, (ids.get(collection) ?? new Set()).add(id));
  return ids;
};

/** The documents of two folds, compared one by one. Differences are sorted. */
export const compareFolds = async (one: Fold, other: Fold): Promise<readonly Compared[]> => {
  const [ours, theirs] = [idsIn(one), idsIn(other)];
  const results: Compared[] = [];
  for (const name of new Set([...ours.keys(), ...theirs.keys()])) {
    const documents = ours.get(name)?.size ?? 0;
    const differences: string[] = [];
    for (const id of new Set([...(ours.get(name) ?? []), ...(theirs.get(name) ?? [])])) {
      const [here, there] = [await one.model.get(name, id), await other.model.get(name, id)];
      if (!isSameEntry(here, there)) differences.push(id);
    }
    results.push({ name, documents, differences: differences.sort() });
  }
  return results.sort((a, b) => (a.name < b.name ? -1 : 1));
};

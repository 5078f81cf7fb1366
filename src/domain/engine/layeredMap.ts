/**
 * An immutable map whose versions share data. An addition of n entries to a map of m entries costs about n log m on
 * average. The newest layer is the last; its values win. An undefined value hides those below it.
 */
export type Layers<V> = { readonly size: number; readonly layers: readonly ReadonlyMap<string, V | undefined>[] };

export const empty: Layers<never> = { size: 0, layers: [] };

/** The value of the name. */
export const get = <V>({ layers }: Layers<V>, name: string): V | undefined => {
  for (let i = layers.length - 1; i >= 0; i--) {
    const value = layers[i]?.get(name);
    if (value !== undefined || layers[i]?.has(name)) return value;
  }
  return undefined;
};

/**
 * The map with other values under these names; undefined removes one. Each layer stays more than twice as large as the
 * next, so that there are few layers.
 */
const changedBy = <V>(map: Layers<V>, entries: Iterable<readonly [name: string, value: V | undefined]>): Layers<V> => {
  let newest = new Map<string, V | undefined>(entries);
  let { size } = map;
  for (const [name, value] of newest) {
    if (get(map, name) !== undefined) size--;
    if (value !== undefined) size++;
  }
  let kept = map.layers.length;
  for (let layer = map.layers[kept - 1]; layer && layer.size <= 2 * newest.size; layer = map.layers[--kept - 1]) {
    const merged = new Map(layer);
    for (const [name, value] of newest) merged.set(name, value);
    newest = merged;
  }
  // Nothing is below the lowest layer that could be hidden.
  if (kept === 0) for (const [name, value] of newest) if (value === undefined) newest.delete(name);
  return { size, layers: newest.size === 0 ? map.layers.slice(0, kept) : [...map.layers.slice(0, kept), newest] };
};

/** The map with further entries, or other values. */
export const withAll = <V>(map: Layers<V>, entries: Iterable<readonly [name: string, value: V]>): Layers<V> =>
  changedBy(map, entries);

/** The map without these names. */
export const withoutAll = <V>(map: Layers<V>, names: readonly string[]): Layers<V> =>
  changedBy(
    map,
    names.map((name): [string, undefined] => [name, undefined]),
  );

/** All entries of the map; each name once, with its newest value. */
export const entriesIn = <V>({ layers }: Layers<V>): ReadonlyMap<string, V> => {
  const entries = new Map<string, V>();
  for (const layer of layers)
    for (const [name, value] of layer) {
      if (value === undefined) entries.delete(name);
      else entries.set(name, value);
    }
  return entries;
};

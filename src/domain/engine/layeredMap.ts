/**
 * An immutable map whose versions share data. An addition of n entries to a map of m entries costs about n log m on
 * average. The newest layer is the last; its values win.
 */
export type Layers<V> = { readonly size: number; readonly layers: readonly ReadonlyMap<string, V>[] };

export const empty: Layers<never> = { size: 0, layers: [] };

/** The value of the name. */
export const get = <V>({ layers }: Layers<V>, name: string): V | undefined =>
  layers.findLast((layer) => layer.has(name))?.get(name);

/**
 * The map with further entries. Each layer stays more than twice as large as the next, so that there are few layers.
 */
export const withAll = <V>(map: Layers<V>, entries: Iterable<readonly [name: string, value: V]>): Layers<V> => {
  let newest = new Map(entries);
  const size = [...newest.keys()].reduce((sum, name) => (get(map, name) === undefined ? sum + 1 : sum), map.size);
  let kept = map.layers.length;
  for (let layer = map.layers[kept - 1]; layer && layer.size <= 2 * newest.size; layer = map.layers[--kept - 1]) {
    const merged = new Map(layer);
    for (const [name, value] of newest) merged.set(name, value);
    newest = merged;
  }
  return { size, layers: newest.size === 0 ? map.layers : [...map.layers.slice(0, kept), newest] };
};

/** All entries of the map; each name once, with its newest value. */
export const entriesIn = <V>({ layers }: Layers<V>): ReadonlyMap<string, V> =>
  new Map(layers.flatMap((layer) => [...layer]));

/**
 * An immutable map whose versions share data. An addition of n entries to a map of m entries costs about n log m on
 * average. The newest layer is the last; its values win. An undefined value hides those below it.
 */
export type Layers<V> = { readonly size: number; readonly layers: readonly ReadonlyMap<string, V | undefined>[] };

export const empty: Layers<never> = { size: 0, layers: [] };

/** The value of the name in the lowest `count` layers. */
const getBelow = <V>(layers: Layers<V>['layers'], count: number, name: string): V | undefined => {
  for (let i = count - 1; i >= 0; i--) {
    const value = layers[i]?.get(name);
    if (value !== undefined || layers[i]?.has(name)) return value;
  }
  return undefined;
};

/** The value of the name. */
export const get = <V>({ layers }: Layers<V>, name: string): V | undefined => getBelow(layers, layers.length, name);

/**
 * The map with further entries, or other values under these names; undefined removes one. Each layer stays more than twice as large as the
 * next, so that there are few layers. Those that must become one are copied once.
 */
export const withAll = <V>(
  map: Layers<V>,
  entries: readonly (readonly [name: string, value: V | undefined])[],
): Layers<V> => {
  const { layers } = map;
  let [kept, most] = [layers.length, entries.length];
  for (let layer = layers[kept - 1]; layer && layer.size <= 2 * most; layer = layers[--kept - 1]) most += layer.size;
  const newest = new Map(layers[kept]);
  for (const layer of layers.slice(kept + 1)) for (const [name, value] of layer) newest.set(name, value);
  let { size } = map;
  for (const [name, value] of entries) {
    const own = newest.get(name);
    const before = own !== undefined || newest.has(name) ? own : getBelow(layers, kept, name);
    size += Number(value !== undefined) - Number(before !== undefined);
    newest.set(name, value);
  }
  // Nothing is below the lowest layer that could be hidden.
  if (kept === 0) for (const [name, value] of newest) if (value === undefined) newest.delete(name);
  return { size, layers: newest.size === 0 ? layers.slice(0, kept) : [...layers.slice(0, kept), newest] };
};

/** The map without these names. */
export const withoutAll = <V>(map: Layers<V>, names: readonly string[]): Layers<V> =>
  withAll(
    map,
    names.map((name): [string, undefined] => [name, undefined]),
  );

/** A map whose newest layer `put` changes in place. Its size is that of `base`, the map below that layer. */
export type OpenLayers<V> = Layers<V> & { readonly base: Layers<V>; readonly newest: Map<string, V> };

/** A map that changes in place, above one that stays. */
export const openMap = <V>(base: Layers<V>): OpenLayers<V> => {
  const newest = new Map<string, V>();
  return { size: base.size, layers: [...base.layers, newest], base, newest };
};

export const put = <V>({ newest }: OpenLayers<V>, name: string, value: V): void => void newest.set(name, value);

/** The map as it is now, which stays. */
export const closeMap = <V>({ base, newest }: OpenLayers<V>): Layers<V> =>
  newest.size === 0 ? base : withAll(base, [...newest]);

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

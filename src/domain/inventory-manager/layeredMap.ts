/**
 * A map that later ones share: adding to it leaves it as it was and costs, on average, what is added times a logarithm,
 * however large it is. Newest layer last; where two know a name, the newer one counts.
 */
export type Layers<V> = { readonly size: number; readonly layers: readonly ReadonlyMap<string, V>[] };

export const empty: Layers<never> = { size: 0, layers: [] };

/** What is kept under the name. */
export const get = <V>({ layers }: Layers<V>, name: string): V | undefined =>
  layers.findLast((layer) => layer.has(name))?.get(name);

/** With further entries. Each layer stays more than twice as large as the next, so that there are few of them. */
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

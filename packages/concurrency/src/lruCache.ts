import { LRUCache } from 'lru-cache';

/**
 * A cache that keeps the entries that were used last, `most` at most. It takes memory for what it holds: with the option
 * `max`, LRUCache makes room for all of them at once, which takes milliseconds and megabytes at each start.
 */
export const lruCache = <Value extends object | string | number | boolean>(
  most: number,
  options: Pick<LRUCache.Options<string, Value, unknown>, 'dispose'> = {},
): LRUCache<string, Value> => new LRUCache<string, Value>({ maxSize: most, sizeCalculation: () => 1, ...options });

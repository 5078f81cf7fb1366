import { own } from '@automation-platform/json';

/** The changes of a record: members with their new values, and the optional members that are removed. */
export type Changes<T> = { readonly changed: Partial<T>; readonly removed?: readonly string[] };

/** True if two JSON values are equal. The order of members does not count, and `undefined` equals an absent member. */
export const same = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (
    typeof a !== 'object' ||
    typeof b !== 'object' ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return false;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, i) => same(item, b[i]));
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) =>
    same(own(left, key), own(right, key)),
  );
};

/** The changes from one record to another; undefined if the records are equal. */
export const changesBetween = <T extends object>(from: T, to: T): Changes<T> | undefined => {
  const [old, next] = [from as Record<string, unknown>, to as Record<string, unknown>];
  const changed = Object.fromEntries(
    Object.entries(next).filter(([key, value]) => value !== undefined && !same(value, old[key])),
  );
  const removed = Object.keys(old).filter((key) => old[key] !== undefined && next[key] === undefined);
  if (Object.keys(changed).length + removed.length === 0) return undefined;
  return removed.length > 0 ? { changed: changed as Partial<T>, removed } : { changed: changed as Partial<T> };
};

import { same } from '../engine/changes.ts';
import { isSealed } from '../engine/sealed.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Whether a JSON value has members to merge. A sealed secret has none: it counts as a text. */
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isSealed(value);

const member = (of: Members, name: string): unknown => (Object.hasOwn(of, name) ? of[name] : undefined);

/** RFC 7396: objects are merged member by member at any depth, `null` removes a member, any other value replaces. */
export const merged = (before: unknown, patch: Members): Members => {
  const after = new Map(Object.entries(isObject(before) ? before : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) after.delete(name);
    else after.set(name, isObject(value) ? merged(after.get(name), value) : value);
  }
  return Object.fromEntries(after);
};

/** The smallest patch from one object to the other; undefined if they are equal. Neither may have `null` members. */
export const patchBetween = (from: Members, to: Members): Members | undefined => {
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [old, next] = [member(from, name), member(to, name)];
    if (next === undefined) patch[name] = null;
    else if (!same(old, next)) patch[name] = isObject(old) && isObject(next) ? patchBetween(old, next) : next;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
};

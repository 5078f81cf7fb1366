import { isObject, type Members, own } from '@automation-platform/json';
import { same } from '../engine/changes.ts';
import { isSealed } from '../engine/sealed.ts';

/** True if a JSON value has members to merge. A sealed secret has none: it counts as a text. */
const isMergeable = (value: unknown): value is Members => isObject(value) && !isSealed(value);

/** RFC 7396: objects are merged member by member at any depth, `null` removes a member, any other value replaces. */
export const merged = (before: unknown, patch: Members): Members => {
  const after = new Map(Object.entries(isMergeable(before) ? before : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) after.delete(name);
    else after.set(name, isMergeable(value) ? merged(after.get(name), value) : value);
  }
  return Object.fromEntries(after);
};

/** The smallest patch from one object to the other; undefined if they are equal. Neither may have `null` members. */
export const patchBetween = (from: Members, to: Members): Members | undefined => {
  const patch: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const [old, next] = [own(from, name), own(to, name)];
    if (next === undefined) patch[name] = null;
    else if (!same(old, next)) patch[name] = isMergeable(old) && isMergeable(next) ? patchBetween(old, next) : next;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
};

/** The members of a JSON object, by name. */
export type Members = Readonly<Record<string, unknown>>;

/** True if a JSON value is an object: neither null nor an array. */
export const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member of its own, never an inherited one; undefined if there is none. */
export const own = <T>(members: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;

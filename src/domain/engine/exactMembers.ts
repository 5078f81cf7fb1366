import { exactEntries, exactNumber, inOrder, isObject, type Members } from '@automation-platform/json';

/** True if the value is an object in JSON. A marked number is none. */
export const isMembers = (value: unknown): value is Members => isObject(value) && exactNumber(value) === undefined;

/** The object with these values: members that it has keep their places, new ones come last. It may have marks. */
export const withMembers = (object: Members, values: Members): Members =>
  inOrder([
    ...exactEntries(object).map(([name, value]) => [name, Object.hasOwn(values, name) ? values[name] : value] as const),
    ...exactEntries(values).filter(([name]) => !Object.hasOwn(object, name)),
  ]);

/** The object without the members of which `drops` is true. It may have marks. */
export const withoutMembers = (object: Members, drops: (name: string) => boolean): Members =>
  inOrder(exactEntries(object).filter(([name]) => !drops(name)));

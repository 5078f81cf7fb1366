import { own } from '@automation-platform/json';
import { fail } from './budget.ts';
import { isHolder, objectOf } from './values.ts';

const isIndex = (key: string): boolean => /^(0|[1-9]\d{0,6})$/.test(key);

/** A member or item of a value; undefined if there is none. */
export const partOf = (value: unknown, key: string): unknown => {
  if (!isHolder(value)) return undefined;
  return Array.isArray(value) && !isIndex(key) ? undefined : own(value, key);
};

/** The value with another one at the place; objects on its way are made. */
export const withPart = (value: unknown, steps: readonly string[], to: unknown): unknown => {
  const [key, ...rest] = steps;
  if (key === undefined) return to;
  const inner = withPart(partOf(value, key), rest, to);
  if (!Array.isArray(value)) return withMember(isHolder(value) ? value : {}, key, inner);
  if (!isIndex(key) || Number(key) > value.length) return fail(`A list has no item ${JSON.stringify(key)}`);
  return Object.assign([...(value as unknown[])], { [key]: inner });
};

/** The object with one more or another member. */
export const withMember = (value: object, key: string, to: unknown): object =>
  objectOf([...Object.entries(value), [key, to]]);

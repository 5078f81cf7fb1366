import { isObject, type Members, own } from '@automation-platform/json';
import { RequestError } from '../../engine/requestError.ts';
import { isSealed } from '../../engine/sealed.ts';

/** Counts the steps of a task. Throws `unprocessable` once there are too many. */
export type Spend = (steps: number) => void;

/**
 * The tools of comparisons. `match`: true if a text matches a pattern, in linear time; it throws `RequestError` for a pattern
 * that cannot be used.
 */
export type Comparing = { readonly match: (pattern: string, text: string) => boolean; readonly spend: Spend };

/** The tools of tasks that look into values. `clean`: what the task has found to hold no secret. */
export type Looking = Comparing & { readonly clean: WeakSet<object> };

export const operators: readonly unknown[] = ['==', '!=', '<', '<=', '>', '>=', 'contains', '!contains'];

const numeral = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;

/** The number that a value is, or that its text says; undefined for other values. */
export const numberOf = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.length < 400 && numeral.test(value) ? Number(value) : undefined;
};

/** A scalar as the text that it equals. */
const plain = (value: unknown): unknown => (typeof value === 'boolean' ? String(value) : (value ?? null));

/**
 * True if two values are equal: as numbers if both are numbers or their texts, objects and lists by content. A boolean
 * equals its text.
 */
export const equalValues = (a: unknown, b: unknown, spend: Spend): boolean => {
  spend(1);
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined) return left === right;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => equalValues(item, b[i], spend));
  if (isObject(a) && isObject(b)) return equalMembers(a, b, spend);
  return plain(a) === plain(b);
};

const equalMembers = (a: Members, b: Members, spend: Spend): boolean => {
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equalValues(own(a, name), own(b, name), spend))
  );
};

const inOrder = (a: unknown, operator: string, b: unknown): boolean => {
  const numbers = [numberOf(a), numberOf(b)];
  const [left, right] = numbers.includes(undefined) ? [a, b] : numbers;
  const comparable =
    (typeof left === 'number' && typeof right === 'number') || (typeof left === 'string' && typeof right === 'string');
  if (!comparable) return false;
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  return operator === '>' ? left > right : left >= right;
};

const contains = (a: unknown, b: unknown, { match, spend }: Comparing): boolean => {
  if (Array.isArray(a)) return a.some((item) => equalValues(item, b, spend));
  if (isObject(a)) return typeof b === 'string' && Object.hasOwn(a, b);
  if (a === null || a === undefined || b === null || b === undefined || typeof b === 'object') return false;
  return match(String(b), String(a));
};

/** True if a value holds a sealed secret at any depth. */
const holdsSealed = (value: unknown, spend: Spend): boolean => {
  if (typeof value === 'string') spend(value.length >> 7);
  if (typeof value !== 'object' || value === null) return false;
  if (isSealed(value)) return true;
  const inner: readonly unknown[] = Object.values(value);
  spend(inner.length);
  return inner.some((one) => holdsSealed(one, spend));
};

/** Throws `unprocessable` if a value holds a sealed secret: data tasks may move secrets, not look at them. */
export const refuseSealed = (value: unknown, { clean, spend }: Omit<Looking, 'match'>): void => {
  const isObject = typeof value === 'object' && value !== null;
  if (isObject && clean.has(value)) return;
  if (holdsSealed(value, spend)) throw new RequestError('unprocessable', 'A secret cannot be looked at, only moved');
  if (isObject) clean.add(value);
};

/** Compares two values. Throws `unprocessable` for an unknown operator, and for secrets. */
export const operate = (a: unknown, operator: unknown, b: unknown, using: Looking): boolean => {
  refuseSealed(a, using);
  refuseSealed(b, using);
  switch (operator) {
    case '==':
      return equalValues(a, b, using.spend);
    case '!=':
      return !equalValues(a, b, using.spend);
    case 'contains':
      return contains(a, b, using);
    case '!contains':
      return !contains(a, b, using);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return inOrder(a, operator, b);
    default:
      throw new RequestError('unprocessable', `The operator ${JSON.stringify(operator)} is unknown`);
  }
};

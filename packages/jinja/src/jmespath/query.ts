import { PythonError } from '../errors.ts';
import { sliced } from '../values/access.ts';
import { equal, type Order, ordered } from '../values/compare.ts';
import { getKey, newDict } from '../values/dicts.ts';
import { isDict, isUndefined, type Run, textOf, truthy, type Value } from '../values/values.ts';

/** A part of an expression of JMESPath: it makes a value of a value. None stands for null. */
export type Query = (run: Run, value: Value) => Value;

export const queryError = (why: string): PythonError => new PythonError('AnsibleFilterError', `JMESPath: ${why}`);

export const isNumber = (value: Value): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

/** False is what is empty, and null. 0 is not. */
const isFalse = (value: Value): boolean => {
  if (value === null || value === false || textOf(value) === '') return true;
  return Array.isArray(value) ? value.length === 0 : isDict(value) && value.entries.size === 0;
};

export const current: Query = (_run, value) => value;

export const field =
  (name: string): Query =>
  (_run, value) => {
    if (isUndefined(value)) throw new PythonError('UndefinedError', value.message);
    return (isDict(value) ? getKey(value, name) : undefined) ?? null;
  };

/** One after the other: each works on the result of that before it. */
export const chain =
  (first: Query, next: Query): Query =>
  (run, value) => {
    run.budget.step();
    return next(run, first(run, value));
  };

export const index =
  (at: bigint): Query =>
  (run, value) => {
    if (!Array.isArray(value)) return null;
    const found = run.item(value, at);
    return isUndefined(found) ? null : found;
  };

export const slice =
  ([start, stop, step]: readonly [Value, Value, Value]): Query =>
  (run, value) =>
    Array.isArray(value) ? sliced(run, value, { start, stop, step }) : null;

/** Collects what a query makes of each item; nothing is left out but null. */
export const projection =
  (items: Query, each: Query, condition?: Query): Query =>
  (run, value) => {
    const list = items(run, value);
    if (!Array.isArray(list)) return null;
    const collected: Value[] = [];
    for (const item of list) {
      run.budget.step();
      if (condition && isFalse(condition(run, item))) continue;
      const found = each(run, item);
      if (found === null) continue;
      run.budget.make(1);
      run.budget.fits(collected.length);
      collected.push(found);
    }
    return collected;
  };

export const membersOf: Query = (run, value) => {
  if (!isDict(value)) return null;
  run.budget.make(value.entries.size);
  return [...value.entries.values()].map(([, member]) => member);
};

/** Puts the items of lists in the place of the lists. */
export const flattened: Query = (run, value) => {
  if (!Array.isArray(value)) return null;
  const merged: Value[] = [];
  for (const item of value) {
    const items = Array.isArray(item) ? item : [item];
    run.budget.make(items.length);
    run.budget.fits(merged.length);
    for (const one of items) merged.push(one);
  }
  return merged;
};

export const list =
  (parts: readonly Query[]): Query =>
  (run, value) => {
    if (value === null) return null;
    run.budget.make(parts.length);
    return parts.map((part) => part(run, value));
  };

export const dict =
  (pairs: readonly (readonly [string, Query])[]): Query =>
  (run, value) => {
    if (value === null) return null;
    run.budget.make(pairs.length);
    return newDict(pairs.map(([name, part]) => [name, part(run, value)] as const));
  };

export const either =
  (a: Query, b: Query): Query =>
  (run, value) => {
    const first = a(run, value);
    return isFalse(first) ? b(run, value) : first;
  };

export const both =
  (a: Query, b: Query): Query =>
  (run, value) => {
    const first = a(run, value);
    return isFalse(first) ? first : b(run, value);
  };

export const negated =
  (of: Query): Query =>
  (run, value) => {
    const found = of(run, value);
    return !isNumber(found) && !truthy(found);
  };

/** As in Python, but no number is equal to true or false. */
const isEqual = (run: Run, a: Value, b: Value): boolean =>
  !(isNumber(a) && typeof b === 'boolean') && !(isNumber(b) && typeof a === 'boolean') && equal(run, a, b);

const isComparable = (value: Value): boolean => isNumber(value) || textOf(value) !== undefined;

export const comparison =
  (operator: '==' | '!=' | Order, a: Query, b: Query): Query =>
  (run, value) => {
    const [left, right] = [a(run, value), b(run, value)];
    if (operator === '==') return isEqual(run, left, right);
    if (operator === '!=') return !isEqual(run, left, right);
    return isComparable(left) && isComparable(right) ? ordered(run, operator, left, right) : null;
  };

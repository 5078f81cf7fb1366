import { isObject, type Members } from '@automation-platform/json';
import { type Budget, fail, limits } from './budget.ts';

/*
 * Values of a run are JSON, and also: undefined, where nothing is; dates, sets and patterns, which declarations make.
 * They never change: what sets a member makes a new object.
 */

const isPlain = (value: unknown): value is Members =>
  isObject(value) && !(value instanceof Date || value instanceof Set || value instanceof RegExp);

/** The members of an object, a list or a set. */
export const itemsIn = (value: unknown): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  if (value instanceof Set) return [...value];
  return isPlain(value) ? Object.values(value) : [];
};

export const isHolder = (value: unknown): value is Members => isPlain(value) || Array.isArray(value);

/** An object of these members. It has no prototype's: `__proto__` is a member like any. */
export const objectOf = (entries: Iterable<readonly [string, unknown]>): Members => Object.fromEntries(entries);

/** One level more; too many are refused. */
export const deeper = (level: number): number =>
  level < limits.levels ? level + 1 : fail(`A value has ${limits.levels} levels at most`);

/** A value as JavaScript's `String` writes it, whatever members an object has. */
export const textOf = (value: unknown, budget: Budget, level = 0): string => {
  budget.spend(1);
  if (Array.isArray(value)) return joined(value, ',', budget, deeper(level));
  return isPlain(value) ? '[object Object]' : String(value);
};

/** The items as JavaScript's `join` writes them. */
export const joined = (items: readonly unknown[], separator: string, budget: Budget, level = 0): string => {
  const texts = items.map((item) => (item === null || item === undefined ? '' : textOf(item, budget, level)));
  budget.make(texts.reduce((sum, one) => sum + one.length + separator.length, 0));
  return texts.join(separator);
};

type Primitive = string | number | boolean | null | undefined;

/** A value that operators take: of an object its text, of a date its number or, to be added, its text. */
export const primitiveOf = (value: unknown, budget: Budget, asNumber = true): Primitive => {
  if (value instanceof Date && asNumber) return value.getTime();
  return typeof value === 'object' && value !== null ? textOf(value, budget) : (value as Primitive);
};

export const numberOf = (value: unknown, budget: Budget): number => Number(primitiveOf(value, budget));

/** JavaScript's `==`. */
export const looselyEqual = (a: unknown, b: unknown, budget: Budget): boolean => {
  const [first, second] = [a, b].map((one) => typeof one === 'object' && one !== null);
  if (first === second) return first ? a === b : looseEquality(a, b);
  if (a === null || b === null || a === undefined || b === undefined) return false;
  return looseEquality(primitiveOf(a, budget, false), primitiveOf(b, budget, false));
};

// biome-ignore lint/suspicious/noDoubleEquals: this is the operator that documents name.
const looseEquality = (a: unknown, b: unknown): boolean => a == b;

/** Equal by content at any depth; what is nothing equals null. */
export const deeplyEqual = (a: unknown, b: unknown, budget: Budget, level = 0): boolean => {
  budget.spend(1);
  if (a === b || (a ?? null) === (b ?? null) || (Number.isNaN(a) && Number.isNaN(b))) return true;
  if (a instanceof Date && b instanceof Date) return deeplyEqual(a.getTime(), b.getTime(), budget);
  if (a instanceof RegExp && b instanceof RegExp) return String(a) === String(b);
  if (a instanceof Set && b instanceof Set) return deeplyEqual([...a], [...b], budget, level);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => deeplyEqual(item, b[i], budget, deeper(level)));
  if (!isPlain(a) || !isPlain(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && deeplyEqual(a[name], b[name], budget, deeper(level)))
  );
};

/**
 * The value as JSON: dates as text, sets as lists, patterns as `/source/flags`, nothing and no number as null. `see` is shown
 * every object; it returns true for one that stays as it is.
 */
export const asJson = (value: unknown, budget: Budget, see: (one: object) => boolean = () => false): unknown => {
  let size = 0;
  const count = (more: number): void => {
    size += more;
    if (size > limits.size) fail(`What goes out has ${limits.size} characters at most`);
    budget.spend(more);
  };
  const within = (one: unknown, level: number): unknown => {
    if (typeof one === 'string') count(one.length + 2);
    else count(4);
    if (typeof one === 'number') return Number.isFinite(one) ? one + 0 : null;
    if (typeof one !== 'object' || one === null) return one ?? null;
    if (see(one)) return one;
    if (one instanceof Date) return one.toJSON();
    if (one instanceof RegExp) return String(one);
    const next = deeper(level);
    if (Array.isArray(one) || one instanceof Set) return Array.from(one, (item) => within(item, next));
    return objectOf(
      Object.entries(one).flatMap(([name, member]): [string, unknown][] => {
        count(name.length + 4);
        return member === undefined ? [] : [[name, within(member, next)]];
      }),
    );
  };
  return within(value, 0);
};

import { limitError, typeError, undefinedError } from '../errors.ts';
import { unusable } from './arguments.ts';
import { getKey, keyOf } from './dicts.ts';
import { each, itemAt, rangeItem } from './iterate.ts';
import { isDict, isTuple, isUndefined, kindOf, numberOf, type Run, textOf, typeName, type Value } from './values.ts';

const deepest = 500;

/** a == b */
export const equal = (run: Run, a: Value, b: Value, depth = 0): boolean => {
  if (a === b) return typeof a !== 'number' || !Number.isNaN(a);
  run.budget.step();
  if (depth > deepest) throw limitError(`Values nested deeper than ${deepest} levels cannot be compared`);
  const x = numberOf(a);
  if (x !== undefined) {
    const y = numberOf(b);
    // An int (bigint) and a float are never equal with `===`. `<=` and `>=` compare them exactly.
    return y !== undefined && x <= y && x >= y;
  }
  const text = textOf(a);
  if (text !== undefined) return text === textOf(b);
  const same = (xs: readonly Value[], ys: readonly Value[]): boolean =>
    xs.length === ys.length && xs.every((item, i) => equal(run, item, itemAt(ys, i), depth + 1));
  if (Array.isArray(a)) return Array.isArray(b) && same(a, b);
  if (isTuple(a)) return isTuple(b) && same(a.items, b.items);
  if (isDict(a)) {
    if (!isDict(b) || a.entries.size !== b.entries.size) return false;
    for (const [hashed, [, value]] of a.entries) {
      const other = b.entries.get(hashed);
      if (!other || !equal(run, value, other[1], depth + 1)) return false;
    }
    return true;
  }
  if (isUndefined(a)) return isUndefined(b);
  if (kindOf(a) === 'range' && kindOf(b) === 'range') {
    const [r, s] = [a, b] as [Extract<Value, { kind: 'range' }>, Extract<Value, { kind: 'range' }>];
    return r.length === s.length && (r.length === 0 || (r.start === s.start && (r.length === 1 || r.step === s.step)));
  }
  if (kindOf(a) === 'view' && kindOf(b) === 'view') {
    const [v, w] = [a, b] as [Extract<Value, { kind: 'view' }>, Extract<Value, { kind: 'view' }>];
    if (v.of === 'values' || w.of === 'values') return false;
    const [xs, ys] = [[...each(run, v)], [...each(run, w)]];
    return xs.length === ys.length && xs.every((item) => ys.some((other) => equal(run, item, other, depth + 1)));
  }
  return false;
};

export type Order = '<' | '<=' | '>' | '>=';

const holds = <T extends string | number | bigint>(order: Order, a: T, b: T): boolean => {
  switch (order) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    case '>=':
      return a >= b;
  }
};

const pointAt = (text: string, index: number): number => text.codePointAt(index) ?? -1;

// In the order of UTF-16 units, characters beyond the first plane come before U+E000. Python compares code points.
const compareText = (a: string, b: string): number => {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a[i] === b[i]) i++;
  if (i === end) return a.length - b.length;
  if (i > 0 && /[\udc00-\udfff]/.test(a.charAt(i)) && /[\ud800-\udbff]/.test(a.charAt(i - 1))) i--;
  return pointAt(a, i) - pointAt(b, i);
};

/** The items of a list or a tuple. */
const itemsOf = (value: Value): readonly Value[] | undefined => {
  if (Array.isArray(value)) return value;
  return isTuple(value) ? value.items : undefined;
};

/** a < b and so on. Throws for values without an order. */
export const ordered = (run: Run, order: Order, a: Value, b: Value, depth = 0): boolean => {
  run.budget.step();
  if (depth > deepest) throw limitError(`Values nested deeper than ${deepest} levels cannot be compared`);
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined && y !== undefined) return holds(order, x, y as typeof x);
  const [s, t] = [textOf(a), textOf(b)];
  if (s !== undefined && t !== undefined) return holds(order, compareText(s, t), 0);
  for (const value of [a, b]) if (isUndefined(value)) throw undefinedError(value.message);
  const xs = itemsOf(a);
  const ys = itemsOf(b);
  if (!xs || !ys || Array.isArray(a) !== Array.isArray(b))
    throw typeError(`'${order}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`);
  for (let i = 0; i < xs.length && i < ys.length; i++) {
    const item = itemAt(xs, i);
    const other = itemAt(ys, i);
    if (!equal(run, item, other, depth + 1)) return ordered(run, order, item, other, depth + 1);
  }
  return holds(order, xs.length, ys.length);
};

/** item in container */
export const contains = (run: Run, container: Value, item: Value): boolean => {
  const text = textOf(container);
  if (text !== undefined) {
    const part = textOf(item);
    if (part === undefined)
      throw unusable(item, `'in <string>' requires string as left operand, not ${typeName(item)}`);
    run.budget.step(1 + (text.length >> 6));
    return text.includes(part);
  }
  if (isDict(container)) return getKey(container, item) !== undefined;
  if (typeof container === 'object' && container !== null && !Array.isArray(container)) {
    if (container.kind === 'view' && container.of === 'keys') return container.dict.entries.has(keyOf(item));
    if (container.kind === 'range') {
      const number = numberOf(item);
      if (number === undefined || (typeof number === 'number' && !Number.isInteger(number)) || container.length === 0)
        return false;
      const [first, last] = [container.start, rangeItem(container, container.length - 1)];
      const n = BigInt(number);
      return (n - first) % container.step === 0n && (first <= last ? n >= first && n <= last : n <= first && n >= last);
    }
    if (container.kind === 'thing' && !container.get?.('__iter__'))
      throw typeError(`argument of type '${container.type}' is not iterable`);
  } else if (!Array.isArray(container)) {
    throw typeError(`argument of type '${typeName(container)}' is not iterable`);
  }
  for (const other of each(run, container)) if (other === item || equal(run, other, item)) return true;
  return false;
};

/** sorted(items, key, reverse): returns a new list. The order of equal items stays. */
export const sorted = (run: Run, items: readonly Value[], key: (item: Value) => Value, reverse = false): Value[] => {
  run.budget.make(items.length);
  const sign = reverse ? -1 : 1;
  return items
    .map((item) => [key(item), item] as const)
    .sort(([a], [b]) => {
      if (ordered(run, '<', a, b)) return -sign;
      return ordered(run, '<', b, a) ? sign : 0;
    })
    .map(([, item]) => item);
};

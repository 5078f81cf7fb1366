import { PythonError, typeError, undefinedError, valueError } from '../errors.ts';
import { methodOf } from '../methods/all.ts';
import { needInt, toIndex } from './arguments.ts';
import { getKey } from './dicts.ts';
import { itemAt, rangeItem } from './iterate.ts';
import { intText, textRepr } from './print.ts';
import { characters, lengthOf, like, sliceText } from './text.ts';
import {
  intOf,
  isDict,
  isThing,
  isTuple,
  isUndefined,
  kindOf,
  orElse,
  type Range,
  type Run,
  textOf,
  tuple,
  typeName,
  type Undefined,
  undefinedValue,
  type Value,
} from './values.ts';

const shownType = (value: Value): string => (value === null ? 'None' : `${typeName(value)} object`);

const noAttribute = (value: Value, name: string): Undefined =>
  undefinedValue(`'${shownType(value)}' has no attribute ${textRepr(name)}`);

/**
 * A method or other attribute of the value's type. As in a sandbox, names that begin with two underscores are hidden.
 */
export const ownAttribute = (value: Value, name: string): Value | undefined => {
  if (name.startsWith('__')) return undefined;
  if (isThing(value)) return value.get?.(name);
  if (isTuple(value) && value.names?.includes(name)) return value.items[value.names.indexOf(name)];
  return methodOf(value, name);
};

/**
 * `value[key]` of Python, without Jinja2's fallback to attributes. Undefined where Python raises LookupError or
 * TypeError.
 */
const found = (run: Run, value: Value, key: Value): Value | undefined => {
  if (isDict(value)) {
    try {
      return getKey(value, key);
    } catch (error) {
      if (error instanceof PythonError && error.type === 'TypeError') return undefined;
      throw error;
    }
  }
  const index = intOf(key);
  if (index === undefined) return undefined;
  const at = (length: number): number => toIndex(index < 0n ? index + BigInt(length) : index);
  if (Array.isArray(value)) return value[at(value.length)];
  if (isTuple(value)) return value.items[at(value.items.length)];
  if (kindOf(value) === 'range') {
    const range = value as Range;
    const i = at(range.length);
    return i >= 0 && i < range.length ? rangeItem(range, i) : undefined;
  }
  const text = textOf(value);
  if (text === undefined) return undefined;
  run.budget.step(1 + (text.length >> 8));
  const i = at(lengthOf(text));
  const character = i < 0 ? '' : sliceText(text, i, i + 1);
  return character === '' ? undefined : like(value, character);
};

/** value.name in a template: attributes first, then items; else an Undefined. */
export const attribute = (run: Run, value: Value, name: string): Value => {
  if (isUndefined(value)) throw undefinedError(value.message);
  return orElse(ownAttribute(value, name), () => orElse(found(run, value, name), () => noAttribute(value, name)));
};

/** value[key] in a template: items first, then attributes; else an Undefined. */
export const item = (run: Run, value: Value, key: Value): Value => {
  if (isUndefined(value)) throw undefinedError(value.message);
  const name = textOf(key);
  return orElse(found(run, value, key), () =>
    name === undefined
      ? undefinedValue(`${shownType(value)} has no element ${typeof key === 'bigint' ? intText(key) : typeName(key)}`)
      : orElse(ownAttribute(value, name), () => noAttribute(value, name)),
  );
};

/** The parts of `start:stop:step`. A part that is not written is None. */
type Slice = { readonly start: Value; readonly stop: Value; readonly step: Value };

/** The indexes that a slice takes from a sequence of this length. */
const indexesOf = (run: Run, { start, stop }: Slice, by: bigint, length: number): number[] => {
  const stride = toIndex(by);
  const within = (bound: Value, otherwise: number): number => {
    if (bound === null) return otherwise;
    const index = toIndex(needInt(bound));
    const fromStart = index < 0 ? index + length : index;
    return stride > 0 ? Math.min(Math.max(fromStart, 0), length) : Math.min(Math.max(fromStart, -1), length - 1);
  };
  const [from, to] =
    stride > 0 ? [within(start, 0), within(stop, length)] : [within(start, length - 1), within(stop, -1)];
  const all: number[] = [];
  for (let i = from; stride > 0 ? i < to : i > to; i += stride) all.push(i);
  run.budget.make(all.length);
  return all;
};

/** value[start:stop:step] */
export const sliced = (run: Run, value: Value, slice: Slice): Value => {
  if (isUndefined(value)) throw undefinedError(value.message);
  const by = slice.step === null ? 1n : needInt(slice.step);
  if (by === 0n) throw valueError('slice step cannot be zero');
  const indexes = (length: number): number[] => indexesOf(run, slice, by, length);
  const text = textOf(value);
  if (text !== undefined) {
    const points = characters(run, text);
    const slicedPoints = indexes(points.length).map((i) => points[i]);
    return like(value, slicedPoints.join(''));
  }
  if (Array.isArray(value)) return indexes(value.length).map((i) => itemAt(value, i));
  if (isTuple(value)) return tuple(indexes(value.items.length).map((i) => itemAt(value.items, i)));
  if (kindOf(value) === 'range') {
    const range = value as Range;
    const slicedRange = indexes(range.length);
    const edge = (i: number | undefined) => (i === undefined ? range.start : rangeItem(range, i));
    const stride = range.step * by;
    const first = edge(slicedRange[0]);
    return {
      kind: 'range',
      start: first,
      step: stride,
      stop: first + stride * BigInt(slicedRange.length),
      length: slicedRange.length,
    };
  }
  throw typeError(`'${typeName(value)}' object is not subscriptable`);
};

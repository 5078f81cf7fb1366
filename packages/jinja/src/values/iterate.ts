import { PythonError, typeError } from '../errors.ts';
import { characters, lengthOf } from './text.ts';
import { type Iterator, kindOf, type Range, type Run, tuple, typeName, type Value } from './values.ts';

/** The item at an index. The caller knows that the index exists. */
export const itemAt = (items: readonly Value[], index: number): Value => {
  const item = items[index];
  if (item === undefined) throw new Error(`There is no item ${index} among ${items.length}`);
  return item;
};

export const rangeItem = ({ start, step }: Range, index: number): bigint => start + BigInt(index) * step;

/**
 * iter(value): the function returns each item, then JavaScript's undefined. Throws for values that cannot be iterated.
 */
export const iterator = (run: Run, value: Value): (() => Value | undefined) => {
  let i = 0;
  const over = (items: readonly Value[]) => () => {
    run.budget.step();
    return items[i++];
  };
  if (Array.isArray(value)) return over(value);
  if (typeof value === 'string') return over(characters(run, value));
  switch (kindOf(value)) {
    case 'markup':
      return over(characters(run, (value as { text: string }).text));
    case 'undefined':
      return () => undefined;
    default:
  }
  if (typeof value !== 'object' || value === null) throw typeError(`'${typeName(value)}' object is not iterable`);
  switch (value.kind) {
    case 'tuple':
      return over(value.items);
    case 'range':
      return () => {
        run.budget.step();
        return i < value.length ? rangeItem(value, i++) : undefined;
      };
    case 'iterator':
      return () => {
        run.budget.step();
        return value.next();
      };
    case 'dict':
    case 'view': {
      const { entries } = value.kind === 'dict' ? value : value.dict;
      const of = value.kind === 'dict' ? 'keys' : value.of;
      const size = entries.size;
      const all = entries.values();
      return () => {
        run.budget.step();
        if (entries.size !== size) throw new PythonError('RuntimeError', 'dictionary changed size during iteration');
        const { done, value: entry } = all.next();
        if (done) return undefined;
        if (of === 'keys') return entry[0];
        return of === 'values' ? entry[1] : tuple(entry);
      };
    }
    case 'thing': {
      const next = value.get?.('__iter__');
      if (next !== undefined && kindOf(next) === 'iterator') return (next as Iterator).next;
      throw typeError(`'${value.type}' object is not iterable`);
    }
    default:
      throw typeError(`'${typeName(value)}' object is not iterable`);
  }
};

/** len(value); undefined for values that have no length in Python. */
export const knownLength = (value: Value): number | undefined => {
  if (Array.isArray(value)) return value.length;
  if (typeof value === 'string') return lengthOf(value);
  if (typeof value !== 'object' || value === null) return undefined;
  switch (value.kind) {
    case 'markup':
      return lengthOf(value.text);
    case 'tuple':
      return value.items.length;
    case 'dict':
      return value.entries.size;
    case 'view':
      return value.dict.entries.size;
    case 'range':
      return value.length;
    case 'undefined':
      return 0;
    case 'thing':
      return value.length?.();
    case 'iterator':
      return undefined;
  }
};

/** Yields the items of a value. */
export function* each(run: Run, value: Value): Generator<Value, void> {
  const next = iterator(run, value);
  for (let item = next(); item !== undefined; item = next()) yield item;
}

/** list(value) */
export const listOf = (run: Run, value: Value): Value[] => {
  if (Array.isArray(value)) {
    run.budget.make(value.length);
    return [...value];
  }
  const list: Value[] = [];
  const next = iterator(run, value);
  for (let item = next(); item !== undefined; item = next()) {
    run.budget.make(1);
    list.push(item);
  }
  return list;
};

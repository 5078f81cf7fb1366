import { PythonError, typeError } from '../errors.ts';
import { needInt, toIndex, unusable } from '../values/arguments.ts';
import { operate } from '../values/arithmetic.ts';
import { equal, ordered, sorted } from '../values/compare.ts';
import { keyOf } from '../values/dicts.ts';
import { each, itemAt, iterator, knownLength, listOf, rangeItem } from '../values/iterate.ts';
import { escaped, softStr, str } from '../values/print.ts';
import { like } from '../values/text.ts';
import {
  generator,
  type Iterator,
  isDict,
  isMarkup,
  isTuple,
  isUndefined,
  kindOf,
  markup,
  namedTuple,
  orElse,
  type Run,
  type Tuple,
  textOf,
  truthy,
  tuple,
  typeName,
  undefinedValue,
  type Value,
} from '../values/values.ts';
import { getter, ignoreCase, listGetter } from './attributes.ts';
import type { Filter, Filters } from './define.ts';

/** len(value) */
export const lengthOfAny = (value: Value): number => {
  const length = knownLength(value);
  if (length === undefined) throw typeError(`object of type '${typeName(value)}' has no len()`);
  return length;
};

const length: Filter = { parameters: [], call: (_run, value: Value) => BigInt(lengthOfAny(value)) };

/** reversed(value); undefined for values that Python cannot reverse. */
const backwards = (run: Run, value: Value): Iterator | undefined => {
  if (kindOf(value) === 'range') {
    const range = value as Extract<Value, { kind: 'range' }>;
    let i = range.length;
    return { kind: 'iterator', name: 'range_iterator', next: () => (i > 0 ? rangeItem(range, --i) : undefined) };
  }
  if (
    !Array.isArray(value) &&
    !isTuple(value) &&
    !isDict(value) &&
    kindOf(value) !== 'view' &&
    textOf(value) === undefined &&
    !isUndefined(value)
  )
    return undefined;
  const items = listOf(run, value);
  return { kind: 'iterator', name: backwardsName(value), next: () => items.pop() };
};

const extreme = (which: '<' | '>'): Filter => ({
  parameters: ['case_sensitive?', 'attribute?'],
  call: (run, value: Value, sensitive: Value = false, path: Value = null) => {
    const key = getter(run, path, null, truthy(sensitive) ? undefined : ignoreCase);
    let best: Value | undefined;
    let bestKey: Value | undefined;
    for (const item of each(run, value)) {
      const itemKey = key(item);
      if (bestKey === undefined || ordered(run, which, itemKey, bestKey)) [best, bestKey] = [item, itemKey];
    }
    return orElse(best, () => undefinedValue('No aggregated item, sequence was empty.'));
  },
});

/** True if there is a value to fill with: neither JavaScript's undefined nor Python's None. */
const isPresent = (value: Value | undefined): value is Value => value !== undefined && value !== null;

export const defaultFilter: Filter = {
  parameters: ['default_value?', 'boolean?'],
  call: (_run, value: Value, otherwise: Value = '', falsy: Value = false) =>
    isUndefined(value) || (truthy(falsy) && !truthy(value)) ? otherwise : value,
};

/** The name of Python's class of reverse iterators over a value. */
const backwardsName = (value: Value): string => {
  if (Array.isArray(value)) return 'list_reverseiterator';
  return isDict(value) ? 'dict_reversekeyiterator' : 'reversed';
};

export const sequenceFilters: Filters = {
  length,
  count: length,
  list: { parameters: [], call: listOf },
  first: {
    parameters: [],
    call: (run, value: Value) =>
      orElse(iterator(run, value)(), () => undefinedValue('No first item, sequence was empty.')),
  },
  last: {
    parameters: [],
    call: (run, value: Value) => {
      const reversed = backwards(run, value);
      if (!reversed) throw typeError(`'${typeName(value)}' object is not reversible`);
      return orElse(reversed.next(), () => undefinedValue('No last item, sequence was empty.'));
    },
  },
  reverse: {
    parameters: [],
    call: (run, value: Value) => {
      const text = textOf(value);
      if (text !== undefined) {
        run.budget.make(text.length);
        return like(value, Array.from(text).reverse().join(''));
      }
      try {
        return backwards(run, value) ?? listOf(run, value).reverse();
      } catch (error) {
        if (error instanceof PythonError && error.type === 'TypeError')
          throw new PythonError('FilterArgumentError', 'argument must be iterable');
        throw error;
      }
    },
  },
  join: {
    parameters: ['d?', 'attribute?'],
    call: (run, value: Value, by: Value = '', path: Value = null) => {
      const get = getter(run, path);
      const parts: Value[] = [];
      for (const item of each(run, value)) parts.push(path === null ? item : get(item));
      const safe = run.escaping && (isMarkup(by) || parts.some(isMarkup));
      let text = '';
      const separator = safe ? escaped(run, by).text : str(run, by);
      parts.forEach((part, i) => {
        const partText = safe ? escaped(run, isMarkup(part) ? part : str(run, part)).text : str(run, part);
        run.budget.make(partText.length + separator.length);
        run.budget.fits(text.length + separator.length + partText.length);
        text += i === 0 ? partText : separator + partText;
      });
      return safe ? markup(text) : text;
    },
  },
  sort: {
    parameters: ['reverse?', 'case_sensitive?', 'attribute?'],
    call: (run, value: Value, reverse: Value = false, sensitive: Value = false, path: Value = null) =>
      sorted(
        run,
        listOf(run, value),
        listGetter(run, path, truthy(sensitive) ? (item) => item : ignoreCase),
        truthy(reverse),
      ),
  },
  dictsort: {
    parameters: ['case_sensitive?', 'by?', 'reverse?'],
    call: (run, value: Value, sensitive: Value = false, by: Value = 'key', reverse: Value = false) => {
      const at = ['key', 'value'].indexOf(textOf(by) ?? '');
      if (at < 0) throw new PythonError('FilterArgumentError', 'You can only sort by either "key" or "value"');
      if (!isDict(value)) throw unusable(value, `'${typeName(value)}' object has no attribute 'items'`);
      const pairs = [...value.entries.values()].map((pair) => tuple(pair));
      return sorted(
        run,
        pairs,
        (pair) => {
          const key = itemAt((pair as Tuple).items, at);
          return truthy(sensitive) ? key : ignoreCase(key);
        },
        truthy(reverse),
      );
    },
  },
  unique: {
    parameters: ['case_sensitive?', 'attribute?'],
    call: (run, value: Value, sensitive: Value = false, path: Value = null) =>
      generator(
        'do_unique',
        (function* () {
          const key = getter(run, path, null, truthy(sensitive) ? undefined : ignoreCase);
          const visited = new Set<unknown>();
          for (const item of each(run, value)) {
            const hashed = keyOf(key(item));
            if (visited.has(hashed)) continue;
            run.budget.make(1);
            visited.add(hashed);
            yield item;
          }
        })(),
      ),
  },
  groupby: {
    parameters: ['attribute', 'default?', 'case_sensitive?'],
    call: (run, value: Value, path: Value, otherwise: Value = null, sensitive: Value = false) => {
      const real = getter(run, path, otherwise);
      const key = truthy(sensitive) ? real : getter(run, path, otherwise, ignoreCase);
      const groups: { key: Value; items: Value[] }[] = [];
      for (const item of sorted(run, listOf(run, value), key)) {
        const itemKey = key(item);
        const last = groups.at(-1);
        if (last && equal(run, last.key, itemKey)) last.items.push(item);
        else groups.push({ key: itemKey, items: [item] });
      }
      return groups.map(({ items }) => namedTuple([real(itemAt(items, 0)), items], ['grouper', 'list']));
    },
  },
  batch: {
    parameters: ['linecount', 'fill_with?'],
    call: (run, value: Value, count: Value, fill?: Value) =>
      generator(
        'do_batch',
        (function* () {
          let batch: Value[] = [];
          const isFull = () => equal(run, BigInt(batch.length), count);
          for (const item of each(run, value)) {
            if (isFull()) {
              yield batch;
              batch = [];
            }
            run.budget.make(1);
            batch.push(item);
          }
          if (batch.length === 0) return;
          if (isPresent(fill)) {
            const missing = needInt(count) - BigInt(batch.length);
            if (missing > 0n) run.budget.make(missing);
            for (let i = 0n; i < missing; i++) batch.push(fill);
          }
          yield batch;
        })(),
      ),
  },
  slice: {
    parameters: ['slices', 'fill_with?'],
    call: (run, value: Value, slices: Value, fill?: Value) =>
      generator(
        'sync_do_slice',
        (function* () {
          const items = listOf(run, value);
          const count = needInt(slices);
          if (count === 0n) throw new PythonError('ZeroDivisionError', 'integer division or modulo by zero');
          const each = items.length - (items.length % toIndex(count));
          const [perSlice, extra] = [Math.floor(each / toIndex(count)), items.length % toIndex(count)];
          let from = 0;
          for (let i = 0; i < count; i++) {
            run.budget.step();
            const to = from + perSlice + (i < extra ? 1 : 0);
            const part: Value[] = items.slice(from, to);
            run.budget.make(part.length + 1);
            if (isPresent(fill) && i >= extra) part.push(fill);
            yield part;
            from = to;
          }
        })(),
      ),
  },
  items: {
    parameters: [],
    call: (run, value: Value) =>
      generator(
        'do_items',
        (function* () {
          if (isUndefined(value)) return;
          if (!isDict(value)) throw typeError('Can only get item pairs from a mapping.');
          yield* each(run, { kind: 'view', of: 'items', dict: value });
        })(),
      ),
  },
  sum: {
    parameters: ['attribute?', 'start?'],
    call: (run, value: Value, path: Value = null, start: Value = 0n) => {
      if (textOf(start) !== undefined) throw typeError("sum() can't sum strings [use ''.join(seq) instead]");
      const get = getter(run, path);
      let total = start;
      for (const item of each(run, value)) total = operate(run, '+', total, get(item));
      return total;
    },
  },
  min: extreme('<'),
  max: extreme('>'),
  default: defaultFilter,
  random: {
    parameters: [],
    call: () => {
      throw new PythonError(
        'FilterArgumentError',
        'random is not supported: the same template and variables give the same text',
      );
    },
  },
  string: { parameters: [], call: softStr },
};

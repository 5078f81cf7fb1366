import { PythonError, typeError } from '../errors.ts';
import { needInt } from '../values/arguments.ts';
import { operate } from '../values/arithmetic.ts';
import { contains, equal } from '../values/compare.ts';
import { getKey, keyOf, newDict, setKey } from '../values/dicts.ts';
import { each, iterator, listOf } from '../values/iterate.ts';
import {
  type Dict,
  generator,
  isDict,
  isTuple,
  isUndefined,
  type Kwargs,
  kindOf,
  type Run,
  textOf,
  truthy,
  tuple,
  typeName,
  type Value,
} from '../values/values.ts';
import { getter, ignoreCase } from './attributes.ts';
import type { Filter, Filters } from './define.ts';

const filterError = (message: string): PythonError => new PythonError('AnsibleFilterError', message);

const isSequence = (value: Value): boolean => Array.isArray(value) || isTuple(value) || kindOf(value) === 'range';

/** Collects items in a list, and counts them in the budget. */
const collected = (run: Run, items: Iterable<Value>): Value[] => {
  const list: Value[] = [];
  for (const item of items) {
    run.budget.make(1);
    run.budget.fits(list.length);
    list.push(item);
  }
  return list;
};

function* flat(run: Run, value: Value, levels: bigint | undefined, skipNulls: boolean): Generator<Value, void> {
  for (const item of each(run, value)) {
    if (skipNulls && (item === null || ['None', 'null'].includes(textOf(item) ?? ''))) continue;
    if (!isSequence(item) || (levels !== undefined && levels < 1n)) {
      yield item;
      continue;
    }
    const inner = run.budget.deeper(() =>
      collected(run, flat(run, item, levels === undefined ? undefined : levels - 1n, skipNulls)),
    );
    yield* inner;
  }
}

const merges = ['replace', 'keep', 'append', 'prepend', 'append_rp', 'prepend_rp'] as const;
type How = { readonly recursive: boolean; readonly lists: (typeof merges)[number] };

/** Merges two lists. `_rp` first removes from the lower list the items that the higher list has. */
const mergedLists = (run: Run, low: Value[], high: Value[], lists: How['lists']): Value[] => {
  if (lists === 'replace') return high;
  if (lists === 'keep') return low;
  run.budget.make(low.length + high.length);
  const rest = lists.endsWith('_rp') ? low.filter((item) => !contains(run, high, item)) : low;
  return lists.startsWith('append') ? [...rest, ...high] : [...high, ...rest];
};

const mergedValue = (run: Run, low: Value | undefined, high: Value, how: How): Value => {
  if (low !== undefined && isDict(low) && isDict(high) && how.recursive)
    return run.budget.deeper(() => mergedDicts(run, low, high, how));
  if (Array.isArray(low) && Array.isArray(high)) return mergedLists(run, low, high, how.lists);
  return high;
};

/** Merges two dicts. If both have a key, the value of `high` is kept, or merged with the value of `low`. */
const mergedDicts = (run: Run, low: Dict, high: Dict, how: How): Dict => {
  run.budget.make(low.entries.size + high.entries.size);
  if (low.entries.size === 0 || equal(run, low, high)) return newDict(high.entries.values());
  const result = newDict(low.entries.values());
  for (const [key, value] of high.entries.values()) {
    run.budget.step();
    setKey(result, key, mergedValue(run, getKey(low, key), value, how));
  }
  return result;
};

const howToMerge = (kwargs: Kwargs): How => {
  for (const name of kwargs.keys())
    if (!['recursive', 'list_merge'].includes(name))
      throw filterError("'recursive' and 'list_merge' are the only valid keyword arguments");
  const listMerge = kwargs.get('list_merge') ?? 'replace';
  const lists = merges.find((name) => name === textOf(listMerge));
  const recursive = truthy(kwargs.get('recursive') ?? false);
  if (!lists) throw filterError(`'list_merge' argument can only be equal to ${merges.join(', ')}`);
  return { recursive, lists };
};

const needDict = (value: Value): Dict => {
  if (!isDict(value)) throw filterError(`failed to combine variables, expected dicts but got a '${typeName(value)}'`);
  return value;
};

const combine: Filter = {
  all: (run, value, args, kwargs) => {
    const how = { kwargs };
    const terms = collected(run, flat(run, [value, ...args], 1n, true));
    const undefinedTerm = terms.find(isUndefined);
    if (undefinedTerm && isUndefined(undefinedTerm)) throw new PythonError('UndefinedError', undefinedTerm.message);
    const last = terms.pop();
    if (last === undefined) return newDict();
    if (terms.length === 0) return last;
    const merging = howToMerge(how.kwargs);
    return terms.reduceRight<Dict>((high, low) => mergedDicts(run, needDict(low), high, merging), needDict(last));
  },
};

const dict2items: Filter = {
  parameters: ['key_name?', 'value_name?'],
  call: (run, value: Value, keyName: Value = 'key', valueName: Value = 'value') => {
    if (!isDict(value)) throw filterError(`dict2items requires a dictionary, got ${typeName(value)} instead.`);
    run.budget.make(3 * value.entries.size);
    return [...value.entries.values()].map(([key, member]) =>
      newDict([
        [keyName, key],
        [valueName, member],
      ]),
    );
  },
};

const memberOf = (item: Value, name: Value): Value => {
  if (!isDict(item)) throw filterError(`items2dict requires a list of dictionaries, got ${typeName(item)} instead.`);
  const member = getKey(item, name);
  if (member === undefined) throw filterError('items2dict requires each dictionary in the list to contain both keys');
  return member;
};

const items2dict: Filter = {
  parameters: ['key_name?', 'value_name?'],
  call: (run, value: Value, keyName: Value = 'key', valueName: Value = 'value') => {
    if (!isSequence(value)) throw filterError(`items2dict requires a list, got ${typeName(value)} instead.`);
    const items = listOf(run, value);
    return newDict(items.map((item) => [memberOf(item, keyName), memberOf(item, valueName)] as const));
  },
};

const isHashable = (value: Value): boolean => {
  try {
    keyOf(value);
    return true;
  } catch {
    return false;
  }
};

/** Removes items whose key occurred before. If a key cannot be hashed, the items are compared one by one. */
const distinct = (run: Run, items: readonly Value[], key: (item: Value) => Value = (item) => item): Value[] => {
  run.budget.make(items.length);
  const keys = items.map(key);
  if (!keys.every(isHashable)) {
    const uniqueValues: Value[] = [];
    for (const item of items) if (!contains(run, uniqueValues, item)) uniqueValues.push(item);
    return uniqueValues;
  }
  const visited = new Set<unknown>();
  return items.filter((_item, i) => {
    const hashed = keyOf(keys[i] ?? null);
    if (visited.has(hashed)) return false;
    visited.add(hashed);
    return true;
  });
};

const unique: Filter = {
  parameters: ['case_sensitive?', 'attribute?'],
  call: (run, value: Value, sensitive: Value = null, path: Value = null) => {
    const key = getter(run, path, null, truthy(sensitive) ? undefined : ignoreCase);
    const items = listOf(run, value);
    if ((sensitive === false || truthy(path)) && !items.map(key).every(isHashable))
      throw filterError("Jinja2's unique filter failed and we cannot fall back to Ansible's version");
    return items.every((item) => isHashable(key(item))) ? distinct(run, items, key) : distinct(run, items);
  },
};

/**
 * A filter of two collections. Python's result is a set if all items are hashable. Here it is a list in the order of
 * the items.
 */
const ofTwo = (choose: (run: Run, a: Value, b: Value) => Value): Filter => ({
  parameters: ['b'],
  call: (run, a: Value, b: Value) => distinct(run, listOf(run, choose(run, a, b))),
});

const select = (run: Run, a: Value, b: Value, present: boolean): Value[] => {
  const other = kindOf(b) === 'iterator' ? b : listOf(run, b);
  const hashed = Array.isArray(other) && other.every(isHashable) ? new Set(other.map(keyOf)) : undefined;
  return collected(run, each(run, a)).filter((item) => {
    run.budget.step();
    const found = hashed && isHashable(item) ? hashed.has(keyOf(item)) : contains(run, other, item);
    return found === present;
  });
};

const sum = (run: Run, a: Value, b: Value): Value =>
  isHashable(a) && isHashable(b) ? [...listOf(run, a), ...listOf(run, b)] : operate(run, '+', a, b);

const symmetric = (run: Run, a: Value, b: Value): Value => {
  const both = select(run, a, b, true);
  return select(run, sum(run, a, b), both, false);
};

const zip: Filter = {
  all: (run, value, args, kwargs) => {
    for (const name of kwargs.keys())
      if (name !== 'strict') throw typeError(`zip() got an unexpected keyword argument '${name}'`);
    const strict = truthy(kwargs.get('strict') ?? false);
    const all = [value, ...args].map((one) => iterator(run, one));
    return generator(
      'zip',
      (function* () {
        for (;;) {
          const items = all.map((next) => next());
          const there = items.filter((item): item is Value => item !== undefined);
          if (there.length < items.length) {
            if (strict && there.length > 0)
              throw new PythonError('ValueError', 'zip() arguments have different lengths');
            return;
          }
          run.budget.make(items.length);
          yield tuple(there);
        }
      })(),
    );
  },
};

const product: Filter = {
  all: (run, value, args, kwargs) => {
    const times = [...kwargs].map(([name, given]) => {
      if (name !== 'repeat') throw typeError(`product() got an unexpected keyword argument '${name}'`);
      return Number(needInt(given));
    })[0];
    const once = [value, ...args].map((one) => listOf(run, one));
    if (times !== undefined && (times < 0 || times * once.length > 1000))
      throw new PythonError('ValueError', 'repeat argument cannot be negative, or is too large');
    const pools = Array.from({ length: times ?? 1 }, () => once).flat();
    return generator(
      'itertools.product',
      (function* () {
        const at = pools.map(() => 0);
        if (pools.some((pool) => pool.length === 0)) return;
        for (;;) {
          run.budget.make(pools.length + 1);
          yield tuple(pools.map((pool, i) => pool[at[i] ?? 0] ?? null));
          let last = pools.length - 1;
          while (last >= 0 && (at[last] ?? 0) + 1 === pools[last]?.length) at[last--] = 0;
          if (last < 0) return;
          at[last] = (at[last] ?? 0) + 1;
        }
      })(),
    );
  },
};

/** Ansible's filters for lists and dicts, by name. */
export const dataFilters: Filters = {
  combine,
  dict2items,
  items2dict,
  flatten: {
    parameters: ['levels?', 'skip_nulls?'],
    call: (run, value: Value, levels: Value = null, skip: Value = true) =>
      collected(run, flat(run, value, levels === null ? undefined : needInt(levels), truthy(skip))),
  },
  zip,
  product,
  unique,
  union: ofTwo(sum),
  intersect: ofTwo((run, a, b) => select(run, a, b, true)),
  difference: ofTwo((run, a, b) => select(run, a, b, false)),
  symmetric_difference: ofTwo(symmetric),
};

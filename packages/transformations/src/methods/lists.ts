import { fail, limits } from '../budget.ts';
import { type Method, method, type Using } from '../signatures.ts';
import { joined, numberOf, textOf } from '../values.ts';

type List = readonly unknown[];

const copied = (list: List, { budget }: Using, more = 0): unknown[] => {
  budget.make(list.length + more);
  return [...list];
};

/** A test: the function of the document says yes for an item. */
const tests =
  (using: Using, list: List, further: List) =>
  (item: unknown, index: number): boolean =>
    using.isTrue(using.call([item, index, list], further));

const results = (using: Using, list: List, further: List): unknown[] =>
  copied(list, using).map((item, index) => using.call([item, index, list], further));

const flattened = (using: Using, list: List, depth: number): unknown[] => {
  let flat = copied(list, using);
  for (let levels = Math.min(depth, limits.levels); levels >= 1 && flat.some(Array.isArray); levels--) {
    using.budget.make(flat.reduce<number>((sum, one) => sum + (Array.isArray(one) ? one.length : 1), 0));
    flat = flat.flat();
  }
  return flat;
};

const sorted = (using: Using, list: List): unknown[] => {
  const present = copied(list, using).filter((item) => item !== undefined);
  const keyed = present.map((item) => ({ item, key: textOf(item, using.budget) }));
  using.budget.spend(4 * list.length);
  return keyed.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key)).map(({ item }) => item);
};

const spliced = (using: Using, list: List, rest: readonly unknown[]): unknown => {
  const array = copied(list, using, rest.length);
  const [start, count, ...items] = rest;
  const from = numberOf(start ?? 0, using.budget);
  const removed =
    count === null || count === undefined
      ? array.splice(from)
      : array.splice(from, numberOf(count, using.budget), ...items);
  return { spliced: removed, array };
};

const indexed = (using: Using, list: List, index: number, value: unknown): unknown[] => {
  if (!Number.isInteger(index) || index < 0) return fail(`A list has no item ${index}`);
  using.budget.make(Math.max(list.length, index + 1));
  const array = [...list, ...Array.from({ length: Math.max(0, index - list.length) }, () => null)];
  array[index] = value;
  return array;
};

export const lists: Readonly<Record<string, Method>> = {
  'Array.concat': method('list: list, ...more: any -> list', (using, list: List, ...more: unknown[]) => {
    using.budget.make(more.reduce<number>((sum, one) => sum + (Array.isArray(one) ? one.length : 1), list.length));
    return list.concat(...more);
  }),
  'Array.every': method('list: list, test: function, ...further: any -> boolean', (using, list: List, _, ...further) =>
    list.every(tests(using, list, further)),
  ),
  'Array.fill': method(
    'list: list, value: any, start?: number, end?: number -> list',
    (using, list: List, ...[value, start, end]) => copied(list, using).fill(value, start, end),
  ),
  'Array.filter': method('list: list, test: function, ...further: any -> list', (using, list: List, _, ...further) =>
    copied(list, using).filter(tests(using, list, further)),
  ),
  'Array.find': method('list: list, test: function, ...further: any -> any', (using, list: List, _, ...further) =>
    list.find(tests(using, list, further)),
  ),
  'Array.findIndex': method(
    'list: list, test: function, ...further: any -> number',
    (using, list: List, _, ...further) => list.findIndex(tests(using, list, further)),
  ),
  'Array.flat': method('list: list, depth?: number -> list', (using, list: List, depth = 1) =>
    flattened(using, list, depth),
  ),
  'Array.flatMap': method('list: list, change: function, ...further: any -> list', (using, list: List, _, ...further) =>
    flattened(using, results(using, list, further), 1),
  ),
  'Array.from': method('items: any -> list', (using, items) => {
    if (typeof items === 'string') using.budget.make(items.length);
    if (items instanceof Set || typeof items === 'string') return [...items];
    return Array.isArray(items) ? copied(items, using) : fail('items: a list, a set or a text is needed');
  }),
  'Array.getIndex': method('list: list, index: number -> any', (_, list: List, index: number) => list[index]),
  'Array.includes': method('list: values, value: value, from?: number -> boolean', (using, list: List, value, from) => {
    using.budget.spend(list.length);
    return list.includes(value, from);
  }),
  'Array.indexOf': method('list: values, value: value, from?: number -> number', (using, list: List, value, from) => {
    using.budget.spend(list.length);
    return list.indexOf(value, from);
  }),
  'Array.isArray': method('value: any -> boolean', (_, value) => Array.isArray(value)),
  'Array.join': method('list: values, separator?: text -> text', (using, list: List, separator = ',') =>
    joined(list, separator, using.budget),
  ),
  'Array.lastIndexOf': method(
    'list: values, value: value, from?: number -> number',
    (using, list: List, value, from) => {
      using.budget.spend(list.length);
      return from === undefined ? list.lastIndexOf(value) : list.lastIndexOf(value, from);
    },
  ),
  'Array.length': method('list: list -> number', (_, list: List) => list.length),
  'Array.map': method('list: list, change: function, ...further: any -> list', (using, list: List, _, ...further) =>
    results(using, list, further),
  ),
  'Array.pop': method('list: list -> {value, array}', (using, list: List) => ({
    value: list.at(-1),
    array: copied(list, using).slice(0, -1),
  })),
  'Array.push': method('list: list, ...items: any -> list', (using, list: List, ...items) => [
    ...copied(list, using, items.length),
    ...items,
  ]),
  'Array.reduce': method(
    'list: list, change: function, begin: any, ...further: any -> any',
    (using, list: List, ...[, begin, ...further]) =>
      list.reduce((sum, item, index) => using.call([sum, item, index, list], further), begin),
  ),
  'Array.reduceRight': method(
    'list: list, change: function, begin: any, ...further: any -> any',
    (using, list: List, ...[, begin, ...further]) =>
      list.reduceRight((sum, item, index) => using.call([sum, item, index, list], further), begin),
  ),
  'Array.reverse': method('list: list -> list', (using, list: List) => copied(list, using).reverse()),
  'Array.setIndex': method('list: list, index: number, value: any -> list', indexed),
  'Array.shift': method('list: list -> {value, array}', (using, list: List) => ({
    value: list[0],
    array: copied(list, using).slice(1),
  })),
  'Array.slice': method('list: list, start?: number, end?: number -> list', (using, list: List, start, end) => {
    using.budget.make(list.length);
    return list.slice(start, end);
  }),
  'Array.some': method('list: list, test: function, ...further: any -> boolean', (using, list: List, _, ...further) =>
    list.some(tests(using, list, further)),
  ),
  'Array.sort': method(
    'list: values, compare?: function, ...further: any -> list',
    (using, list: List, compare, ...further) =>
      compare === undefined
        ? sorted(using, list)
        : copied(list, using).sort((a, b) => numberOf(using.call([a, b], further), using.budget)),
  ),
  'Array.splice': method(
    'list: list, start?: number, ...countAndItems: any -> {spliced, array}',
    (using, list, ...rest) => spliced(using, list, rest),
  ),
  'Array.toString': method('list: values -> text', (using, list: List) => joined(list, ',', using.budget)),
  'Array.unshift': method('list: list, ...items: any -> list', (using, list: List, ...items) => [
    ...items,
    ...copied(list, using, items.length),
  ]),
};

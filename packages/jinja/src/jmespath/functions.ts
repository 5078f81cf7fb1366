import { isRaised, typeError } from '../errors.ts';
import { dumpJson } from '../filters/json.ts';
import { operate } from '../values/arithmetic.ts';
import { contains, type Order, ordered, sorted } from '../values/compare.ts';
import { toNumberOf } from '../values/convert.ts';
import { newDict, setKey } from '../values/dicts.ts';
import { knownLength, listOf } from '../values/iterate.ts';
import { toFloatOf, toIntOf } from '../values/parseNumber.ts';
import { characters } from '../values/text.ts';
import { type Dict, isDict, type Run, textOf, typeName, type Value } from '../values/values.ts';
import { isNumber, membersOf, type Query, queryError } from './query.ts';

/** `&expression`, which only functions take. */
export class Reference {
  readonly query: Query;

  constructor(query: Query) {
    this.query = query;
  }
}

type Argument = Value | Reference;

/** JMESPath's name for the type of an argument; undefined for what JSON does not have. */
const typeOf = (value: Argument): string | undefined => {
  if (value instanceof Reference) return 'expression';
  if (value === null) return 'null';
  if (isNumber(value)) return 'number';
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value;
  if (Array.isArray(value)) return 'array';
  return isDict(value) ? 'object' : undefined;
};

/** True if an argument has one of the types, such as `string|array-number`. An empty text stands for any type. */
const fits = (value: Argument, types: string): boolean =>
  types.split('|').some((type) => {
    const [outer, inner] = type.split('-');
    if (outer === '') return !(value instanceof Reference);
    return (
      typeOf(value) === outer && (inner === undefined || (value as Value[]).every((item) => typeOf(item) === inner))
    );
  });

type Callable = {
  readonly takes: readonly string[];
  /** True if the last argument may be repeated. */
  readonly more?: boolean;
  // The arguments have the types of `takes`.
  readonly call: (run: Run, ...args: any[]) => Value;
};

const sum = (run: Run, numbers: Value[]): Value =>
  numbers.reduce((total: Value, number) => operate(run, '+', total, number), 0n);

/** The first item with the greatest or the smallest key; null if there is none. */
const most = (run: Run, order: Order, items: readonly Value[], key: (item: Value) => Value): Value => {
  let best: readonly [key: Value, item: Value] | undefined;
  for (const item of items) {
    const found = key(item);
    if (!best || ordered(run, order, found, best[0])) best = [found, item];
  }
  return best?.[1] ?? null;
};

const keyBy =
  (run: Run, { query }: Reference) =>
  (item: Value): Value => {
    const key = query(run, item);
    if (!fits(key, 'number|string')) throw queryError('items are sorted by numbers or by texts');
    return key;
  };

const mostBy = (order: Order): Callable => ({
  takes: ['array', 'expression'],
  call: (run, items: Value[], by: Reference) => most(run, order, items, keyBy(run, by)),
});

const mostOf = (order: Order): Callable => ({
  takes: ['array-number|array-string'],
  call: (run, items: Value[]) => most(run, order, items, (item) => item),
});

const toNumber = (value: Value): Value => {
  if (isNumber(value)) return value;
  if (value === null || typeof value === 'boolean' || Array.isArray(value) || isDict(value)) return null;
  const text = textOf(value);
  if (text === undefined) throw typeError(`a number cannot be made of ${typeName(value)}`);
  for (const read of [(): Value => toIntOf(text, 10), (): Value => toFloatOf(text)]) {
    try {
      return read();
    } catch (error) {
      if (!isRaised(error, 'ValueError')) throw error;
    }
  }
  return null;
};

const whole = (round: (number: number) => number): Callable => ({
  takes: ['number'],
  call: (_run, value: bigint | number) => (typeof value === 'bigint' ? value : toNumberOf(round(value), 'int')),
});

const functions: ReadonlyMap<string, Callable> = new Map<string, Callable>([
  ['abs', { takes: ['number'], call: (_run, value: bigint | number) => (value < 0 ? -value : value) }],
  [
    'avg',
    {
      takes: ['array-number'],
      call: (run, items: Value[]) =>
        items.length === 0 ? null : operate(run, '/', sum(run, items), toNumberOf(BigInt(items.length), 'float')),
    },
  ],
  ['ceil', whole(Math.ceil)],
  ['contains', { takes: ['array|string', ''], call: contains }],
  ['ends_with', { takes: ['string', 'string'], call: (_run, text: string, end: string) => text.endsWith(end) }],
  ['floor', whole(Math.floor)],
  [
    'join',
    {
      takes: ['string', 'array-string'],
      call: (run, between: string, texts: string[]) => {
        run.budget.make(texts.reduce((size, text) => size + text.length + between.length, 0));
        return texts.join(between);
      },
    },
  ],
  ['keys', { takes: ['object'], call: listOf }],
  ['length', { takes: ['string|array|object'], call: (_run, value: Value) => BigInt(knownLength(value) ?? 0) }],
  [
    'map',
    {
      takes: ['expression', 'array'],
      call: (run, { query }: Reference, items: Value[]) => {
        run.budget.make(items.length);
        return items.map((item) => query(run, item));
      },
    },
  ],
  ['max', mostOf('>')],
  ['max_by', mostBy('>')],
  [
    'merge',
    {
      takes: ['object'],
      more: true,
      call: (run, ...dicts: Dict[]) => {
        const merged = newDict();
        for (const { entries } of dicts) {
          run.budget.make(entries.size);
          for (const [key, value] of entries.values()) setKey(merged, key, value);
        }
        return merged;
      },
    },
  ],
  ['min', mostOf('<')],
  ['min_by', mostBy('<')],
  ['not_null', { takes: [''], more: true, call: (_run, ...all: Value[]) => all.find((one) => one !== null) ?? null }],
  [
    'reverse',
    {
      takes: ['array|string'],
      call: (run, value: string | Value[]) =>
        typeof value === 'string' ? characters(run, value).reverse().join('') : listOf(run, value).reverse(),
    },
  ],
  ['sort', { takes: ['array-string|array-number'], call: (run, items: Value[]) => sorted(run, items, (item) => item) }],
  [
    'sort_by',
    {
      takes: ['array', 'expression'],
      call: (run, items: Value[], by: Reference) => (items.length === 0 ? items : sorted(run, items, keyBy(run, by))),
    },
  ],
  ['starts_with', { takes: ['string', 'string'], call: (_run, text: string, start: string) => text.startsWith(start) }],
  ['sum', { takes: ['array-number'], call: sum }],
  ['to_array', { takes: [''], call: (_run, value: Value) => (Array.isArray(value) ? value : [value]) }],
  ['to_number', { takes: [''], call: (_run, value: Value) => toNumber(value) }],
  [
    'to_string',
    {
      takes: [''],
      call: (run, value: Value) =>
        textOf(value) === undefined ? dumpJson(run, value, { separators: [',', ':'], sorted: false }) : value,
    },
  ],
  ['type', { takes: [''], call: (_run, value: Value) => typeOf(textOf(value) ?? value) ?? null }],
  ['values', { takes: ['object'], call: membersOf }],
]);

/** Calls a function of JMESPath by name. */
export const callFunction = (run: Run, name: string, args: readonly Argument[]): Value => {
  run.budget.step();
  const found = functions.get(name);
  if (!found) throw queryError(`there is no function ${name}()`);
  const { takes, more = false, call } = found;
  if (more ? args.length < takes.length : args.length !== takes.length)
    throw queryError(`${name}() takes ${takes.length} arguments${more ? ' or more' : ''}, not ${args.length}`);
  args.forEach((arg, i) => {
    if (Array.isArray(arg)) run.budget.step(arg.length);
    const types = takes[Math.min(i, takes.length - 1)] ?? '';
    if (!fits(arg, types)) throw queryError(`argument ${i + 1} of ${name}() must be ${types.replaceAll('|', ' or ')}`);
  });
  return call(run, ...args);
};

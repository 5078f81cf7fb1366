import { isObject, type Members } from '@automation-platform/json';
import { isSealed } from '../../engine/sealed.ts';
import { controlTask, type Outcome, type Using } from './controlTasks.ts';
import { parsed } from './jsonBounds.ts';
import { equalValues, numberOf, refuseSealed } from './operators.ts';
import { refuse } from './refusals.ts';
import { later, momentOf, offsetOf, written } from './times.ts';

/** One data task: its inputs in order, its output, and the function between them. */
type Row = {
  readonly takes: readonly string[];
  readonly gives: string;
  readonly run: (inputs: readonly unknown[], using: Using) => unknown;
  /** It moves values and does not look at them, so that there may be secrets among them. */
  readonly moves?: true;
};

const longest = 8 * 1024 * 1024;

const isMissing = (value: unknown): boolean => value === null || value === undefined;

const text = (value: unknown): string => (typeof value === 'string' ? value : refuse('A text is needed'));
const optionalText = (value: unknown): string | undefined => (isMissing(value) ? undefined : text(value));
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : refuse('A list is needed'));
const object = (value: unknown): Members =>
  isObject(value) && !isSealed(value) ? value : refuse('An object is needed');
/** An optional number; an empty text counts as missing. */
const number = (value: unknown): number | undefined =>
  isMissing(value) || value === '' ? undefined : (numberOf(value) ?? refuse('A number is needed'));
const scalar = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : refuse('A text, number or truth value is needed');
const bounded = (length: number): void => {
  if (length > longest) refuse('The text has more than 8 MiB');
};

/** A value as JavaScript's `String` writes it, whatever members an object has. */
const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return joined(value, ',');
  return isObject(value) ? '[object Object]' : String(value);
};

/** The items as JavaScript's `join` writes them. */
const joined = (items: readonly unknown[], separator: string): string => {
  const texts = items.map((item) => (isMissing(item) ? '' : textOf(item)));
  bounded(texts.reduce((sum, one) => sum + one.length + separator.length, 0));
  return texts.join(separator);
};

/** How many characters of white space an indented JSON text of the value has, about. */
const indentation = (value: unknown, level: number): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce<number>((sum, one) => sum + level + 1 + indentation(one, level + 1), level + 1);
};

const stringified = (value: unknown, replacer: unknown, space: unknown): string => {
  const width = number(space) ?? 0;
  bounded(indentation(value, 0) * Math.min(Math.max(width, 0), 10));
  const names = Array.isArray(replacer) ? replacer.map(textOf) : null;
  return JSON.stringify(value ?? null, names, width);
};

const firstIndex = (items: readonly unknown[], sought: unknown, from: unknown, { spend }: Using): number => {
  const start = number(from) ?? 0;
  const begin = start < 0 ? Math.max(items.length + start, 0) : start;
  return items.findIndex((item, i) => i >= begin && typeof item === typeof sought && equalValues(item, sought, spend));
};

const replaced = (value: string, part: string, by: string): string => {
  bounded(value.length * (by.split('$').length - 1) + value.length + by.length);
  return value.replace(part, by);
};

const sorted = (items: readonly unknown[], { spend }: Using): readonly unknown[] => {
  spend(items.length * Math.ceil(Math.log2(items.length + 1)));
  const keyed = items.map((item) => ({ item, key: textOf(item) }));
  return keyed.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key)).map(({ item }) => item);
};

const splitAt = (value: string, separator: string | undefined, limit: number | undefined, using: Using) => {
  const most = 1_000_001;
  const pieces = separator === undefined ? [value] : value.split(separator, Math.min(limit ?? most, most));
  using.spend(pieces.length);
  return pieces;
};

const radixOf = (value: unknown): number => {
  const radix = number(value) ?? 10;
  return Number.isInteger(radix) && radix >= 2 && radix <= 36 ? radix : refuse('radix must be 2 to 36');
};

const needed = (value: unknown): number => number(value) ?? refuse('A number is needed');
const pieces = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

const rows: Readonly<Record<string, Row>> = {
  stringConcat: {
    takes: ['str', 'stringN'],
    gives: 'combinedStrings',
    run: ([str, more]) => joined([text(str), ...pieces(more ?? '').map(scalar)], ''),
  },
  arrayPush: {
    takes: ['arr', 'elementN'],
    gives: 'pushedArray',
    run: ([arr, element]) => [...list(arr), element ?? null],
    moves: true,
  },
  arrayLength: { takes: ['arr'], gives: 'length', run: ([arr]) => list(arr).length, moves: true },
  getTime: {
    takes: ['timezone', 'offsetDuration', 'format'],
    gives: 'time',
    run: ([zone, duration, format], { now }) => written(later(now, duration), zone, format),
  },
  parse: { takes: ['text'], gives: 'textObject', run: ([one], { spend }) => parsed(text(one), spend) },
  arrayConcat: {
    takes: ['arr', 'arrayN'],
    gives: 'combinedArray',
    run: ([arr, more]) => [...list(arr), ...pieces(more ?? [])],
    moves: true,
  },
  objectToString: {
    takes: ['value', 'replacer', 'space'],
    gives: 'stringified',
    run: ([value, replacer, space]) => stringified(value, replacer, space),
  },
  numberToString: {
    takes: ['num', 'radix'],
    gives: 'numToString',
    run: ([num, radix]) => needed(num).toString(radixOf(radix)),
  },
  calculateTimeDiff: {
    takes: ['firstTime', 'secondTime'],
    gives: 'timeDiff',
    run: ([first, second]) => Math.abs(momentOf(first, 'firstTime') - momentOf(second, 'secondTime')),
  },
  arrayToString: { takes: ['arr'], gives: 'arrayString', run: ([arr]) => joined(list(arr), ',') },
  arrayIncludes: {
    takes: ['arr', 'searchElement', 'fromIndex'],
    gives: 'result',
    run: ([arr, element, from], using) => firstIndex(list(arr), element, from, using) >= 0,
  },
  convertTimeFormat: {
    takes: ['inputTime', 'newFormatString'],
    gives: 'convertedTime',
    run: ([time, format]) => written(momentOf(time, 'inputTime'), '', format),
  },
  replace: {
    takes: ['str', 'substr', 'newSubstr'],
    gives: 'replacedString',
    run: ([str, part, by]) => replaced(text(str), text(part), text(by ?? '')),
  },
  validateJsonSchema: {
    takes: ['jsonData', 'schema'],
    gives: 'result',
    run: ([data, schema], { fits }) => fits(schema, data),
  },
  toLowerCase: { takes: ['str'], gives: 'lowercaseString', run: ([str]) => text(str).toLowerCase() },
  toUpperCase: { takes: ['str'], gives: 'uppercaseString', run: ([str]) => text(str).toUpperCase() },
  arrayIndexOf: {
    takes: ['arr', 'searchElement', 'fromIndex'],
    gives: 'index',
    run: ([arr, element, from], using) => firstIndex(list(arr), element, from, using),
  },
  stringLength: { takes: ['str'], gives: 'length', run: ([str]) => text(str).length },
  substring: {
    takes: ['str', 'indexStart', 'indexEnd'],
    gives: 'substring',
    run: ([str, start, end]) => text(str).substring(number(start) ?? 0, number(end)),
  },
  join: {
    takes: ['arr', 'separator'],
    gives: 'joinedElements',
    run: ([arr, separator]) => joined(list(arr), optionalText(separator) ?? ','),
  },
  split: {
    takes: ['str', 'separator', 'limit'],
    gives: 'splitArray',
    run: ([str, separator, limit], using) => splitAt(text(str), optionalText(separator), number(limit), using),
  },
  trim: { takes: ['str'], gives: 'trimmedString', run: ([str]) => text(str).trim() },
  arraySlice: {
    takes: ['arr', 'start', 'end'],
    gives: 'slicedArray',
    run: ([arr, start, end]) => list(arr).slice(number(start), number(end)),
    moves: true,
  },
  sort: { takes: ['arr'], gives: 'sortedArray', run: ([arr], using) => sorted(list(arr), using) },
  reverse: { takes: ['arr'], gives: 'reversedArray', run: ([arr]) => list(arr).toReversed(), moves: true },
  keys: { takes: ['obj'], gives: 'keys', run: ([obj]) => Object.keys(object(obj)), moves: true },
  values: { takes: ['obj'], gives: 'values', run: ([obj]) => Object.values(object(obj)), moves: true },
  assign: {
    takes: ['target', 'sources'],
    gives: 'object',
    run: ([target, sources], { spend }) => {
      const entries = [target ?? {}, ...pieces(sources ?? {})].flatMap((one) => Object.entries(object(one)));
      spend(entries.length);
      return Object.fromEntries(entries);
    },
    moves: true,
  },
  addDuration: {
    takes: ['time', 'duration'],
    gives: 'time',
    run: ([time, duration]) => written(later(momentOf(time, 'time'), duration), '', ''),
  },
  convertTimezone: {
    takes: ['time', 'timezone'],
    gives: 'time',
    run: ([time, zone]) => {
      const at = momentOf(time, 'time');
      return written(at, offsetOf(at, zone) === 0 ? '' : zone, '');
    },
  },
};

/** The names, inputs and outputs of the data tasks. */
export const dataTasks: Readonly<Record<string, Pick<Row, 'takes' | 'gives' | 'moves'>>> = rows;

const dataTask = (name: string): Row | undefined => (Object.hasOwn(rows, name) ? rows[name] : undefined);

/** True if a decision carries out the task itself. */
export const isInstant = (app: string, name: string): boolean =>
  app === 'WorkFlowEngine' && (controlTask(name) ?? dataTask(name)) !== undefined;

/** Carries out a control or data task. Throws `RequestError` for what becomes the error of the task. */
export const performed = (name: string, inputs: Members, using: Using): Outcome => {
  const control = controlTask(name);
  if (control) return control(inputs, using);
  const row = dataTask(name) ?? refuse(`${name} is no task of the engine`);
  const args = row.takes.map((input) => (Object.hasOwn(inputs, input) ? inputs[input] : undefined));
  if (!row.moves) refuseSealed(args, using);
  return { result: 'success', outgoing: Object.fromEntries([[row.gives, row.run(args, using) ?? null]]) };
};

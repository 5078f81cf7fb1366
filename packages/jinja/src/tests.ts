import { within } from './collections.ts';
import { typeError } from './errors.ts';
import { filters } from './filters/all.ts';
import { type How, hasMatch, hows } from './patterns.ts';
import { bind, type Given, type Named, needText, type Parameters } from './values/arguments.ts';
import { operate } from './values/arithmetic.ts';
import { isCase } from './values/cases.ts';
import { contains, equal, type Order, ordered } from './values/compare.ts';
import { keyOf } from './values/dicts.ts';
import { str } from './values/print.ts';
import {
  isDict,
  isMarkup,
  isThing,
  isTuple,
  isUndefined,
  kindOf,
  numberOf,
  type Run,
  textOf,
  truthy,
  type Value,
} from './values/values.ts';
import { versionCompare } from './versions.ts';

type Test = {
  readonly parameters: Parameters;
  // The type is `any`, because each test declares its own arguments. `bind` passes Values, and undefined for missing
  // optional arguments.
  readonly holds: (run: Run, value: Value, ...args: any[]) => boolean;
};

const of = (holds: (value: Value, run: Run) => boolean): Test => ({
  parameters: [],
  holds: (run, value) => holds(value, run),
});
const order = (which: Order): Test => ({ parameters: ['other'], holds: (run, a, b) => ordered(run, which, a, b) });
const same: Test = { parameters: ['other'], holds: (run, a, b) => equal(run, a, b) };
const different: Test = { parameters: ['other'], holds: (run, a, b) => !equal(run, a, b) };

const remainder = (run: Run, value: Value, by: Value): Value => operate(run, '%', value, by);
const hasLength = (value: Value): boolean =>
  textOf(value) !== undefined || Array.isArray(value) || isTuple(value) || isDict(value) || kindOf(value) === 'range';

const iterable = (value: Value): boolean => {
  if (textOf(value) !== undefined || Array.isArray(value)) return true;
  if (typeof value !== 'object' || value === null) return false;
  return value.kind !== 'thing' || value.type === 'LoopContext';
};

/** The name for a look-up in a table. Python raises an error for a value that cannot be a key. */
const tableName = (value: Value): string => {
  keyOf(value);
  return textOf(value) ?? '';
};

/** True if a text has a match. */
const matching = (how: How, parameters: Parameters = []): Test => ({
  parameters: ['pattern?', 'ignorecase?', 'multiline?', ...parameters],
  holds: (run, value, pattern: Value = '', ignoreCase: Value = false, multiline: Value = false, type: Value = how) => {
    const where = hows.find((name) => name === textOf(type));
    if (where === undefined) throw typeError(`match_type must be one of ${hows.join(', ')}`);
    const flags = { ignoreCase: truthy(ignoreCase), multiline: truthy(multiline) };
    return hasMatch(run, needText(pattern, 'pattern'), flags, [str(run, value), where]);
  },
});

const ofVersions: Test = { parameters: versionCompare.parameters, holds: versionCompare.call };

const ansible = within<Test>(['ansible.builtin'], {
  match: matching('match'),
  search: matching('search'),
  regex: matching('search', ['match_type?']),
  version: ofVersions,
  version_compare: ofVersions,
});

/** Tests by name: those of Jinja2, and of Ansible those that templates of networks use. */
export const tests: ReadonlyMap<string, Test> = new Map<string, Test>([
  ...Object.entries(ansible),
  ['odd', of((value, run) => equal(run, remainder(run, value, 2n), 1n))],
  ['even', of((value, run) => equal(run, remainder(run, value, 2n), 0n))],
  ['divisibleby', { parameters: ['num'], holds: (run, value, by) => equal(run, remainder(run, value, by), 0n) }],
  ['defined', of((value) => !isUndefined(value))],
  ['undefined', of((value) => isUndefined(value))],
  ['filter', of((value) => filters.has(tableName(value)))],
  ['test', of((value) => tests.has(tableName(value)))],
  ['none', of((value) => value === null)],
  ['boolean', of((value) => typeof value === 'boolean')],
  ['false', of((value) => value === false)],
  ['true', of((value) => value === true)],
  ['integer', of((value) => typeof value === 'bigint')],
  ['float', of((value) => typeof value === 'number')],
  ['lower', of((value, run) => isCase(str(run, value), 'lower'))],
  ['upper', of((value, run) => isCase(str(run, value), 'upper'))],
  ['string', of((value) => textOf(value) !== undefined)],
  ['mapping', of(isDict)],
  ['number', of((value) => numberOf(value) !== undefined)],
  ['sequence', of((value) => hasLength(value) || isUndefined(value))],
  ['iterable', of(iterable)],
  ['callable', of((value) => (isThing(value) && value.call !== undefined) || isUndefined(value))],
  ['sameas', { parameters: ['other'], holds: (_run, a, b) => a === b }],
  ['escaped', of(isMarkup)],
  ['in', { parameters: ['seq'], holds: (run, value, container) => contains(run, container, value) }],
  ...['==', 'eq', 'equalto'].map((name) => [name, same] as const),
  ...['!=', 'ne'].map((name) => [name, different] as const),
  ...['>', 'gt', 'greaterthan'].map((name) => [name, order('>')] as const),
  ...['>=', 'ge'].map((name) => [name, order('>=')] as const),
  ...['<', 'lt', 'lessthan'].map((name) => [name, order('<')] as const),
  ...['<=', 'le'].map((name) => [name, order('<=')] as const),
]);

export const callTest = (
  run: Run,
  [name, { parameters, holds }]: Named<Test>,
  value: Value,
  callArgs: Given,
): boolean => holds(run, value, ...bind(name, parameters, callArgs.args, callArgs.kwargs));

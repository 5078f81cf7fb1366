import type { Given, Named } from '../values/arguments.ts';
import { listOf } from '../values/iterate.ts';
import { escaped } from '../values/print.ts';
import { isMarkup, isTuple, markup, type Run, textOf, tuple, type Value } from '../values/values.ts';

const escaping = new Set([
  'capitalize',
  'title',
  'lower',
  'upper',
  'replace',
  'ljust',
  'rjust',
  'lstrip',
  'rstrip',
  'center',
  'strip',
  'expandtabs',
  'swapcase',
  'zfill',
  'partition',
  'rpartition',
]);
const wrapping = new Set([...escaping, 'split', 'rsplit', 'splitlines', 'join', 'format']);

const safeResult = (result: Value): Value => {
  if (typeof result === 'string') return markup(result);
  if (Array.isArray(result)) return result.map(safeResult);
  return isTuple(result) ? tuple(result.items.map(safeResult)) : result;
};

/** The arguments for a method of a safe str. Most methods need the texts among them escaped. */
const safeArguments = (run: Run, name: string, args: readonly Value[]): readonly Value[] => {
  const safe = (value: Value): Value => (textOf(value) === undefined ? value : escaped(run, value).text);
  if (name === 'join') return args.map((arg) => listOf(run, arg).map((item) => escaped(run, item).text));
  return escaping.has(name) ? args.map(safe) : args;
};

/** Calls a method of a value. If the value is a safe str, the arguments are escaped and the results are safe. */
export const safely = (
  run: Run,
  self: Value,
  [name, call]: Named<(callArgs: Given) => Value>,
  { args, kwargs }: Given,
): Value => {
  if (!isMarkup(self) || !wrapping.has(name)) return call({ args, kwargs });
  return safeResult(call({ args: safeArguments(run, name, args), kwargs }));
};

import { escaped } from '../values/print.ts';
import { listOf } from '../values/iterate.ts';
import {
  type Kwargs,
  type Run,
  type Value,
  isMarkup,
  isTuple,
  markup,
  noKwargs,
  textOf,
  tuple,
} from '../values/values.ts';

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

/** Calls a method of a str; of a safe one the texts among the arguments are escaped and the results are safe again. */
export const safely = (
  run: Run,
  self: Value,
  name: string,
  call: (args: readonly Value[], kwargs: Kwargs) => Value,
  args: readonly Value[] = [],
  kwargs: Kwargs = noKwargs,
): Value => {
  if (!isMarkup(self) || !wrapping.has(name)) return call(args, kwargs);
  const safe = (value: Value): Value => (textOf(value) === undefined ? value : escaped(run, value).text);
  const given =
    name === 'join'
      ? args.map((arg) => listOf(run, arg).map((item) => escaped(run, item).text))
      : escaping.has(name)
        ? args.map(safe)
        : args;
  const wrap = (result: Value): Value =>
    typeof result === 'string'
      ? markup(result)
      : Array.isArray(result)
        ? result.map(wrap)
        : isTuple(result)
          ? tuple(result.items.map(wrap))
          : result;
  return wrap(call(given, kwargs));
};

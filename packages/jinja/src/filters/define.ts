import { type Builtin, type Given, invoke, type Named } from '../values/arguments.ts';
import type { Kwargs, Run, Value } from '../values/values.ts';

/** A filter. It either names its parameters after the value, or gets all arguments of the call. */
export type Filter =
  | Builtin
  | { readonly all: (run: Run, value: Value, args: readonly Value[], kwargs: Kwargs) => Value };

export type Filters = Readonly<Record<string, Filter>>;

export const callFilter = (run: Run, [name, filter]: Named<Filter>, value: Value, callArgs: Given): Value => {
  if ('all' in filter) return filter.all(run, value, callArgs.args, callArgs.kwargs);
  const { parameters, call } = filter;
  const bound: Builtin = { parameters, call: (run, ...args) => call(run, value, ...args) };
  return invoke(run, [name, bound], callArgs);
};

import type { Parameters } from '../values/arguments.ts';
import { invoke } from '../values/arguments.ts';
import type { Kwargs, Run, Value } from '../values/values.ts';

/** A filter: its parameters after the value, or all that it is given. */
export type Filter =
  | { readonly parameters: Parameters; readonly call: (run: Run, ...args: any[]) => Value } // bound arguments are Value or, where optional, undefined
  | { readonly all: (run: Run, value: Value, args: readonly Value[], kwargs: Kwargs) => Value };

export type Filters = Readonly<Record<string, Filter>>;

export const callFilter = (
  run: Run,
  name: string,
  filter: Filter,
  value: Value,
  args: readonly Value[],
  kwargs: Kwargs,
): Value => {
  if ('all' in filter) return filter.all(run, value, args, kwargs);
  const { parameters, call } = filter;
  return invoke(run, name, { parameters, call: (run, ...bound) => call(run, value, ...bound) }, args, kwargs);
};

import { type PythonError, typeError, undefinedError } from '../errors.ts';
import { intOf, isUndefined, type Kwargs, type Run, textOf, typeName, type Value } from './values.ts';

/** A function's parameters: `name`, or `name?` for an optional one. */
export type Parameters = readonly string[];

/** The arguments of a call. */
export type Given = { readonly args: readonly Value[]; readonly kwargs: Kwargs };

/** Something that was found by name, and the name. */
export type Named<T> = readonly [name: string, found: T];

/** Puts the arguments in the order of the parameters. A parameter without an argument is JavaScript's undefined. */
export const bind = (
  name: string,
  parameters: Parameters,
  args: readonly Value[],
  kwargs: Kwargs,
  byKeyword = true,
): (Value | undefined)[] => {
  if (args.length > parameters.length)
    throw typeError(`${name}() takes at most ${parameters.length} arguments (${args.length} given)`);
  const bound: (Value | undefined)[] = [...args];
  for (const [keyword, value] of kwargs) {
    const at = parameters.findIndex((parameter) => parameter === keyword || parameter === `${keyword}?`);
    if (at < 0 || !byKeyword) throw typeError(`${name}() got an unexpected keyword argument '${keyword}'`);
    if (bound[at] !== undefined) throw typeError(`${name}() got multiple values for argument '${keyword}'`);
    bound[at] = value;
  }
  parameters.forEach((parameter, i) => {
    if (bound[i] === undefined && !parameter.endsWith('?'))
      throw typeError(`${name}() missing a required argument: '${parameter}'`);
  });
  return bound;
};

/**
 * The error for a value that cannot be used: an Undefined has an error of its own, other values get a TypeError with
 * this message.
 */
export const unusable = (value: Value, message: string): PythonError =>
  isUndefined(value) ? undefinedError(value.message) : typeError(message);

/** An argument that must be an int. */
export const needInt = (value: Value): bigint => {
  const int = intOf(value);
  if (int === undefined) throw typeError(`'${typeName(value)}' object cannot be interpreted as an integer`);
  return int;
};

/** An argument that must be a str. */
export const needText = (value: Value, what = 'argument'): string => {
  const text = textOf(value);
  if (text === undefined) throw typeError(`${what} must be str, not ${typeName(value)}`);
  return text;
};

/** An int as a JavaScript number. Numbers that are too large for an index are limited. */
export const toIndex = (value: bigint): number => {
  if (value > 0x7fffffffn) return 0x7fffffff;
  return value < -0x7fffffffn ? -0x7fffffff : Number(value);
};

/** The arguments `start` and `stop` of a search, as indexes within the length. */
export const bounds = (
  length: number,
  start: Value | undefined,
  stop: Value | undefined,
): readonly [number, number] => {
  const within = (value: Value | undefined, otherwise: number): number => {
    if (value === undefined || value === null) return otherwise;
    const index = toIndex(needInt(value));
    return Math.min(Math.max(index < 0 ? index + length : index, 0), length);
  };
  return [within(start, 0), within(stop, length)];
};

/** A function of this engine and its parameters. */
export type Builtin = {
  readonly parameters: Parameters;
  // The type is `any`, because each function declares its own arguments. `bind` passes Values, and undefined for
  // missing optional arguments.
  readonly call: (run: Run, ...args: any[]) => Value;
};

/** The methods of a type by name. The first argument of each is the value itself. */
export type Methods = ReadonlyMap<string, Builtin>;

/** Calls a function of this engine with arguments from a template. */
export const invoke = (
  run: Run,
  [name, { parameters, call }]: Named<Builtin>,
  { args, kwargs }: Given,
  byKeyword = true,
): Value => call(run, ...bind(name, parameters, args, kwargs, byKeyword));

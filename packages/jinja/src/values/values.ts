import type { Budget } from '../budget.ts';

/** Arguments of a call by keyword. */
export type Kwargs = ReadonlyMap<string, Value>;

/** The state of a render. */
export type Run = {
  readonly budget: Budget;
  /** The template that is at work, and its line. One whose text was given has no name. */
  template: { readonly name: string | undefined };
  line: number;
  /** True if printed values are escaped for HTML. */
  escaping: boolean;
  filter(name: Value, value: Value, args: readonly Value[], kwargs: Kwargs): Value;
  test(name: Value, value: Value, args: readonly Value[], kwargs: Kwargs): boolean;
  /** `value.name` and `value[key]`, as in a template. */
  attribute(value: Value, name: string): Value;
  item(value: Value, key: Value): Value;
};

/** A string that is safe in HTML. */
export type Markup = { readonly kind: 'markup'; readonly text: string };
/** A str, safe or not. */
export type Text = string | Markup;
export type Tuple = { readonly kind: 'tuple'; readonly items: readonly Value[]; readonly names?: readonly string[] };
/** Entries are in the order of insertion. Their keys in the map come from `keyOf`. */
export type Dict = { readonly kind: 'dict'; readonly entries: Map<unknown, readonly [Value, Value]> };
export type View = { readonly kind: 'view'; readonly of: 'keys' | 'values' | 'items'; readonly dict: Dict };
export type Range = {
  readonly kind: 'range';
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;
  readonly length: number;
};
/** Yields each item once. `next` returns JavaScript's undefined at the end. */
export type Iterator = { readonly kind: 'iterator'; readonly name: string; readonly next: () => Value | undefined };
/** Jinja2's Undefined. `message` is the error for its use. */
export type Undefined = { readonly kind: 'undefined'; readonly message: string };
/** A value with attributes or calls of its own, such as a method, macro, loop or namespace. */
export type Thing = {
  readonly kind: 'thing';
  readonly type: string;
  /** The text that is printed for it. */
  readonly print: () => string;
  /** Its text, which is safe in HTML, if it prints as another one within other values. */
  readonly text?: () => string;
  readonly get?: (name: string) => Value | undefined;
  readonly set?: (name: string, value: Value) => void;
  readonly call?: (run: Run, args: readonly Value[], kwargs: Kwargs) => Value;
  /** The length, for things that have one, such as `loop`. */
  readonly length?: () => number;
};

/**
 * Python's values. int is bigint (always exact), float is number, None is null, and list is an array. JavaScript's
 * undefined means that nothing was given; it is no value.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Value[]
  | Markup
  | Tuple
  | Dict
  | View
  | Range
  | Iterator
  | Undefined
  | Thing;

export const tuple = (items: readonly Value[]): Tuple => ({ kind: 'tuple', items });
export const namedTuple = (items: readonly Value[], names: readonly string[]): Tuple => ({
  kind: 'tuple',
  items,
  names,
});
export const markup = (text: string): Markup => ({ kind: 'markup', text });
export const undefinedValue = (message: string): Undefined => ({ kind: 'undefined', message });
export const noKwargs: Kwargs = new Map();

/** The value, or another one in place of JavaScript's undefined. `??` would replace None as well. */
export const orElse = (value: Value | undefined, otherwise: () => Value): Value =>
  value === undefined ? otherwise() : value;

/** A Python generator. */
export const generator = (name: string, items: Generator<Value>): Iterator => ({
  kind: 'iterator',
  name,
  next: () => {
    const { done, value } = items.next();
    return done ? undefined : value;
  },
});

/** A function. `printed` is the text that Python prints for it. */
export const callable = (type: string, printed: string, call: NonNullable<Thing['call']>): Thing => ({
  kind: 'thing',
  type,
  print: () => printed,
  call,
});

/** The kind of a value that has a `kind`; undefined for one without. */
export const kindOf = (value: Value): string | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value.kind : undefined;

export const isUndefined = (value: Value): value is Undefined => kindOf(value) === 'undefined';
export const isDict = (value: Value): value is Dict => kindOf(value) === 'dict';
export const isTuple = (value: Value): value is Tuple => kindOf(value) === 'tuple';
export const isMarkup = (value: Value): value is Markup => kindOf(value) === 'markup';
export const isThing = (value: Value): value is Thing => kindOf(value) === 'thing';

/** The characters of a str, safe or not; undefined for other values. */
export const textOf = (value: Value): string | undefined => {
  if (typeof value === 'string') return value;
  return isMarkup(value) ? value.text : undefined;
};

/** The characters of a str. */
export const charactersOf = (text: Text): string => (typeof text === 'string' ? text : text.text);

/** The number of a bool, int or float; undefined for other values. */
export const numberOf = (value: Value): bigint | number | undefined => {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  return typeof value === 'boolean' ? BigInt(value) : undefined;
};

/** The int of a bool or int; undefined for other values. */
export const intOf = (value: Value): bigint | undefined => {
  if (typeof value === 'bigint') return value;
  return typeof value === 'boolean' ? BigInt(value) : undefined;
};

/** The name of the type in Python's messages. */
export const typeName = (value: Value): string => {
  if (value === null) return 'NoneType';
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return 'float';
    case 'string':
      return 'str';
  }
  if (Array.isArray(value)) return 'list';
  switch (value.kind) {
    case 'markup':
      return 'Markup';
    case 'undefined':
      return 'Undefined';
    case 'iterator':
      return value.name.startsWith('sync_') || value.name.startsWith('do_') ? 'generator' : value.name;
    case 'view':
      return `dict_${value.of}`;
    case 'thing':
      return value.type;
    default:
      return value.kind;
  }
};

/** bool(value) */
export const truthy = (value: Value): boolean => {
  if (value === null) return false;
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'bigint':
      return value !== 0n;
    case 'number':
      return value !== 0;
    case 'string':
      return value !== '';
  }
  if (Array.isArray(value)) return value.length > 0;
  switch (value.kind) {
    case 'markup':
      return value.text !== '';
    case 'tuple':
      return value.items.length > 0;
    case 'dict':
      return value.entries.size > 0;
    case 'view':
      return value.dict.entries.size > 0;
    case 'range':
      return value.length > 0;
    case 'undefined':
      return false;
    case 'iterator':
      return true;
    case 'thing':
      return value.length ? value.length() > 0 : true;
  }
};

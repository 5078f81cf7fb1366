import { type Budget, fail } from './budget.ts';
import type { LinearPattern } from './patterns.ts';
import { isHolder, numberOf, textOf } from './values.ts';

/**
 * The type of an argument. `any` is moved and not looked at; so are the members of `list` and `object`. All else is looked
 * at, so that no secret may be in them.
 */
type Type =
  | 'any'
  | 'list'
  | 'object'
  | 'truth'
  | 'value'
  | 'values'
  | 'text'
  | 'number'
  | 'pattern'
  | 'text|pattern'
  | 'date'
  | 'function';

/** `optional`: null counts as missing. `rest`: all that follow, too. */
export type Parameter = {
  readonly name: string;
  readonly type: Type;
  readonly optional: boolean;
  readonly rest: boolean;
};

/** The parts that a method can use of a run. */
export type Using = {
  readonly budget: Budget;
  /** The instant of the run, in milliseconds. */
  readonly now: number;
  readonly random: () => number;
  readonly pattern: (source: string, flags: string) => LinearPattern;
  /** The WorkFlowEngine's query; undefined if nothing is there. */
  readonly query: (value: unknown, text: string) => unknown;
  /** A member or item; undefined if there is none. Refuses to look into a secret. */
  readonly part: (value: unknown, key: string) => unknown;
  /** Calls a function of the document. */
  readonly call: (args: readonly unknown[], further: readonly unknown[]) => unknown;
  /** True as JavaScript says. Refuses secrets. */
  readonly isTrue: (value: unknown) => boolean;
  readonly polymorphIndex: number;
};

// biome-ignore lint/suspicious/noExplicitAny: the signature decides the types of the arguments, and `fitting` brings them about.
type Run = (using: Using, ...args: any[]) => unknown;

export type Method = {
  readonly takes: readonly Parameter[];
  readonly gives: string;
  readonly run: Run;
};

/** A method by its signature: `text: text, from?: number -> text`. */
export const method = (signature: string, run: Run): Method => {
  const [takes = '', gives = ''] = signature.split(/ ?-> /);
  const parameters = takes
    .split(', ')
    .filter((one) => one !== '')
    .map((one) => {
      const [name = '', type = ''] = one.split(': ');
      return {
        name: name.replace(/^\.\.\.|\?$/g, ''),
        type: type as Type,
        optional: name.endsWith('?'),
        rest: name.startsWith('...'),
      };
    });
  return { takes: parameters, gives, run };
};

const isPattern = (value: unknown): boolean => value instanceof RegExp;

const converted = (value: unknown, type: Type, budget: Budget): unknown => {
  const need = (what: string): never => fail(`${what} is needed`);
  switch (type) {
    case 'list':
    case 'values':
      return Array.isArray(value) ? value : need('a list');
    case 'object':
      return isHolder(value) ? value : need('an object');
    case 'text':
      return ['string', 'number', 'boolean'].includes(typeof value) ? textOf(value, budget) : need('a text');
    case 'number':
      return numberOf(value, budget);
    case 'pattern':
      return isPattern(value) ? value : need('a pattern');
    case 'text|pattern':
      return isPattern(value) ? value : textOf(value, budget);
    case 'function':
      return value ?? need('a function');
    case 'date':
      return value instanceof Date ? value : need('a date');
    default:
      return value;
  }
};

/** Throws `Failure` for a secret in what is looked at: itself, or at any depth. */
export type Guard = (value: unknown, atAnyDepth: boolean) => void;

/** The arguments as the method takes them. Throws `Failure` for one that has the wrong type. */
export const fitting = (
  { takes }: Method,
  values: readonly unknown[],
  { budget, guard }: { readonly budget: Budget; readonly guard: Guard },
): readonly unknown[] => {
  const last = takes.at(-1);
  const count = last?.rest ? Math.max(takes.length - 1, values.length) : takes.length;
  return Array.from({ length: count }, (_, i) => {
    const { name, type, optional } = takes[i] ?? last!;
    const value = values[i];
    if (optional && (value === null || value === undefined)) return undefined;
    if (type !== 'any') guard(value, type !== 'list' && type !== 'object' && type !== 'truth');
    try {
      return converted(value, type, budget);
    } catch (error) {
      return fail(`${name}: ${(error as Error).message}`);
    }
  });
};

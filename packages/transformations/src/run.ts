import { isObject, type Members, own } from '@automation-platform/json';
import { type Budget, Failure, fail, limits, newBudget } from './budget.ts';
import type { Branch, Scope, Step, Wire } from './document.ts';
import { LinearPattern } from './patterns.ts';
import type { Plan } from './plan.ts';
import { partOf, withPart } from './pointers.ts';
import { fitting, type Guard, type Using } from './signatures.ts';
import { asJson, deeper, isHolder, itemsIn, joined, objectOf } from './values.ts';

export type RunOptions = {
  /** The instant of the run, in milliseconds. */
  readonly now: number;
  /** Numbers from 0 to 1. */
  readonly random: () => number;
  /** An input that is missing is its schema's `default`. */
  readonly revertToDefaultValue?: boolean;
  /** True if a value is a secret: it can be moved, but not looked at. */
  readonly isSealed?: (value: unknown) => boolean;
  /** The query of `WorkFlowEngine.query`; undefined if nothing is there. `match`: in linear time. */
  readonly query?: (value: unknown, text: string, using: Querying) => unknown;
};

export type Querying = {
  readonly match: (pattern: string, text: string) => boolean;
  readonly spend: (size: number) => void;
};

/** Why a run ends without a result. `step` and `method` are null where it is about the whole. */
export type RunError = {
  readonly step: string | null;
  readonly method: string | null;
  readonly reason: string;
  readonly message: string;
};

export type Ran = { readonly outgoing: Members } | { readonly error: RunError };

/** A failure with the step that failed, the innermost one. */
class StepFailure extends Error {
  readonly step: Step;
  readonly within: Scope;
  constructor(step: Step, within: Scope, reason: string) {
    super(reason);
    this.step = step;
    this.within = within;
  }
}

type Run = {
  readonly options: RunOptions;
  readonly budget: Budget;
  readonly isSealed: (value: unknown) => boolean;
  readonly guard: Guard;
};

/** One call of the document or of a function. */
type Frame = { readonly scope: Scope; readonly incoming: Members; readonly values: Map<Step, unknown>; depth: number };

const secret = 'A secret can be moved, but not looked at';

const guardOf =
  (isSealed: Run['isSealed'], budget: Budget): Guard =>
  (value, atAnyDepth) => {
    const look = (one: unknown, level: number): void => {
      if (typeof one !== 'object' || one === null) return;
      if (isSealed(one)) fail(secret);
      if (!atAnyDepth) return;
      budget.spend(1);
      for (const item of itemsIn(one)) look(item, deeper(level));
    };
    look(value, 0);
  };

const pathIn = (run: Run, value: unknown, steps: readonly string[]): unknown =>
  steps.reduce((inner: unknown, key) => {
    run.guard(inner, false);
    return partOf(inner, key);
  }, value);

/** True if the branches were chosen. Branch 0 of a switch is that of no case. */
const counts = (run: Run, frame: Frame, branches: readonly Branch[]): boolean =>
  branches.every(({ step, index }) => {
    const choice = frame.scope.steps.get(step)!;
    const value = valueAt(run, frame, choice);
    return choice.cases.indexOf(value) + 1 === index;
  });

const wired = (run: Run, frame: Frame, { step, name, from, branches }: Wire): unknown => {
  if (!counts(run, frame, branches)) return undefined;
  const value = step === null ? own(frame.incoming, name) : valueAt(run, frame, frame.scope.steps.get(step)!);
  return pathIn(run, value, from);
};

const argumentsOf = (run: Run, frame: Frame, step: Step): readonly unknown[] => {
  const args = [...step.args];
  for (const wire of step.wires) {
    const value = wired(run, frame, wire);
    const [index, ...within] = wire.to;
    if (value === undefined) continue;
    const at = Number(index);
    while (args.length < at) args.push(null);
    args[at] = withPart(args[at], within, value);
  }
  return args;
};

const failureOf = (error: unknown, step: Step, scope: Scope): Error => {
  if (error instanceof StepFailure || error instanceof RangeError) return error;
  return new StepFailure(step, scope, (error as Error).message);
};

/** The value of a step, which is computed once. */
const valueAt = (run: Run, frame: Frame, step: Step): unknown => {
  if (frame.values.has(step)) return frame.values.get(step);
  if (!counts(run, frame, step.branches)) return undefined;
  const args = argumentsOf(run, frame, step);
  let value: unknown;
  try {
    run.budget.step();
    value = computed(run, frame, step, args);
  } catch (error) {
    throw failureOf(error, step, frame.scope);
  }
  frame.values.set(step, value);
  return value;
};

const computed = (run: Run, frame: Frame, step: Step, args: readonly unknown[]): unknown => {
  const { scope } = step;
  if (step.kind === 'function') return outgoingOf(run, scope!, inputsOf(scope!, args), frame.depth + 1);
  if (step.kind === 'template') return filled(run, step, args);
  const call: Using['call'] = (input, further) => called(run, scope!, { input, further, depth: frame.depth + 1 });
  // The function itself is known; an optional one that is not named is missing.
  const input = args.map((arg, i) => (step.method!.takes[i]?.type === 'function' ? scope?.name : arg));
  return step.method!.run(usingOf(run, step, call), ...fitting(step.method!, input, run));
};

const filled = (run: Run, { template }: Step, args: readonly unknown[]): string => {
  for (const arg of args) run.guard(arg, true);
  return joined(
    template.map((part) => (typeof part === 'number' ? args[part] : part)),
    '',
    run.budget,
  );
};

const usingOf = ({ options, budget, guard }: Run, step: Step, call: Using['call']): Using => {
  const pattern = (source: string, flags: string) => new LinearPattern(source, flags, budget.spend);
  return {
    budget,
    call,
    pattern,
    now: options.now,
    random: options.random,
    polymorphIndex: step.polymorphIndex,
    isTrue: (value) => {
      guard(value, false);
      return Boolean(value);
    },
    part: (value, key) => {
      guard(value, false);
      return partOf(value, key);
    },
    query: (value, text) => {
      if (!options.query) return fail('Queries are not carried out here');
      const match = (source: string, input: string): boolean => pattern(source, '').find(input, 0) !== null;
      return options.query(value, text, { match, spend: budget.spend });
    },
  };
};

/** The inputs of a function by their order. */
const inputsOf = (scope: Scope, args: readonly unknown[]): Members =>
  objectOf(scope.incoming.map(({ $id }, i): [string, unknown] => [String($id), args[i]]));

/** The further arguments as an object: `<i>_<name>`, by the properties that the function declares. */
const thisArgOf = ({ properties }: Members, further: readonly unknown[]): Members => {
  const names = isObject(properties) ? Object.keys(properties) : [];
  return objectOf(
    further.map((value, i): [string, unknown] => [names.find((one) => one.startsWith(`${i}_`)) ?? String(i), value]),
  );
};

type Callback = { readonly input: readonly unknown[]; readonly further: readonly unknown[]; readonly depth: number };

/** The result of a function that a method calls: its single output, or all of them. */
const called = (run: Run, scope: Scope, { input, further, depth }: Callback): unknown => {
  const ordered = [...input, ...further];
  const isThis = ({ $id, isThis: marked }: Members): boolean => marked === true || $id === 'thisArg';
  const args = scope.incoming.map((one, i) => (isThis(one) ? thisArgOf(one, further) : ordered[i]));
  const outgoing = outgoingOf(run, scope, inputsOf(scope, args), depth);
  const [only, ...more] = scope.outgoing;
  return only !== undefined && more.length === 0 ? own(outgoing, only) : outgoing;
};

const outgoingOf = (run: Run, scope: Scope, incoming: Members, depth: number): Members => {
  if (depth > limits.depth) return fail(`Functions may be ${limits.depth} deep`);
  run.budget.step();
  const frame: Frame = { scope, incoming, values: new Map(), depth };
  const outgoing = new Map<string, unknown>();
  for (const { name, wire } of scope.outputs) {
    const value = scope.outgoing.includes(name) ? wired(run, frame, wire) : undefined;
    if (value !== undefined) outgoing.set(name, withPart(outgoing.get(name), wire.to, value));
  }
  return objectOf(outgoing);
};

/** The inputs, by the schemas of the document. */
const withDefaults = (scope: Scope, incoming: Members, options: RunOptions): Members =>
  objectOf(
    scope.incoming.map((schema): [string, unknown] => {
      const name = String(schema.$id);
      const input = own(incoming, name);
      const value = input === undefined && options.revertToDefaultValue ? schema.default : input;
      return [name, value];
    }),
  );

/** All secrets of a value. */
const secretsIn = (value: unknown, isSealed: Run['isSealed'], found = new Set<unknown>()): ReadonlySet<unknown> => {
  if (isSealed(value)) found.add(value);
  else if (isHolder(value)) for (const item of Object.values(value)) secretsIn(item, isSealed, found);
  return found;
};

/** The values that a document says itself. */
const writtenIn = (scope: Scope): readonly unknown[] => [
  ...scope.incoming,
  ...[...scope.steps.values()].map(({ args }) => args),
  ...scope.functions.map(writtenIn),
];

const errorOf = (error: unknown): RunError => {
  if (error instanceof RangeError)
    return { step: null, method: null, reason: 'It is nested too deeply', message: 'It is nested too deeply' };
  if (error instanceof StepFailure) {
    const { step, within, message: reason } = error;
    const place = within.around ? ` of the function ${within.name}` : '';
    return { step: step.id, method: step.name, reason, message: `Step ${step.id}${place} (${step.name}): ${reason}` };
  }
  if (!(error instanceof Failure)) throw error;
  return { step: null, method: null, reason: error.message, message: error.message };
};

/**
 * Carries out a document: computes what its outputs need. It asks no clock and no chance: the same inputs and options give
 * the same. It ends within `limits`, whatever the document says.
 */
export const runTransformation = ({ scope }: Plan, incoming: Members, options: RunOptions): Ran => {
  const budget = newBudget();
  const isSealed = options.isSealed ?? (() => false);
  const run: Run = { options, budget, isSealed, guard: guardOf(isSealed, budget) };
  try {
    const secrets = options.isSealed ? secretsIn([incoming, writtenIn(scope)], isSealed) : new Set();
    const outgoing = outgoingOf(run, scope, withDefaults(scope, incoming, options), 0);
    // A value that looks like a secret, and neither came in nor is written as one, was put together by the document.
    const see = (one: object): boolean => isSealed(one) && (secrets.has(one) || fail('A secret cannot be made here'));
    return { outgoing: asJson(outgoing, budget, see) as Members };
  } catch (error) {
    return { error: errorOf(error) };
  }
};

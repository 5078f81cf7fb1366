import { isObject, type Members } from '@automation-platform/json';
import { get } from '../../engine/layeredMap.ts';
import { isSealed } from '../../engine/sealed.ts';
import { parsed, refuseReserved } from './jsonBounds.ts';
import { type Looking, numberOf, operate, refuseSealed, type Spend } from './operators.ts';
import { placeOf, queried, withValueAt } from './query.ts';
import { refuse } from './refusals.ts';
import { inputsOf, operand, type Scope } from './taskValues.ts';
import type { Result, Task } from './workflows.ts';

/** The end of one run of a task, as it was reported or decided. */
export type Outcome = {
  readonly result: Exclude<Result, 'loop'>;
  readonly outgoing?: Members;
  readonly error?: unknown;
  /** The variables that get an output, beside those that the document names. */
  readonly sets?: Readonly<Record<string, string>>;
  readonly chosen?: string;
  readonly attempt?: { readonly id: string; readonly count: number };
  readonly description?: string;
};

/** The tools of tasks that the engine carries out. `spend` throws after a million steps. */
export type Using = Looking & {
  readonly scope: Scope;
  readonly now: number;
  /** True if a value fits a JSON Schema. Throws `RequestError` if the schema cannot be used. */
  readonly fits: (schema: unknown, value: unknown) => boolean;
};

/** Throws `unprocessable`, which becomes the error of the task. */
const success = (outgoing: Members): Outcome => ({ result: 'success', outgoing });

const listOf = (value: unknown, name: string): readonly unknown[] => {
  if (value === null || value === undefined || value === '') return [];
  return Array.isArray(value) ? value : refuse(`${name} must be a list`);
};

/** `value` looked into by the query of a row; without a query, the value itself. */
const looked = (value: unknown, query: unknown, using: Using): unknown => {
  if (typeof query !== 'string' || query === '') return value;
  return queried(value, query, using) ?? null;
};

const rowHolds = (row: unknown, using: Using): boolean => {
  using.spend(1);
  if (!isObject(row)) return refuse('An evaluation is an object');
  const first = looked(operand(using.scope, row.operand_1, 'variable'), row.query, using);
  const second = looked(operand(using.scope, row.operand_2, 'variable'), row.rightQuery, using);
  return operate(first, row.operator, second, using);
};

const rowsHold = (group: unknown, using: Using): boolean => {
  if (!isObject(group)) return refuse('A group of evaluations is an object');
  const rows = listOf(group.evaluations, 'evaluations');
  return group.all_true_flag === true
    ? rows.every((row) => rowHolds(row, using))
    : rows.some((row) => rowHolds(row, using));
};

const evaluation = (inputs: Members, using: Using): Outcome => {
  const groups = listOf(inputs.evaluation_groups, 'evaluation_groups');
  const holds =
    inputs.all_true_flag === true
      ? groups.every((group) => rowsHold(group, using))
      : groups.some((group) => rowsHold(group, using));
  return { result: holds ? 'success' : 'failure', outgoing: { return_value: holds } };
};

const decision = (inputs: Members, using: Using): Outcome => {
  for (const row of listOf(inputs.decisionArray, 'decisionArray')) {
    if (!rowsHold(row, using)) continue;
    const nextTask =
      isObject(row) && typeof row.taskId === 'string' ? row.taskId : refuse('A row of a decision names a task');
    return { result: 'success', outgoing: { return_value: nextTask }, chosen: nextTask };
  }
  return { result: 'failure', outgoing: { return_value: null } };
};

const query = ({ query: text, obj, pass_on_null: passes }: Members, using: Using): Outcome => {
  if (text !== null && text !== undefined && typeof text !== 'string') return refuse('query must be a text');
  const found = queried(obj, text ?? '', using) ?? null;
  const isNothing = found === null && passes !== true && passes !== 'true';
  return { result: isNothing ? 'failure' : 'success', outgoing: { return_data: found } };
};

/** The values of each name, in order. */
const grouped = (
  entries: Iterable<readonly [name: string, value: unknown]>,
  { spend }: Using,
): ReadonlyMap<string, readonly unknown[]> => {
  const groups = new Map<string, unknown[]>();
  for (const [name, value] of entries) {
    spend(1);
    const group = groups.get(name);
    if (group) group.push(value);
    else groups.set(name, [value]);
  }
  return groups;
};

const merge = ({ data_to_merge: data }: Members, using: Using): Outcome => {
  const items = listOf(data, 'data_to_merge').map((item) => {
    if (!isObject(item)) return refuse('data_to_merge is a list of objects');
    const key = item.key === null || item.key === undefined ? '' : item.key;
    if (typeof key !== 'string') return refuse('The key of a value must be a text');
    return { key, value: operand(using.scope, item.value, 'variable') };
  });
  if (items.every(({ key }) => key === '')) return success({ merged_object: items.map(({ value }) => value) });
  for (const { key } of items) {
    if (key === '') return refuse('Either all values have a key or none');
    refuseReserved(key);
  }
  const merged = grouped(
    items.map(({ key, value }) => [key, value] as const),
    using,
  );
  const entries = [...merged].map(([key, values]) => [key, values.length === 1 ? values[0] : values]);
  return success({ merged_object: Object.fromEntries(entries) });
};

const isMergeable = (value: unknown): value is Members => isObject(value) && !isSealed(value);

/** The values in one: at any depth the last wins, and lists are replaced. */
const deeplyMerged = (values: readonly unknown[], using: Using): unknown => {
  const objects = values.slice(values.findLastIndex((value) => !isMergeable(value)) + 1).filter(isMergeable);
  if (objects.length < 2) return values.at(-1);
  const members = grouped(
    objects.flatMap((one) => Object.entries(one)),
    using,
  );
  return Object.fromEntries([...members].map(([name, found]) => [name, deeplyMerged(found, using)]));
};

const deepmerge = ({ data_to_merge: data }: Members, using: Using): Outcome => {
  const objects = listOf(data, 'data_to_merge').map((item) => {
    const value = operand(using.scope, isObject(item) ? item.value : undefined, 'variable');
    return isObject(value) ? value : refuse('Only objects can be merged');
  });
  return success({ merged_object: deeplyMerged([{}, ...objects], using) });
};

const variableName = (name: unknown): string => {
  if (typeof name !== 'string' || name === '') return refuse('The name of the variable is missing');
  refuseReserved(name);
  return name;
};

/** The list in the variable that an input names. A missing one counts as empty. */
const listIn = ({ job_variable: variable }: Members, { scope }: Using): { name: string; list: readonly unknown[] } => {
  const name = variableName(variable);
  return { name, list: listOf(get(scope.variables, name), `The variable ${name}`) };
};

const withList = (name: string, list: readonly unknown[], more: Members = {}): Outcome => ({
  ...success({ ...more, job_variable_value: list }),
  sets: Object.fromEntries([[name, 'job_variable_value']]),
});

const textOf = (value: unknown, using: Using): string => {
  refuseSealed(value, using);
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
};

const placeholder = /<!([^<>!]{1,256})!>/g;

const casts: Readonly<Record<string, (text: string, spend: Spend) => unknown>> = {
  string: (text) => text,
  number: (text) => numberOf(text) ?? refuse('The text is no number'),
  boolean: (text) => {
    const [, said] = /^\s*(true|false)\s*$/i.exec(text) ?? [];
    return said === undefined ? refuse('The text is neither true nor false') : said.toLowerCase() === 'true';
  },
  json: parsed,
};

const longestData = 8 * 1024 * 1024;

const makeData = ({ input, outputType, variables }: Members, using: Using): Outcome => {
  const cast = typeof outputType === 'string' && Object.hasOwn(casts, outputType) ? casts[outputType] : undefined;
  if (!cast) return refuse('outputType must be string, number, boolean or json');
  const values: Members = isObject(variables) ? variables : {};
  let length = 0;
  const filled = textOf(input ?? '', using).replace(placeholder, (written, name: string) => {
    using.spend(1);
    const text = Object.hasOwn(values, name.trim()) ? textOf(values[name.trim()], using) : written;
    length += text.length;
    return length > longestData ? refuse('The text has more than 8 MiB') : text;
  });
  return success({ output: cast(filled, using.spend) });
};

const keyOf = (key: unknown): string =>
  typeof key === 'string' || typeof key === 'number' ? String(key) : refuse('A key is a text or a number');

const setObjectKey = ({ obj, path, value }: Members): Outcome => {
  const keys = (Array.isArray(path) ? path : [path ?? '']).map(keyOf);
  if (keys.length > 100 || keys.includes('')) return refuse('path is a list of up to 100 keys');
  return success({ object: withValueAt(obj === '' ? null : obj, keys, value ?? null) });
};

const modify = ({ object_to_update: object, query: text, new_value: value }: Members): Outcome => {
  if (text !== null && text !== undefined && typeof text !== 'string') return refuse('query must be a text');
  return success({ updated_object: withValueAt(object, placeOf(text ?? ''), value ?? null) });
};

const longestDescription = 10_000;

type Row = (inputs: Members, using: Using) => Outcome;

const engineRows: Readonly<Record<string, Row>> = {
  evaluation,
  decision,
  query,
  merge,
  deepmerge,
  newVariable: ({ name, value }) => ({
    ...success({ value: value ?? null }),
    sets: Object.fromEntries([[variableName(name), 'value']]),
  }),
  push: (inputs, using) => {
    const { name, list } = listIn(inputs, using);
    return withList(name, [...list, inputs.item_to_push ?? null]);
  },
  pop: (inputs, using) => {
    const { name, list } = listIn(inputs, using);
    return withList(name, list.slice(0, -1), { item: list.at(-1) ?? null });
  },
  shift: (inputs, using) => {
    const { name, list } = listIn(inputs, using);
    return withList(name, list.slice(1), { item: list[0] ?? null });
  },
  makeData,
  modify,
  setObjectKey,
  updateJobDescription: ({ description }, using) => {
    const text = textOf(description ?? '', using).slice(0, longestDescription);
    return { ...success({ description: text }), description: text };
  },
};

/** The control task of this name; undefined if there is none. */
export const controlTask = (name: string): Row | undefined =>
  Object.hasOwn(engineRows, name) ? engineRows[name] : undefined;

const seconds = (value: unknown, name: string, most: number): number => {
  if (value === null || value === undefined || value === '') return 0;
  const number = numberOf(value);
  return number !== undefined && number >= 0 && number <= most ? number : refuse(`${name} must be 0 to ${most}`);
};

const longestDelay = 2_592_000;

const attemptOf = ({ attemptID, attempts }: Members, { scope: { state } }: Using) => {
  const id = typeof attemptID === 'string' || typeof attemptID === 'number' ? String(attemptID) : '';
  if (id === '' || id.length > 256) return refuse('attemptID must be a text');
  refuseReserved(id);
  const most = numberOf(attempts) ?? refuse('attempts must be a number');
  const count = (Object.hasOwn(state.attempts, id) ? (state.attempts[id] ?? 0) : 0) + 1;
  return { most, attempt: { id, count } };
};

/** A task that waits: for how long, in milliseconds, and how it ends then. */
type Timed = {
  readonly waits: (inputs: Members, using: Using) => number;
  readonly ends: (inputs: Members, using: Using) => Outcome;
};

const stubbed = ({ type, response }: Members): Outcome => {
  const outgoing = { response: response ?? null };
  if (type === 'failure') return { result: 'failure', outgoing };
  return type === 'error'
    ? { result: 'error', outgoing, error: response || 'The stub ends in error' }
    : success(outgoing);
};

const timedRows: Readonly<Record<string, Timed>> = {
  delay: {
    waits: ({ time }) => Math.round(seconds(time, 'time', longestDelay) * 1000),
    ends: ({ time }) => success({ time_in_milliseconds: Math.round(seconds(time, 'time', longestDelay) * 1000) }),
  },
  stub: {
    waits: ({ delay }) => Math.round(seconds(delay, 'delay', longestDelay) * 1000),
    ends: stubbed,
  },
  reattempt: {
    waits: (inputs, using) => {
      const { most, attempt } = attemptOf(inputs, using);
      return attempt.count > most ? 0 : Math.round(seconds(inputs.minutes, 'minutes', longestDelay / 60) * 60_000);
    },
    ends: (inputs, using) => {
      const { most, attempt } = attemptOf(inputs, using);
      if (attempt.count <= most) return { ...success({ response: attempt.count }), attempt };
      return { result: 'error', error: `There were ${most} attempts`, attempt };
    },
  },
};

export const timedTask = ({ name }: Task): Timed => timedRows[name] ?? refuse(`${name} does not wait`);

/** The list over whose items a loop goes. */
export const loopItems = (scope: Scope, task: Task): readonly unknown[] => {
  const { data_array: list } = inputsOf(scope, task);
  return Array.isArray(list) ? list : refuse('data_array must be a list');
};

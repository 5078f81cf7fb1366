import { isObject, type Members, own, stepsOf } from '@automation-platform/json';
import { get } from '../../engine/layeredMap.ts';
import { partOf } from './query.ts';
import { type TaskStates, taskIn, type Variables } from './taskStates.ts';
import { errorOutput, type Task } from './workflows.ts';

/** The names that a job has beside its variables. */
export type JobSelf = {
  readonly id: string;
  readonly initiator: string;
  /** How many jobs it is a part of, one in the other. */
  readonly level?: number;
};

/** The values that references can name: the outputs of tasks, and the variables of the job. */
export type Scope = { readonly state: TaskStates; readonly job: JobSelf; readonly variables: Variables };

export type Reference = { readonly scope: string; readonly name: string };

const reference = /^\$var\.([^.#]+)\.(.+)$/s;

/** The reference that a text is; undefined if it is none. */
export const referenceIn = (value: unknown): Reference | undefined => {
  const [, scope, name] = typeof value === 'string' && value.startsWith('$var.') ? (reference.exec(value) ?? []) : [];
  return scope === undefined || name === undefined ? undefined : { scope, name };
};

const pointed = (value: unknown, pointer: string): unknown =>
  stepsOf(pointer).reduce<unknown>((inner, key) => partOf(inner, key), value);

const outputOf = ({ state, job, variables }: Scope, scope: string, name: string): unknown => {
  if (scope !== 'job') {
    const { outgoing, result, error } = taskIn(state, scope);
    return name === errorOutput && result === 'error' && !Object.hasOwn(outgoing, name) ? error : own(outgoing, name);
  }
  if (name === '_id') return job.id;
  return name === 'initiator' ? job.initiator : get(variables, name);
};

/** The value that a reference names; null if there is none. `#<JSON pointer>` behind the name looks into it. */
const valueAt = (scope: Scope, { scope: of, name }: Reference): unknown => {
  const hash = name.indexOf('#');
  if (hash < 0) return outputOf(scope, of, name) ?? null;
  const pointer = name.slice(hash + 1);
  const value = outputOf(scope, of, name.slice(0, hash));
  return (pointer === '' || pointer.startsWith('/') ? pointed(value, pointer) : undefined) ?? null;
};

/**
 * The value of `{task, variable}` or `{task, value}`. `takes`: the member that counts of two. Anything else stands for
 * itself.
 */
export const operand = (scope: Scope, from: unknown, takes: 'variable' | 'value'): unknown => {
  if (!isObject(from) || typeof from.task !== 'string') return from ?? null;
  const named = Object.hasOwn(from, takes) ? from[takes] : from[takes === 'value' ? 'variable' : 'value'];
  if (from.task === 'static') return named ?? null;
  return typeof named === 'string' ? valueAt(scope, { scope: from.task, name: named }) : null;
};

/** The same object if none of its members is a reference. */
const resolved = (scope: Scope, members: Members): Members => {
  if (!Object.values(members).some(referenceIn)) return members;
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => {
      const found = referenceIn(value);
      return [name, found ? valueAt(scope, found) : value];
    }),
  );
};

/** True for a task that stands for the operation by which this service carries out transformations. */
export const isTransformation = ({ kind, app, name }: Task): boolean =>
  kind === 'platform' && app === 'WorkFlowEngine' && name === 'transformation';

/** True for the task whose `variableMap` has references, too. */
const mapsVariables = (task: Task): boolean => isTransformation(task) && isObject(task.incoming.variableMap);

/**
 * The transformation that a task names, and the input that names it; undefined if it names none, or only a reference says
 * which.
 */
export const transformationNamedBy = (
  task: Task,
): { readonly input: string; readonly idOrName: string } | undefined => {
  const isChild = task.kind === 'childJob';
  if (!isChild && !isTransformation(task)) return undefined;
  const input = isChild ? 'transformation' : 'tr_id';
  const idOrName = task.incoming[input];
  return typeof idOrName === 'string' && idOrName !== '' && !referenceIn(idOrName) ? { input, idOrName } : undefined;
};

/** The inputs of a task with the values of its references. */
export const inputsOf = (scope: Scope, task: Task): Members => {
  const inputs = resolved(scope, task.incoming);
  return mapsVariables(task) && isObject(inputs.variableMap)
    ? { ...inputs, variableMap: resolved(scope, inputs.variableMap) }
    : inputs;
};

/** The references of a task with their places in the document, and the places of `$var` where it is text. */
export const referencesOf = (
  task: Task,
): {
  readonly found: readonly { readonly path: readonly string[]; readonly reference: Reference }[];
  readonly nested: readonly (readonly string[])[];
} => {
  const found: { path: readonly string[]; reference: Reference }[] = [];
  const nested: (readonly string[])[] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    if (nested.length + found.length > 10_000) return;
    const counts = path.length === 1 || (path.length === 2 && path[0] === 'variableMap' && mapsVariables(task));
    const one = referenceIn(value);
    if (one && counts) found.push({ path, reference: one });
    else if (one) nested.push(path);
    else if (Array.isArray(value)) for (const [i, item] of value.entries()) walk(item, [...path, String(i)]);
    else if (isObject(value)) walkMembers(value, path);
  };
  const walkMembers = (value: Members, path: readonly string[]): void => {
    const { task: of } = value;
    const name = typeof value.variable === 'string' ? value.variable : value.value;
    if (
      path.length > 1 &&
      typeof of === 'string' &&
      of !== 'static' &&
      of !== 'job' &&
      of !== '' &&
      typeof name === 'string'
    )
      found.push({ path, reference: { scope: of, name } });
    for (const [member, inner] of Object.entries(value)) walk(inner, [...path, member]);
  };
  walkMembers(task.incoming, []);
  return { found, nested };
};

import { isObject, type Members } from '@automation-platform/json';
import { entriesIn } from '../../engine/layeredMap.ts';
import {
  type Child,
  type ChildEnd,
  type ChildOfTask,
  type Children,
  type ChildrenWanted,
  type ChildStatus,
  childOf,
  childrenIn,
  shownStatus,
} from './children.ts';
import type { Outcome } from './controlTasks.ts';
import { weigh } from './jsonBounds.ts';
import { refuse } from './refusals.ts';
import { mostOfJob } from './taskOutcomes.ts';
import { type TaskEvent, type TaskStates, taskIn } from './taskStates.ts';
import { operand, type Scope } from './taskValues.ts';
import type { Task } from './workflows.ts';

const ends: Readonly<Record<ChildStatus, string>> = {
  running: 'is under way',
  complete: 'is complete',
  error: 'ended in error',
  canceled: 'was canceled',
  incomplete: 'is incomplete',
  refused: 'could not begin',
};

/** The end of a task whose children have come to their ends. */
export const endOfChildren = (children: Children): Outcome => {
  const all = childrenIn(children);
  const isList = children.loopType !== undefined;
  const details = all.map((child) => ({
    ...child.variables,
    status: shownStatus(child),
    ...(isList ? { childJobLoopIndex: child.index } : {}),
  }));
  const outgoing = { job_details: isList ? { loop: details } : (details[0] ?? {}) };
  const failed = all.find(({ status, again }) => again || status !== 'complete');
  if (failed) {
    const { index, status, error } = failed;
    const name = isList ? `Child ${index}` : 'The child';
    return { result: 'error', outgoing, error: `${name} ${ends[status]}${error === undefined ? '' : `: ${error}`}` };
  }
  if (all.some(({ variables }) => variables === undefined))
    return { result: 'error', outgoing, error: 'The variables of the children are more than a job can keep' };
  return { result: 'success', outgoing };
};

const mostChildren = 10_000;

const isNothing = (value: unknown): boolean => value === null || value === undefined || value === '';

/** The children that the inputs of a task ask for. Throws `unprocessable` if they cannot be had. */
export const childrenWanted = ({ data_array: list, loopType, workflow, transformation }: Members): ChildrenWanted => {
  if (typeof workflow !== 'string' || workflow === '') return refuse('workflow must name a workflow');
  if (isNothing(list)) return { count: 1 };
  if (!Array.isArray(list)) return refuse('data_array must be a list');
  if (list.length > mostChildren) return refuse(`A task has ${mostChildren} children at most`);
  if (loopType !== 'parallel' && loopType !== 'sequential') return refuse('loopType must be parallel or sequential');
  if (!isNothing(transformation) && typeof transformation !== 'string')
    return refuse('transformation must name a transformation');
  return { count: list.length, loopType };
};

/** The variables that a task names for all of its children. */
const variablesOfAll = (scope: Scope, task: Task, inputs: Members): Members => {
  const { variables: fromDocument } = task.incoming;
  // Where the variables are the value of a reference, they name nothing themselves.
  const values = isObject(fromDocument)
    ? Object.fromEntries(Object.entries(fromDocument).map(([name, from]) => [name, operand(scope, from, 'value')]))
    : inputs.variables;
  return isObject(values) ? values : {};
};

/**
 * The variables that a child begins with: those that the task names, and the members of its item, which win. Throws
 * `unprocessable` for an item that has none.
 */
export const childVariables = (scope: Scope, task: Task, inputs: Members, index: number): Members => {
  const variables = variablesOfAll(scope, task, inputs);
  if (!Array.isArray(inputs.data_array)) return variables;
  const item: unknown = inputs.data_array[index];
  return isObject(item) ? { ...variables, ...item } : refuse('An item of data_array must be an object');
};

/** The transformation that makes the variables of each child of a list; undefined if the task names none. */
export const transformationOfItems = ({ data_array: list, transformation }: Members): string | undefined =>
  Array.isArray(list) && typeof transformation === 'string' && transformation !== '' ? transformation : undefined;

/** The inputs of that transformation: the variables that the task names, and the item. */
export const itemInputs = (scope: Scope, task: Task, inputs: Members, index: number): Members => {
  const list: readonly unknown[] = Array.isArray(inputs.data_array) ? inputs.data_array : [];
  return { ...variablesOfAll(scope, task, inputs), currentValue: list[index] ?? null };
};

/** About how many bytes the variables of children have that the open tasks of a job keep. */
const weightOfChildren = ({ tasks }: TaskStates): number =>
  [...entriesIn(tasks).values()].reduce(
    (sum, { status, children }) => sum + (status === 'open' && children ? children.weight : 0),
    0,
  );

/** The child, if its task is under way and goes on with it. */
const childWaitedFor = (state: TaskStates, { task, run, index }: ChildOfTask): Child | undefined => {
  const { status, children } = taskIn(state, task);
  const isUnderWay = status === 'open' && state.status !== 'canceled' && state.status !== 'complete';
  return isUnderWay ? childOf(children, { run, index }) : undefined;
};

/** True if the task of a child is under way and goes on with it. */
export const isWaitedFor = (state: TaskStates, child: ChildOfTask): boolean =>
  childWaitedFor(state, child) !== undefined;

/**
 * Notes how it is with a child. Nothing happens if that is known, or if its task does not wait for it any more. Its variables
 * are left out if the job cannot keep them.
 */
export const noteChild = (
  state: TaskStates,
  of: ChildOfTask,
  { status, variables, error }: ChildEnd,
): readonly TaskEvent[] => {
  const { task, index } = of;
  const child = childWaitedFor(state, of);
  if (!child || child.status === status) return [];
  const data = { task, run: taskIn(state, task).run, index, status };
  if (status === 'running') return [{ topic: 'childNoted', data }];
  const why = error === undefined ? data : { ...data, error };
  const isKept = variables && state.weight + weightOfChildren(state) + weigh(variables) <= mostOfJob;
  return [{ topic: 'childNoted', data: isKept ? { ...why, variables } : why }];
};

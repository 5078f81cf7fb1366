import { isObject, type Members } from '@automation-platform/json';
import { get } from '../../engine/layeredMap.ts';
import { RequestError } from '../../engine/requestError.ts';
import { isSecretName, maskSecrets, type Seal, sealBy } from '../../engine/secretFields.ts';
import type { Outcome, Using } from './controlTasks.ts';
import { refuseReserved, weigh } from './jsonBounds.ts';
import type { Spend } from './operators.ts';
import { type TaskFinished, type TaskStates, taskIn } from './taskStates.ts';
import type { JobSelf } from './taskValues.ts';
import type { WorkflowGraph } from './workflowGraph.ts';
import { errorOutput, type Task } from './workflows.ts';

/** A job's workflow, and what decisions about its tasks need from outside the domain. */
export type Work = {
  readonly graph: WorkflowGraph;
  readonly job: JobSelf;
  /** Epoch milliseconds. */
  readonly now: number;
  /** As for tasks. It says how many steps it takes before it takes them. */
  readonly match: (pattern: string, text: string, spend: Spend) => boolean;
  readonly fits: Using['fits'];
  readonly seal: Seal;
  /** True in a simulation: what waits for a time is due at once. */
  readonly skipsTime?: boolean;
};

const mostOfRun = 8 * 1024 * 1024;
/** How many bytes the variables and outputs of a job have at most. */
export const mostOfJob = 16 * 1024 * 1024;
const longestName = 64;

export const longestMessage = 1000;

/** The text of an error of a task or a job. */
export const messageOf = (stored: unknown): string => {
  const error = maskSecrets(stored);
  const message = isObject(error) ? (error.message ?? error) : error;
  return (typeof message === 'string' ? message : JSON.stringify(message ?? null)).slice(0, longestMessage);
};

const checkNames = (members: Members, what: string): void => {
  for (const name in members) {
    refuseReserved(name);
    if (name.length > longestName)
      throw new RequestError('unprocessable', `The name of ${what} has ${longestName} characters at most`);
  }
};

/** Throws `unprocessable` if the outcome is more than a job can keep. */
const checkSize = (state: TaskStates, task: Task, outgoing: Members, sets: Readonly<Record<string, string>>): void => {
  checkNames(outgoing, 'an output');
  checkNames(sets, 'a variable');
  const before = taskIn(state, task.id).outgoing;
  let weight = state.weight + weigh(outgoing, mostOfRun) - weigh(before);
  for (const variable in sets) {
    const output = sets[variable] ?? '';
    const former = get(state.variables, variable);
    weight += weigh(outgoing[output]) - (former === undefined ? 0 : weigh(former));
  }
  if (weight > mostOfJob)
    throw new RequestError('unprocessable', 'The variables and outputs of a job have 16 MiB at most');
};

/** The outputs with sealed secrets: those that are named so, and those that go into a variable that is. */
const sealed = ({ graph, seal }: Work, outgoing: Members, sets: Readonly<Record<string, string>>, before: Members) => {
  const secretOutputs: unknown[] = [];
  for (const variable in sets)
    if (isSecretName(variable) || graph.encrypted.has(variable)) secretOutputs.push(sets[variable]);
  return sealBy((name, members) => isSecretName(name) || (members === outgoing && secretOutputs.includes(name)), {
    value: outgoing,
    befores: [before, outgoing],
    seal,
    path: '',
    keepsEqual: true,
  }) as Members;
};

/**
 * The variables of a start or of a request, those sealed that the workflow says are secrets, whatever they are called.
 * `before`: the variables of the job, whose secrets `********` keeps.
 */
export const sealedVariables = ({ graph, seal }: Work, variables: Members, before: Members = {}): Members => {
  const { encrypted } = graph;
  if (encrypted.size === 0) return variables;
  return sealBy((name, members) => members === variables && encrypted.has(name), {
    value: variables,
    befores: [before, variables],
    seal,
    path: '/variables',
    keepsEqual: true,
  }) as Members;
};

/** Runs a function whose `RequestError`, or too large a value, is the error of a task. */
export const orError = (run: () => Outcome): Outcome => {
  try {
    return run();
  } catch (error) {
    if (error instanceof RequestError) return { result: 'error', error: error.message };
    if (error instanceof RangeError) return { result: 'error', error: `A value is too large: ${error.message}` };
    throw error;
  }
};

/** The variables that get an output that was reported, or the error. */
const setsOf = (task: Task, outgoing: Members, { result, sets = {} }: Outcome): Readonly<Record<string, string>> => {
  if (task.sets.size === 0) return sets;
  const reported = [...task.sets].filter(
    ([, output]) => Object.hasOwn(outgoing, output) || (output === errorOutput && result === 'error'),
  );
  return Object.fromEntries([...reported, ...Object.entries(sets)]);
};

const retryAt = ({ now, skipsTime }: Work, { retry }: Task, result: unknown, retries: number): number | undefined => {
  if (!retry?.results.includes(result) || retries >= retry.limit) return undefined;
  return skipsTime ? now : now + retry.delay;
};

/** True if the run ends with nothing that could be too large or secret, or go into a variable. */
const endsBare = ({ weight }: TaskStates, { result, outgoing, sets, error }: Outcome): boolean =>
  weight <= mostOfJob && result !== 'error' && outgoing === undefined && sets === undefined && error === undefined;

/**
 * The event that ends a run. An outcome that is too large becomes an error. `before`: outputs that were stored for the same
 * run, whose sealed secrets stay as they are if they are equal.
 */
export const finishedRun = (
  work: Work,
  state: TaskStates,
  { task, run, outcome, before = {} }: { task: Task; run: number; outcome: Outcome; before?: Members },
): TaskFinished => {
  const last = taskIn(state, task.id);
  const checked = endsBare(state, outcome)
    ? outcome
    : orError(() => {
        const outgoing = outcome.outgoing ?? {};
        const sets = setsOf(task, outgoing, outcome);
        checkSize(state, task, outgoing, sets);
        weigh(outcome.error, mostOfRun);
        return { ...outcome, outgoing: sealed(work, outgoing, sets, before), sets };
      });
  const { result, outgoing = {}, chosen, attempt } = checked;
  const error = checked.error === undefined ? undefined : sealedError(work, checked.error);
  const sets = checked.sets ?? setsOf(task, outgoing, checked);
  const retries = last.run === run || last.status === 'retrying' ? last.retries : 0;
  const retry = retryAt(work, task, result, retries);
  // Member by member: this runs for every run of every task.
  const data: { -readonly [M in keyof TaskFinished]: TaskFinished[M] } = { task: task.id, run, result, outgoing };
  if (Object.keys(sets).length > 0) data.sets = sets;
  if (chosen !== undefined) data.chosen = chosen;
  if (attempt) data.attempt = attempt;
  if (error !== undefined) data.error = error;
  if (retry !== undefined) data.retry = retry;
  return data;
};

const sealedError = ({ seal }: Work, error: unknown): unknown =>
  sealBy(isSecretName, { value: error, befores: [error], seal, path: '', keepsEqual: true });

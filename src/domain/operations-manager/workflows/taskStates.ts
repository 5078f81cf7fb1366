import { isObject, type Members, own } from '@automation-platform/json';
import type { DataOf, Event } from '../../engine/core.ts';
import { closeMap, empty, get, type Layers, type OpenLayers, openMap, put } from '../../engine/layeredMap.ts';
import { type Claims, claimed, extended, noClaims, type ReleaseReason, released } from '../claims.ts';
import type { JobError, JobStatus } from '../jobSchemas.ts';
import {
  type BegunChildren,
  type ChildEnd,
  type ChildOfTask,
  type Children,
  type ChildrenWanted,
  childNoted,
  childrenAtEnd,
  childrenBegun,
  childrenOfRun,
} from './children.ts';
import { weigh } from './jsonBounds.ts';
import { errorOutput, type Result } from './workflows.ts';

/** The variables of a job by name. Versions share data, because each task may set some. */
export type Variables = Layers<unknown>;

/** The party that is to carry out a task: a worker, the members of groups, or a node of the service. */
export type OfferedTo =
  | { readonly worker: { readonly app: string; readonly name: string; readonly adapter: string | null } }
  | { readonly groups: readonly string[] }
  | { readonly platform: true };

/** The claim on one run of a task. People have no lease: `until` and `lease` are null. */
type TaskClaim = {
  readonly claim: number;
  readonly worker: string;
  readonly account: string;
  readonly until: number | null;
  readonly lease: number | null;
};

type OfRun = { readonly task: string; readonly run: number };

/** An event that follows in a workflow. `more`: its decision did not do all that can be done. */
type Following = { readonly more?: true };

export type TaskFinished = OfRun &
  Following & {
    readonly result: Result;
    readonly outgoing: Members;
    /** The variables that get an output, by their names. The output `error` is the error where there is no such output. */
    readonly sets?: Readonly<Record<string, string>>;
    /** The task that a decision chose. */
    readonly chosen?: string;
    /** How often a `reattempt` with this id has run in this job. */
    readonly attempt?: { readonly id: string; readonly count: number };
    /** The tasks of a loop's body that are put back to not run. */
    readonly tasks?: readonly string[];
    readonly error?: unknown;
    /** When the next run begins by itself, epoch milliseconds. The result does not count then. */
    readonly retry?: number;
    /** The children that are broken off. */
    readonly stops?: readonly ChildOfTask[];
  };

export type TaskEvent =
  | Event<
      'taskStarted',
      OfRun & Following & { readonly until?: number; readonly keeps?: number; readonly children?: ChildrenWanted }
    >
  | Event<'childrenBegun', OfRun & Following & BegunChildren>
  | Event<'childNoted', OfRun & ChildEnd & { readonly index: number }>
  | Event<'taskOffered', OfRun & Following & { readonly to: OfferedTo; readonly until?: number }>
  | Event<'taskClaimed', OfRun & TaskClaim>
  | Event<'taskClaimExtended', OfRun & { readonly claim: number; readonly until: number }>
  | Event<'taskReleased', OfRun & { readonly claim: number; readonly reason: ReleaseReason }>
  | Event<'taskFinished', TaskFinished>
  | Event<
      'tasksReverted',
      Following & {
        readonly from: string | null;
        readonly to: string;
        readonly tasks: readonly string[];
        readonly run: number;
        readonly stops?: readonly ChildOfTask[];
      }
    >
  | Event<'variablesSet', { readonly variables: Members }>
  | Event<'jobDescribed', Following & { readonly description: string }>;

/** The events of a job's stream that say how its workflow goes on, after its start. */
export type FollowingEvent =
  | TaskEvent
  | Event<'jobPaused', object>
  | Event<'jobResumed', object>
  | Event<'jobCompleted', { readonly variables: Members }>
  | Event<'jobErrored', { readonly error: JobError }>
  | Event<'jobCanceled', object>
  | Event<'jobRetried', { readonly from?: string }>;

export type WorkflowJobEvent = FollowingEvent | Event<'jobStarted', { readonly variables: Members }>;

export type TaskState = {
  /** The number of the last run; 0: it has not run. It survives when the task is put back. */
  readonly run: number;
  /**
   * `entering`: the next run begins as soon as the job goes on, whatever leads to the task. `open`: a run is under way.
   * `retrying`: the next run begins by itself at `until`.
   */
  readonly status: 'idle' | 'entering' | 'open' | 'retrying' | 'finished';
  readonly result?: Result;
  readonly chosen?: string;
  /** The outputs of the last run that references can name. */
  readonly outgoing: Members;
  readonly error?: unknown;
  /** When the run ends or the next one begins by itself, epoch milliseconds. */
  readonly until?: number;
  /** How often the last result led to a run by itself. */
  readonly retries: number;
  /** How many turns of a loop have begun in this run. */
  readonly turns: number;
  readonly to?: OfferedTo;
  /** The variables of the job when the run began to be under way, which its inputs are made of. */
  readonly startedWith?: Variables;
  /** The run of a child task whose children are kept. */
  readonly keeps?: number;
  /** The jobs of a child task. Of a run that has ended well, without their variables. */
  readonly children?: Children;
  /** A retry asks for a new run if the result of this one leads nowhere. */
  readonly again?: true;
  readonly claims: Claims<TaskClaim>;
};

export type TaskStates = {
  readonly status?: JobStatus;
  readonly variables: Variables;
  readonly description?: string;
  readonly error?: unknown;
  readonly tasks: Layers<TaskState>;
  /** How many runs of tasks and turns of loops have begun. */
  readonly runs: number;
  /** About how many bytes the variables and the outputs have that can still be read. */
  readonly weight: number;
  readonly attempts: Readonly<Record<string, number>>;
};

/** A task that has not run. */
export const idleTask: TaskState = { run: 0, status: 'idle', outgoing: {}, retries: 0, turns: 0, claims: noClaims };

export const noTasks: TaskStates = { variables: empty, tasks: empty, runs: 0, weight: 0, attempts: {} };

export const taskIn = ({ tasks }: TaskStates, id: string): TaskState => get(tasks, id) ?? idleTask;

const weightOf = ({ outgoing }: TaskState): number => (outgoing === idleTask.outgoing ? 0 : weigh(outgoing));

type Writable<T> = { -readonly [M in keyof T]: T[M] };

/** The state of a job's tasks while events change it in place: many follow from one decision. */
export type TaskDraft = Writable<Omit<TaskStates, 'variables' | 'tasks'>> & {
  variables: OpenLayers<unknown>;
  readonly tasks: OpenLayers<TaskState>;
};

export const draftOf = (state: TaskStates): TaskDraft => ({
  ...state,
  variables: openMap(state.variables),
  tasks: openMap(state.tasks),
});

export const settledTasks = (draft: TaskDraft): TaskStates => ({
  ...draft,
  variables: closeMap(draft.variables),
  tasks: closeMap(draft.tasks),
});

const setTask = (draft: TaskDraft, id: string, next: TaskState): void => {
  const before = taskIn(draft, id);
  if (before.outgoing !== next.outgoing) draft.weight += weightOf(next) - weightOf(before);
  put(draft.tasks, id, next);
};

const setVariable = (draft: TaskDraft, name: string, value: unknown): void => {
  const before = get(draft.variables, name);
  draft.weight += weigh(value) - (before === undefined ? 0 : weigh(before));
  put(draft.variables, name, value);
};

const setVariables = (draft: TaskDraft, variables: Members): void => {
  for (const [name, value] of Object.entries(variables)) setVariable(draft, name, value);
};

/** The variables as they are now, for a run that begins to be under way. */
const variablesNow = (draft: TaskDraft): Variables => {
  const now = closeMap(draft.variables);
  draft.variables = openMap(now);
  return now;
};

/** The task as it was before it ran. Its runs go on to be counted. */
const putBack = ({ run }: TaskState): TaskState => ({ ...idleTask, run });

const putAllBack = (draft: TaskDraft, ids: readonly string[]): void => {
  for (const id of ids) setTask(draft, id, putBack(taskIn(draft, id)));
};

/**
 * The task with a run under way that begins with the variables of now. A task that runs again by itself goes on counting.
 * Member by member, as at the end of a run.
 */
const newRun = (
  draft: TaskDraft,
  { task, run, until }: OfRun & { readonly until?: number | undefined },
): Writable<TaskState> => {
  const next: Writable<TaskState> = {
    run,
    status: 'open',
    outgoing: idleTask.outgoing,
    retries: taskIn(draft, task).retries,
    turns: 0,
    claims: noClaims,
    startedWith: variablesNow(draft),
  };
  if (until !== undefined) next.until = until;
  return next;
};

const isOpenRun = ({ status, run }: TaskState, number: number): boolean => status === 'open' && run === number;

/** Member by member: this runs for every run of every task, and V8 copies objects slowly. */
const endOfRun = (before: TaskState, data: TaskFinished): TaskState => {
  const { run, result, outgoing, error, chosen, retry } = data;
  const isUnderWay = isOpenRun(before, run);
  const isLoop = result === 'loop';
  const next: Writable<TaskState> = {
    run,
    status: isLoop ? 'open' : 'finished',
    result,
    outgoing,
    retries: before.retries,
    turns: isUnderWay ? before.turns : 0,
    claims: isUnderWay ? before.claims : noClaims,
  };
  if (retry !== undefined) {
    next.status = 'retrying';
    next.until = retry;
    next.retries++;
  }
  if (isLoop) {
    next.turns++;
    if (isUnderWay && before.startedWith) next.startedWith = before.startedWith;
    if (before.until !== undefined) next.until = before.until;
  }
  if (chosen !== undefined) next.chosen = chosen;
  if (error !== undefined) next.error = error;
  if (!isUnderWay) return next;
  const { to, keeps, children } = before;
  if (to) next.to = to;
  if (keeps !== undefined) next.keeps = keeps;
  if (children) next.children = childrenAtEnd(children, result !== 'success');
  return next;
};

const finished = (draft: TaskDraft, data: TaskFinished): void => {
  const { task, run, result, outgoing, error, attempt, tasks, sets = {} } = data;
  const before = taskIn(draft, task);
  const isCounted = isOpenRun(before, run) && result !== 'loop';
  if (tasks) putAllBack(draft, tasks);
  setTask(draft, task, endOfRun(before, data));
  if (!isCounted) draft.runs++;
  if (attempt) draft.attempts = { ...draft.attempts, [attempt.id]: attempt.count };
  for (const variable in sets) {
    const output = sets[variable] ?? '';
    const isError = output === errorOutput && !Object.hasOwn(outgoing, output);
    setVariable(draft, variable, (isError ? error : own(outgoing, output)) ?? null);
  }
};

const changeClaims = (
  draft: TaskDraft,
  { task, run }: OfRun,
  change: (claims: Claims<TaskClaim>) => Claims<TaskClaim>,
): void => {
  const before = taskIn(draft, task);
  if (isOpenRun(before, run)) setTask(draft, task, { ...before, claims: change(before.claims) });
};

const changeChildren = (draft: TaskDraft, { task, run }: OfRun, change: (children: Children) => Children): void => {
  const before = taskIn(draft, task);
  if (isOpenRun(before, run) && before.children) setTask(draft, task, { ...before, children: change(before.children) });
};

/** The tasks that the error of a job names as those that block it; undefined if it names none. */
export const blockersIn = (error: unknown): readonly string[] | undefined => {
  const tasks = isObject(error) ? error.tasks : undefined;
  if (!Array.isArray(tasks)) return undefined;
  return tasks.flatMap((one: unknown) => (isObject(one) && typeof one.task === 'string' ? [one.task] : []));
};

/** The finished tasks of which a retry may ask for a new run. The workflow says which of them lead nowhere. */
const retriable = (state: TaskStates, from: string | undefined): readonly string[] => {
  if (from !== undefined) return [from];
  const blockers = blockersIn(state.error);
  if (blockers) return blockers;
  return knownTasks(state).filter((id) => taskIn(state, id).result === 'failure');
};

type Evolve = {
  readonly [T in WorkflowJobEvent['topic']]: (draft: TaskDraft, data: DataOf<WorkflowJobEvent, T>) => void;
};

const become =
  (status: JobStatus) =>
  (draft: TaskDraft): void => {
    draft.status = status;
  };

/** The changes by each event to the state of a job's tasks. They know nothing of the workflow: what they must know is in the events. */
const evolveTasks: Evolve = {
  jobStarted: (draft, { variables }) => {
    draft.status = 'running';
    setVariables(draft, variables);
  },
  jobPaused: become('paused'),
  jobResumed: become('running'),
  jobCanceled: become('canceled'),
  jobCompleted: (draft, { variables }) => {
    setVariables(draft, variables);
    draft.status = 'complete';
  },
  jobErrored: (draft, { error }) => {
    draft.status = 'error';
    draft.error = error;
  },
  jobRetried: (draft, { from }) => {
    for (const id of retriable(draft, from)) {
      const task = taskIn(draft, id);
      if (task.status === 'finished') setTask(draft, id, { ...task, again: true, retries: 0 });
    }
    delete draft.error;
    draft.status = 'running';
  },
  taskStarted: (draft, data) => {
    const { task, keeps, children } = data;
    const next = newRun(draft, data);
    if (keeps !== undefined) next.keeps = keeps;
    if (children)
      next.children = childrenOfRun(children, keeps === undefined ? undefined : taskIn(draft, task).children);
    setTask(draft, task, next);
    draft.runs++;
  },
  childrenBegun: (draft, { task, run, ...begun }) =>
    changeChildren(draft, { task, run }, (children) => childrenBegun(children, begun, run)),
  childNoted: (draft, { task, run, index, ...end }) =>
    changeChildren(draft, { task, run }, (children) => childNoted(children, index, end)),
  taskOffered: (draft, data) => {
    const next = newRun(draft, data);
    next.to = data.to;
    setTask(draft, data.task, next);
    draft.runs++;
  },
  taskClaimed: (draft, { task, run, ...claim }) =>
    changeClaims(draft, { task, run }, (claims) => claimed(claims, claim)),
  taskClaimExtended: (draft, { until, ...data }) => changeClaims(draft, data, (claims) => extended(claims, until)),
  taskReleased: (draft, { reason, ...data }) => changeClaims(draft, data, (claims) => released(claims, reason)),
  taskFinished: finished,
  tasksReverted: (draft, { to, tasks, run }) => {
    putAllBack(draft, tasks);
    setTask(draft, to, { ...putBack(taskIn(draft, to)), run: run - 1, status: 'entering' });
  },
  variablesSet: (draft, { variables }) => setVariables(draft, variables),
  jobDescribed: (draft, { description }) => {
    draft.description = description;
  },
};

const isOwn = (topic: string): topic is WorkflowJobEvent['topic'] => Object.hasOwn(evolveTasks, topic);

/** Changes the state by an event. Other topics change nothing. */
export const take = (draft: TaskDraft, { topic, data }: Event): void => {
  if (isOwn(topic)) evolveTasks[topic](draft, data as never);
};

/** The state of a job's tasks after its events. */
export const foldTasks = (events: readonly Event[], from: TaskStates = noTasks): TaskStates => {
  const draft = draftOf(from);
  for (const event of events) take(draft, event);
  return settledTasks(draft);
};

/** The ids of the tasks that have run or are about to. */
const knownTasks = ({ tasks }: TaskStates): readonly string[] => [
  ...new Set(tasks.layers.flatMap((layer) => [...layer.keys()])),
];

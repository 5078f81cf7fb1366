import { isObject, type Members, step, stepsOf } from '@automation-platform/json';
import { RequestError } from '../../engine/requestError.ts';
import { operationKind } from './ownOperations.ts';

/** A workflow as its author wrote it. All members are kept; the engine reads only those that are named here. */
export type WorkflowDocument = Members & {
  readonly name: string;
  readonly tasks: Members;
  readonly transitions: Members;
};

export const startTask = 'workflow_start';
export const endTask = 'workflow_end';

const mostBytes = 1024 * 1024;
const mostTasks = 2000;
const mostEdges = 10_000;
const taskId = /^[A-Za-z0-9_-]{1,64}$/;
const usableName = /^[^\u0000-\u001f\u007f]{1,256}$/;

const refuse = (message: string, path: string): never => {
  throw new RequestError('invalid', message, { path });
};

/** The number of edges that an entry of `transitions` says. Faults of an edge are found later (workflowFaults.ts). */
const edgesIn = (entry: unknown): number => (isObject(entry) ? Object.keys(entry).length : 0);

/**
 * Checks that a JSON value has the form of a workflow. Throws `invalid` with the path. A document of this form is kept even
 * if it has faults (workflowFaults.ts).
 */
export const readWorkflow = (document: unknown): WorkflowDocument => {
  if (!isObject(document)) return refuse('A workflow is an object', '');
  const { name, tasks, transitions } = document;
  if (typeof name !== 'string' || !usableName.test(name))
    return refuse('A name has 1 to 256 characters, none of them a control character', '/name');
  if (!isObject(tasks)) return refuse('The tasks are an object', '/tasks');
  if (!isObject(transitions)) return refuse('The transitions are an object', '/transitions');
  const ids = Object.keys(tasks);
  if (ids.length > mostTasks) refuse(`A workflow has ${mostTasks} tasks at most`, '/tasks');
  const odd = ids.find((id) => !taskId.test(id));
  if (odd !== undefined)
    refuse('The id of a task has 1 to 64 letters, digits, hyphens and underscores', `/tasks${step(odd)}`);
  const edges = Object.values(transitions).reduce<number>((sum, entry) => sum + edgesIn(entry), 0);
  if (edges > mostEdges) refuse(`A workflow has ${mostEdges} edges at most`, '/transitions');
  if (new TextEncoder().encode(JSON.stringify(document)).length > mostBytes) refuse('A workflow has 1 MiB at most', '');
  return document as WorkflowDocument;
};

/** The kinds of work that a task stands for. `instant`: the engine carries it out within the decision. */
type TaskKind = 'start' | 'end' | 'instant' | 'timed' | 'forEach' | 'childJob' | 'platform' | 'people' | 'worker';

/** A result that is stored. `loop`: one more turn of a loop begins. */
export type Result = 'success' | 'failure' | 'error' | 'loop';
export const results: readonly unknown[] = ['success', 'failure', 'error', 'loop'];

type RetrySettings = {
  readonly limit: number;
  readonly delay: number;
  readonly results: readonly unknown[];
};

/** A task as the engine reads it. */
export type Task = {
  readonly id: string;
  readonly kind: TaskKind;
  readonly app: string;
  readonly name: string;
  /** The text by which people know it. */
  readonly title: string;
  readonly incoming: Members;
  /** The variables that get an output or the error, by the name of the variable. */
  readonly sets: ReadonlyMap<string, string>;
  readonly groups: readonly string[];
  readonly retry: RetrySettings | undefined;
  readonly timeLimit: { readonly seconds: number; readonly result: 'success' | 'failure' | 'error' } | undefined;
};

/** The name of an output that stands for the error of a run that ended with `error`. */
export const errorOutput = 'error';

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const membersOf = (value: unknown): Members => (isObject(value) ? value : {});
const variableOf = (value: unknown): string | undefined => /^\$var\.job\.(.+)$/s.exec(text(value))?.[1];

const kindOf = (id: string, task: Members, isInstant: (app: string, name: string) => boolean): TaskKind => {
  if (id === startTask) return 'start';
  if (id === endTask) return 'end';
  if (task.type === 'manual') return 'people';
  const [app, name] = [text(task.app), text(task.name)];
  if (task.location === 'Adapter') return 'worker';
  if (app === 'WorkFlowEngine' && (name === 'forEach' || name === 'childJob')) return name;
  if (app === 'WorkFlowEngine' && (name === 'delay' || name === 'stub')) return 'timed';
  if (app === 'MOP' && name === 'reattempt') return 'timed';
  if (isInstant(app, name)) return 'instant';
  return operationKind({ app, name }) ? 'platform' : 'worker';
};

const setsOf = (variables: Members): ReadonlyMap<string, string> => {
  const found = Object.entries(membersOf(variables.outgoing)).flatMap(([output, value]): [string, string][] => {
    const variable = variableOf(value);
    return variable === undefined ? [] : [[variable, output]];
  });
  const ofError = variableOf(variables.error);
  return new Map(ofError === undefined ? found : [...found, [ofError, errorOutput]]);
};

const whole = (value: unknown, least: number, most: number): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most ? value : undefined;

const retryOf = (settings: unknown): RetrySettings | undefined => {
  if (!isObject(settings) || settings.autoRetry !== true) return undefined;
  const limit = whole(settings.limit, 1, 100);
  const delay = whole(settings.delay ?? 0, 0, Number.MAX_SAFE_INTEGER);
  if (limit === undefined || delay === undefined) return undefined;
  return { limit, delay, results: Array.isArray(settings.state) ? settings.state : [settings.state] };
};

const timeLimitOf = (limit: unknown): Task['timeLimit'] => {
  if (!isObject(limit)) return undefined;
  const seconds = whole(limit.seconds, 1, 31_536_000);
  const { result = 'error' } = limit;
  if (seconds === undefined || (result !== 'success' && result !== 'failure' && result !== 'error')) return undefined;
  return { seconds, result };
};

const groupsOf = (groups: unknown): readonly string[] =>
  (Array.isArray(groups) ? groups : []).flatMap((group: unknown) => {
    const named = isObject(group) ? group.name : group;
    return typeof named === 'string' && named !== '' ? [named] : [];
  });

/** Reads one task of a document. Members of the wrong type count as missing; `workflowFaults` names them. */
export const readTask = (id: string, value: unknown, isInstant: (app: string, name: string) => boolean): Task => {
  const task = membersOf(value);
  const variables = membersOf(task.variables);
  const name = text(task.name);
  return {
    id,
    kind: kindOf(id, task, isInstant),
    app: text(task.app),
    name,
    title: text(task.summary) || name || id,
    incoming: membersOf(variables.incoming),
    sets: setsOf(variables),
    groups: groupsOf(task.groups),
    retry: retryOf(task.retrySettings),
    timeLimit: timeLimitOf(task.timeLimit),
  };
};

/** The names of the variables that are sealed whatever they are called. */
export const encryptedVariables = ({ decorators }: WorkflowDocument): ReadonlySet<string> =>
  new Set(
    (Array.isArray(decorators) ? decorators : []).flatMap((decorator: unknown) => {
      if (!isObject(decorator) || decorator.type !== 'encryption') return [];
      const pointer = text(decorator.pointer);
      return /^\/variables\/[^/]+$/.test(pointer) ? stepsOf(pointer).slice(1) : [];
    }),
  );

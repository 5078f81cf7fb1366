import { type Static, Type } from 'typebox';
import { aggregate, type Context, type EventOf, fold, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Fault, RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { anyMembers, nothing, text, topicsOf, typed } from '../engine/topics.ts';
import type { JobError } from '../operations-manager/jobSchemas.ts';
import { type InstanceData, instanceName, refuseUnfit } from './resourceInstances.ts';
import { actionInEvents, type ResourceAction } from './resourceModels.ts';

/** The body of `runAction`. An action runs on an instance, on all instances of a group, or makes a new instance. */
export const runActionSchema = Type.Object(
  {
    actionId: name('Id of an action of the model'),
    instance: Type.Optional(name('Id or name of the instance; for update and delete')),
    group: Type.Optional(name('Id or name of a group, in place of an instance')),
    instanceName: Type.Optional(name('Name of the new instance; for create and import')),
    instanceDescription: Type.Optional(Type.String({ description: 'Purpose of the new instance', maxLength: 10_000 })),
    inputs: Type.Optional(
      Type.Unsafe<InstanceData>(
        Type.Object(
          {},
          { additionalProperties: true, description: 'Inputs of the action, or the data of a new instance' },
        ),
      ),
    ),
  },
  { additionalProperties: false, title: 'RunAction', description: 'Which action to run, and on what' },
);
export type RunAction = Static<typeof runActionSchema> & { readonly modelId: string };

export const executionStatus = Type.Enum(['running', 'error', 'complete', 'canceled', 'paused'], {
  description: 'Where it is',
});
export type ExecutionStatus = Static<typeof executionStatus>;

/** The part of an execution that concerns one instance. Its id is that of its job. */
const task = Type.Object({ _id: text, instanceId: text, instanceName: text });
export type Task = SchemaData<typeof task>;

const started = Type.Object({
  modelId: text,
  action: actionInEvents,
  /** The automation that the action runs; null: there is none. Earlier versions looked for it when a job started. */
  automation: Type.Optional(Type.Union([Type.Null(), text])),
  target: Type.Object({ type: typed<'instance' | 'group'>()(text), _id: text, name: text }),
  /** For a new instance. */
  instanceDescription: text,
  inputs: anyMembers,
  tasks: Type.Array(task),
  /** In UTC. Shows which of two actions on a target is the later one. */
  started: text,
});
export type ActionStarted = SchemaData<typeof started>;

const error = typed<JobError>()(Type.Union([Type.String(), anyMembers]));
const taskChange = Type.Object({
  task: text,
  status: typed<ExecutionStatus>()(text),
  error: Type.Optional(error),
  /** The new data of the instance. */
  instanceData: Type.Optional(anyMembers),
});
type TaskChange = SchemaData<typeof taskChange>;

const topics = topicsOf({
  /** Without a workflow, all tasks are complete with this event. */
  actionStarted: ['An action on an instance or a group began', started],
  actionTaskChanged: ['The part of an action that concerns one instance changed its status', taskChange],
  actionCancelRequested: ['Somebody asked to cancel an action', nothing],
  actionPaused: ['An action paused', nothing],
  actionResumed: ['An action went on', nothing],
  actionCompleted: ['An action ended well', nothing],
  actionErrored: ['An action ended in error', Type.Object({ error })],
  actionCanceled: ['An action was canceled', nothing],
});
export type ExecutionEvent = EventOf<typeof topics>;

export type TaskState = Task & { readonly status: ExecutionStatus; readonly error: JobError | null };
export type ExecutionState = {
  readonly status?: ExecutionStatus;
  readonly started?: ActionStarted;
  readonly tasks: readonly TaskState[];
  readonly cancelRequested: boolean;
};

const become =
  (status: ExecutionStatus) =>
  (state: ExecutionState): ExecutionState => ({ ...state, status });

/** The tasks at the start of an execution. */
export const tasksAtStart = ({ action, tasks }: ActionStarted): readonly TaskState[] =>
  tasks.map((task) => ({ ...task, status: action.workflow === null ? 'complete' : 'running', error: null }));

/** The tasks after a change of one of them. */
export const withTask = (tasks: readonly TaskState[], { task, status, error }: TaskChange): readonly TaskState[] =>
  tasks.map((one) => (one._id === task ? { ...one, status, error: error ?? null } : one));

/** One run of an action. It decides the changes of instances; they are carried out in the instances' streams. */
export const actionExecution = aggregate<ExecutionState, ExecutionEvent>({
  area: 'lifecycle-manager',
  category: 'actionExecution',
  topics,
  initial: { tasks: [], cancelRequested: false },
  evolve: {
    actionStarted: (state, started) => ({ ...state, status: 'running', started, tasks: tasksAtStart(started) }),
    actionTaskChanged: (state, change) => ({ ...state, tasks: withTask(state.tasks, change) }),
    actionCancelRequested: (state) => ({ ...state, cancelRequested: true }),
    actionPaused: become('paused'),
    actionResumed: become('running'),
    actionCompleted: become('complete'),
    actionErrored: become('error'),
    actionCanceled: become('canceled'),
  },
  exists: ({ status }) => status !== undefined,
  // The name of a new instance is reserved from the start. Otherwise its job might change the network and then fail
  // because the name is taken.
  reservations: ({ status, started }) =>
    started && makes(started.action) && status !== 'error' && status !== 'canceled'
      ? [
          {
            owner: `resourceInstance-${started.target._id}`,
            name: instanceName({ modelId: started.modelId, name: started.target.name }),
          },
        ]
      : [],
});

const makes = ({ type }: ResourceAction): boolean => type === 'create' || type === 'import';
export const hasEnded = (status: ExecutionStatus | undefined): boolean =>
  status === 'complete' || status === 'error' || status === 'canceled';

/** How many instances an action on a group may change. */
export const mostTasks = 1000;

/** The data that a decision to run needs. */
export type RunRefs = {
  readonly modelExists: boolean;
  readonly action?: ResourceAction;
  /** The instance or group; undefined if it does not exist. */
  readonly target?: ActionStarted['target'];
  /** The number of instances, and the instances themselves. The list is empty if they are too many. */
  readonly size: number;
  readonly instances: readonly { readonly id: string; readonly name: string }[];
  /** The automation that the action runs; null: there is none, or none that the actor may see. */
  readonly automation: string | null;
  /** The faults of the data under the model's schema, for actions that take effect at once. */
  readonly faults: readonly Fault[];
  /** With sealed secrets. */
  readonly inputs: InstanceData;
};

export const run = (
  _: ExecutionState,
  input: RunAction,
  { newId, now, refs }: Context<RunRefs>,
): readonly ExecutionEvent[] => {
  if (!refs.modelExists) throw new RequestError('not_found', 'No such resource model', { path: 'model' });
  const { action } = refs;
  if (!action) throw new RequestError('not_found', 'The model has no action with this id', { path: '/actionId' });
  checkTarget(action, input);
  // `checkTarget` has made sure that a new instance has a name.
  const target = makes(action)
    ? { type: 'instance' as const, _id: newId('instance'), name: input.instanceName! }
    : refs.target;
  if (!target)
    throw new RequestError('not_found', `The model has no such ${input.group === undefined ? 'instance' : 'group'}`, {
      path: input.group === undefined ? '/instance' : '/group',
    });
  const instances = makes(action) ? [{ id: target._id, name: target.name }] : refs.instances;
  if (refs.size > mostTasks)
    throw new RequestError('unprocessable', `An action may reach ${mostTasks} instances, the group has ${refs.size}`, {
      path: '/group',
    });
  if (instances.length === 0) throw new RequestError('unprocessable', 'The group has no instances', { path: '/group' });
  refuseUnfit(refs.faults);
  const started: ExecutionEvent = {
    topic: 'actionStarted',
    data: {
      modelId: input.modelId,
      action,
      automation: refs.automation,
      target,
      instanceDescription: input.instanceDescription ?? '',
      inputs: refs.inputs,
      tasks: instances.map(({ id, name }) => ({ _id: newId(`task ${id}`), instanceId: id, instanceName: name })),
      started: now,
    },
  };
  return action.workflow === null ? [started, { topic: 'actionCompleted', data: {} }] : [started];
};

/** Throws `invalid` if the request has a field that the action does not use, or lacks one that it needs. */
const checkTarget = (action: ResourceAction, input: RunAction): void => {
  const fault = (member: keyof RunAction, message: string) =>
    new RequestError('invalid', `An action of type ${action.type} ${message}`, { path: `/${member}` });
  const foreign = (
    makes(action) ? (['instance', 'group'] as const) : (['instanceName', 'instanceDescription'] as const)
  ).find((member) => input[member] !== undefined);
  if (foreign) throw fault(foreign, `takes no ${foreign}`);
  if (makes(action) && input.instanceName === undefined) throw fault('instanceName', 'needs instanceName');
  if (makes(action)) return;
  if (input.instance === undefined && input.group === undefined) throw fault('instance', 'needs instance or group');
  if (input.instance !== undefined && input.group !== undefined) throw fault('group', 'takes either instance or group');
};

/** The present state of a job. */
export type JobOutcome = {
  readonly status: ExecutionStatus;
  readonly error: JobError | null;
  /** The new data of the instance, with sealed secrets; undefined if the job leaves none. */
  readonly instanceData?: InstanceData;
  /** Why the data cannot be used. */
  readonly fault?: string;
};

/** Runs after each event of a job. A task that has ended stays as it is. */
export const note = (
  state: ExecutionState,
  { task }: { readonly task: string },
  { refs }: Context<JobOutcome>,
): readonly ExecutionEvent[] => {
  const before = state.tasks.find(({ _id }) => _id === task);
  if (!before || hasEnded(before.status) || before.status === refs.status) return [];
  const { instanceData, fault } = refs;
  const error = fault ?? refs.error;
  const data: TaskChange =
    refs.status === 'complete' && fault === undefined
      ? { task, status: 'complete', ...defined({ instanceData }) }
      : { task, status: fault === undefined ? refs.status : 'error', ...defined({ error: error ?? undefined }) };
  const changed: ExecutionEvent = { topic: 'actionTaskChanged', data };
  const { tasks } = fold(actionExecution, [changed], state);
  const status = overall(tasks);
  return status === state.status ? [changed] : [changed, became(status, tasks)];
};

const overall = (tasks: readonly TaskState[]): ExecutionStatus =>
  (['running', 'paused', 'error', 'canceled'] as const).find((status) =>
    tasks.some((task) => task.status === status),
  ) ?? 'complete';

const became = (status: ExecutionStatus, tasks: readonly TaskState[]): ExecutionEvent => {
  switch (status) {
    case 'running':
      return { topic: 'actionResumed', data: {} };
    case 'paused':
      return { topic: 'actionPaused', data: {} };
    case 'canceled':
      return { topic: 'actionCanceled', data: {} };
    case 'complete':
      return { topic: 'actionCompleted', data: {} };
    case 'error':
      return {
        topic: 'actionErrored',
        data: { error: tasks.find(({ error }) => error !== null)?.error ?? 'A job has failed' },
      };
  }
};

/**
 * Asks the jobs of the execution to end. The execution has ended once they have. Tasks that are complete by then stay
 * complete.
 */
export const cancel = ({ status, cancelRequested }: ExecutionState): readonly ExecutionEvent[] => {
  if (status === 'canceled' || (cancelRequested && !hasEnded(status))) return [];
  if (hasEnded(status)) throw new RequestError('conflict', `The execution has ended: ${status}`);
  return [{ topic: 'actionCancelRequested', data: {} }];
};

import { defined } from '../../domain/engine/defined.ts';
import {
  type ActionStarted,
  actionExecution,
  type ExecutionStatus,
  type TaskState,
  tasksAtStart,
  withTask,
} from '../../domain/lifecycle-manager/actionExecutions.ts';
import { type LastAction, lastAction } from '../../domain/lifecycle-manager/lastActions.ts';
import type { JobError } from '../../domain/operations-manager/jobSchemas.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, projection } from '../engine/define.ts';
import { documentGuard } from '../engine/guards.ts';
import { automations } from '../operations-manager/automations.ts';

/** A task of an execution; `job` is null if the action has no workflow. */
type ShownTask = Omit<TaskState, '_id'> & { readonly job: string | null };

export type ExecutionDoc = Omit<ActionStarted, 'tasks' | 'started' | 'instanceDescription'> & {
  readonly _id: string;
  readonly status: ExecutionStatus;
  readonly tasks: readonly ShownTask[];
  readonly error: JobError | null;
  readonly created: string;
  readonly createdBy: string | null;
  readonly lastUpdated: string;
};

type Step = (doc: ExecutionDoc | undefined, event: Recorded) => ExecutionDoc | undefined;

const become =
  (status: ExecutionStatus): Step =>
  (doc, { metadata: { at } }) =>
    doc && { ...doc, status, lastUpdated: at };

/** Executions of actions; authors are ids of accounts, secrets are sealed. */
export const actionExecutions = projection<ExecutionDoc>()(actionExecution, {
  collection: 'actionExecutions',
  on: {
    actionStarted: (_, event) => {
      const {
        data,
        metadata: { at, actor },
      } = event;
      const { modelId, action, automation, target, inputs } = data;
      const tasks = tasksAtStart(data).map(({ _id, ...task }) => ({
        job: action.workflow === null ? null : _id,
        ...task,
      }));
      return {
        _id: idOf(event),
        modelId,
        action,
        target,
        inputs,
        status: 'running',
        tasks,
        error: null,
        created: at,
        createdBy: actor.id,
        lastUpdated: at,
        ...defined({ automation }),
      };
    },
    actionTaskChanged: (doc, { data, metadata: { at } }) => {
      const tasks = doc?.tasks.map(({ job, ...task }) => ({ ...task, _id: job ?? '' })) ?? [];
      return (
        doc && {
          ...doc,
          tasks: withTask(tasks, data).map(({ _id, ...task }) => ({ job: _id, ...task })),
          lastUpdated: at,
        }
      );
    },
    actionCancelRequested: (doc, { metadata: { at } }) => doc && { ...doc, lastUpdated: at },
    actionPaused: become('paused'),
    actionResumed: become('running'),
    actionCompleted: become('complete'),
    actionErrored: (doc, { data: { error }, metadata: { at } }) =>
      doc && { ...doc, status: 'error', error, lastUpdated: at },
    actionCanceled: become('canceled'),
  },
  retires: {
    ended: ({ status, lastUpdated }) => (status === 'running' || status === 'paused' ? undefined : lastUpdated),
    from: 'created',
  },
  guard: ({ automation }) => (automation == null ? undefined : documentGuard(automations, automation)),
  sorts: {
    created: (doc) => doc.created,
    lastUpdated: (doc) => doc.lastUpdated,
    status: (doc) => doc.status,
    name: (doc) => doc.action.name,
  },
  filters: {
    status: (doc) => doc.status,
    modelId: (doc) => doc.modelId,
    name: (doc) => doc.action.name,
    type: (doc) => doc.action.type,
    target: (doc) => doc.target._id,
    job: (doc) => doc.tasks.flatMap(({ job }) => job ?? []),
  },
});

/** The last action of each instance or group, by its id. */
export const lastActions = projection<LastAction>()(lastAction, {
  collection: 'lastActions',
  on: {
    lastActionSet: (_, { data }) => data,
    lastActionCleared: () => undefined,
  },
  sorts: { started: ({ started }) => started },
  filters: {},
});

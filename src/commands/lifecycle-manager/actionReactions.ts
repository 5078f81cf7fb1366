import type { DataOf } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import {
  type ActionStarted,
  actionExecution,
  type ExecutionEvent,
  type Task,
} from '../../domain/lifecycle-manager/actionExecutions.ts';
import { type InstanceData, resourceInstance } from '../../domain/lifecycle-manager/resourceInstances.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import type { Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { moveJob, startJob } from '../operations-manager/jobs.ts';
import { noteJob } from './actionExecutions.ts';
import { recordLastAction } from './lastActions.ts';
import { admitInstance, amendInstance, removeInstance } from './resourceInstances.ts';

/**
 * The commands by which an action changes an instance. `data`: the data that the job leaves; without a job, the inputs.
 */
const effect = (
  { modelId, action, inputs, instanceDescription }: ActionStarted,
  { instanceId: id, instanceName }: Task,
  data?: InstanceData,
): readonly Next[] => {
  switch (action.type) {
    case 'create':
    case 'import':
      return [
        {
          command: admitInstance,
          id,
          input: { modelId, name: instanceName, description: instanceDescription, instanceData: data ?? inputs },
        },
      ];
    case 'update':
      if (data) return [{ command: amendInstance, id, input: { instanceData: data } }];
      return action.workflow === null ? [{ command: amendInstance, id, input: { merge: inputs } }] : [];
    case 'delete':
      return [{ command: removeInstance, id, input: { withModel: false } }];
  }
};

/**
 * The job of a task. Its variable `instance` holds the data of the instance. The value at the end of the job becomes
 * the new data.
 */
const jobOf = async (
  execution: string,
  { modelId, action, automation: of, inputs, instanceDescription }: ActionStarted,
  { _id: id, instanceId, instanceName }: Task,
  tools: Tools,
): Promise<Next> => {
  const { exists, content } = await tools.state(resourceInstance, instanceId);
  const isGone = of != null && !(await tools.state(automation, of)).exists;
  const { _id, name, type, workflow } = action;
  return {
    command: startJob,
    id,
    input: {
      workflow,
      ...defined({ automation: isGone ? null : of }),
      execution,
      description: `${name}: ${instanceName}`,
      variables: {
        instance: exists ? content.instanceData : inputs,
        inputs,
        action: { _id, name, type },
        resource: {
          modelId,
          instanceId,
          name: instanceName,
          description: exists ? content.description : instanceDescription,
        },
      },
    },
  };
};

const nextOf = ({ target }: ActionStarted, execution: string): Next => ({
  command: recordLastAction,
  id: target._id,
  input: { execution },
});

const begin = async ({ stream, data }: Recorded<ActionStarted>, tools: Tools): Promise<readonly Next[]> => {
  const { id } = splitStream(stream);
  const parts =
    data.action.workflow === null
      ? data.tasks.flatMap((task) => effect(data, task))
      : await Promise.all(data.tasks.map((task) => jobOf(id, data, task, tools)));
  return data.action.workflow === null ? [...parts, nextOf(data, id)] : [nextOf(data, id), ...parts];
};

const settle = async (
  { stream, data }: Recorded<DataOf<ExecutionEvent, 'actionTaskChanged'>>,
  tools: Tools,
): Promise<readonly Next[]> => {
  const { started, tasks } = await tools.state(actionExecution, splitStream(stream).id);
  const task = tasks.find(({ _id }) => _id === data.task);
  return started && task && data.status === 'complete' ? effect(started, task, data.instanceData) : [];
};

const cancelJobs = async ({ stream }: Recorded, tools: Tools): Promise<readonly Next[]> =>
  (await tools.state(actionExecution, splitStream(stream).id)).tasks.map(({ _id: id }) => ({
    command: moveJob,
    id,
    input: { move: 'cancel' },
  }));

const show = async ({ stream }: Recorded, tools: Tools): Promise<readonly Next[]> => {
  const { id } = splitStream(stream);
  const { started } = await tools.state(actionExecution, id);
  return started ? [nextOf(started, id)] : [];
};

const reactToJob = async ({ stream }: Recorded, tools: Tools): Promise<readonly Next[]> => {
  const { id: task } = splitStream(stream);
  const execution = (await tools.state(job, task)).started?.execution;
  return execution == null ? [] : [{ command: noteJob, id: execution, input: { task } }];
};

export const actionReactions: readonly Reaction[] = [
  {
    of: actionExecution,
    on: {
      actionStarted: begin,
      actionTaskChanged: settle,
      actionCancelRequested: cancelJobs,
      actionPaused: show,
      actionResumed: show,
      actionCompleted: show,
      actionErrored: show,
      actionCanceled: show,
    },
  },
  {
    of: job,
    on: {
      jobPaused: reactToJob,
      jobResumed: reactToJob,
      jobCompleted: reactToJob,
      jobErrored: reactToJob,
      jobCanceled: reactToJob,
      jobGivenUp: reactToJob,
    },
  },
];

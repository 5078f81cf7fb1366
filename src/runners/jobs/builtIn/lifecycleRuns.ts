import type { Tools } from '../../../commands/engine/define.ts';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { cancelExecution, runAction } from '../../../commands/lifecycle-manager/actionExecutions.ts';
import { executionOf } from '../../../commands/operations-manager/jobSessions.ts';
import { defined } from '../../../domain/engine/defined.ts';
import { maskSecrets, openNamed } from '../../../domain/engine/secretFields.ts';
import { actionExecution, type ExecutionState, hasEnded } from '../../../domain/lifecycle-manager/actionExecutions.ts';
import { actionExecutions } from '../../../projections/lifecycle-manager/actionExecutions.ts';
import { resourceInstances } from '../../../projections/lifecycle-manager/resourceInstances.ts';
import { resourceModels } from '../../../projections/lifecycle-manager/resourceModels.ts';
import { endings } from './endings.ts';
import { requestOnce } from './once.ts';
import type { ReadAs } from './readAs.ts';
import { type OperationFor, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'findWithin' | 'shown' | 'state' | 'unseal'>;
  readonly read: ReadAs;
};

type RunAction = OperationFor<'LifecycleManager.runAction'>;

const reasonIn = ({ tasks }: ExecutionState): string => {
  const error = maskSecrets(tasks.find((task) => task.error !== null)?.error);
  return typeof error === 'string' ? error : JSON.stringify(error ?? null);
};

/** Operations on resources. An action is begun once, also after a crash, and followed to the end of its execution. */
export const lifecycleRuns = ({ handle, tools, read }: Needs) => {
  const { ended, onEvent, categories } = endings({
    tools,
    of: actionExecution,
    topics: ['actionCompleted', 'actionErrored', 'actionCanceled'],
    hasEnded: ({ status }) => hasEnded(status),
  });

  const begin = async (id: string, run: Parameters<RunAction>[0]): Promise<void> => {
    const actor = await run.step();
    const { modelId: model, variables, actionId, instance, group, instanceName, instanceDescription } = run.inputs;
    const { _id: modelId } = await read(resourceModels, model, actor);
    const inputs = variables && openNamed(variables, tools.unseal);
    const input = { modelId, actionId, ...defined({ instance, group, instanceName, instanceDescription, inputs }) };
    await handle(runAction, { ...requestOnce(run, actor, 'runAction'), id, input });
    // The run may have ended meanwhile, before there was an execution to cancel.
    if (!(await run.isOver())) return;
    await handle(cancelExecution, { ...requestFor(run.started), id, input: {} });
  };

  const runOne: RunAction = async (run) => {
    const id = executionOf(run.key);
    if (!actionExecution.exists(await tools.state(actionExecution, id))) await begin(id, run);
    const state = await run.awaits(ended(id, run.signal));
    if (state.status === 'canceled') throw new RunEnded(`Execution ${id} was canceled`);
    if (state.status === 'error') throw new RunEnded(`Execution ${id} ended in error: ${reasonIn(state)}`);
    return { result: openNamed(await tools.shown(actionExecutions, id), tools.unseal) };
  };

  const getInstance: OperationFor<'LifecycleManager.getResourceInstanceByName'> = async ({ inputs, step }) => {
    const actor = await step();
    const { _id: model, name } = await read(resourceModels, inputs.modelName, actor);
    const [id] = await tools.findWithin(resourceInstances, 'modelId', model, [inputs.instanceName]);
    if (id === undefined)
      throw new RunEnded(`The model ${JSON.stringify(name)} has no instance ${JSON.stringify(inputs.instanceName)}`);
    return { instance: openNamed(await read(resourceInstances, id, actor), tools.unseal) };
  };

  return { runAction: runOne, getInstance, onEvent, categories };
};

import { setImmediate as breathe } from 'node:timers/promises';
import { isObject } from '@automation-platform/json';
import { Type } from 'typebox';
import { same } from '../../domain/engine/changes.ts';
import type { Actor, Gbac } from '../../domain/engine/core.ts';
import { defined } from '../../domain/engine/defined.ts';
import { maskSecrets, sealSecrets } from '../../domain/engine/secretFields.ts';
import {
  actionExecution,
  cancel,
  type ExecutionState,
  type JobOutcome,
  mostTasks,
  note,
  type RunAction,
  type RunRefs,
  run,
  runActionSchema,
} from '../../domain/lifecycle-manager/actionExecutions.ts';
import { idsIn } from '../../domain/lifecycle-manager/idSets.ts';
import { resourceGroup } from '../../domain/lifecycle-manager/resourceGroups.ts';
import { type InstanceData, resourceInstance } from '../../domain/lifecycle-manager/resourceInstances.ts';
import { actionOf, type ResourceAction, resourceModel } from '../../domain/lifecycle-manager/resourceModels.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import { job } from '../../domain/operations-manager/jobs.ts';
import { resourceGroups } from '../../projections/lifecycle-manager/resourceGroups.ts';
import { resourceInstances } from '../../projections/lifecycle-manager/resourceInstances.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import { mayRead } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { accessListThatDenies } from '../operations-manager/jobs.ts';
import { unfit } from './resourceInstances.ts';

const command = commandsOf(actionExecution);

/** The target of the request, and the instances that it consists of. */
const findTargets = async (
  { modelId, instance, group }: RunAction,
  tools: Tools,
): Promise<Pick<RunRefs, 'target' | 'size'> & { readonly ids: readonly string[] }> => {
  const [type, named, collection] =
    group === undefined
      ? (['instance', instance, resourceInstances] as const)
      : (['group', group, resourceGroups] as const);
  const [_id] = named === undefined ? [] : await tools.findWithin(collection, 'modelId', modelId, [named]);
  if (_id === undefined) return { size: 0, ids: [] };
  if (type === 'instance')
    return {
      target: { type, _id, name: (await tools.state(resourceInstance, _id)).content.name },
      size: 1,
      ids: [_id],
    };
  const { name, members } = await tools.state(resourceGroup, _id);
  return { target: { type, _id, name }, size: members.size, ids: members.size > mostTasks ? [] : idsIn(members) };
};

/** The id of the automation that the action runs; null: there is none, or none that the actor may see. */
const automationOf = async ({ workflow }: ResourceAction, actor: Actor, tools: Tools): Promise<string | null> => {
  const id = workflow === null ? undefined : await tools.find(automations, workflow);
  return id !== undefined && mayRead(actor, (await tools.state(automation, id)).content.gbac) ? id : null;
};

/** Accounts that may read the automation of an execution may see and cancel it, as with jobs. */
const accessListOf = ({ started }: ExecutionState, actor: Actor, tools: Tools): Promise<Gbac> =>
  accessListThatDenies(actor, { started: { automation: started?.automation ?? null, groups: [] } }, tools);

export const runAction = command({
  name: 'runAction',
  input: Type.Object({ modelId: Type.String(), ...runActionSchema.properties }),
  on: 'new',
  decide: run,
  prepare: async ({ input, state, actor }, tools): Promise<RunRefs & { readonly gbac: Gbac }> => {
    const { exists, content } = await tools.state(resourceModel, input.modelId);
    const action = actionOf(content, input.actionId);
    const { ids, ...meant } = await findTargets(input, tools);
    const inputs = input.inputs ?? {};
    const instances = [];
    const faults =
      action?.workflow === null && action.type !== 'update' && action.type !== 'delete'
        ? [...unfit(content.schema, inputs, '/inputs')]
        : [];
    for (const id of ids) {
      await breathe();
      const {
        content: { name, instanceData },
      } = await tools.state(resourceInstance, id);
      instances.push({ id, name });
      if (faults.length === 0 && action?.workflow === null && action.type === 'update')
        faults.push(
          ...unfit(content.schema, { ...(maskSecrets(instanceData) as InstanceData), ...inputs }, '/inputs').map(
            (fault) => ({ ...fault, instance: name }),
          ),
        );
    }
    return {
      gbac: await accessListOf(state, actor, tools),
      modelExists: exists,
      ...meant,
      instances,
      faults,
      ...defined({ action }),
      automation: action ? await automationOf(action, actor, tools) : null,
      inputs: sealSecrets(inputs, {}, tools.seal, '/inputs') as InstanceData,
    };
  },
  // The account that repeats the request must still be able to see the execution.
  gbac: (_, { gbac }) => gbac,
});

export const cancelExecution = command({
  name: 'cancelExecution',
  on: 'existing',
  decide: cancel,
  prepare: async ({ state, actor }, tools) => ({ gbac: await accessListOf(state, actor, tools) }),
  gbac: (_, { gbac }) => gbac,
});

/**
 * Runs after each event of a job. Takes over the present state of the job's stream. The task has the same id as the
 * job.
 */
export const noteJob = command({
  name: 'noteJob',
  input: Type.Object({ task: Type.String() }),
  on: 'any',
  decide: note,
  prepare: async ({ input: { task }, state: { started } }, tools): Promise<JobOutcome> => {
    const { status = 'running', error, variables, started: begun } = await tools.state(job, task);
    const outcome = { status: status === 'incomplete' ? ('error' as const) : status, error };
    const { instance } = variables;
    if (
      !started ||
      status !== 'complete' ||
      started.action.type === 'delete' ||
      (started.action.type === 'update' && same(instance, begun?.variables.instance))
    )
      return outcome;
    if (!isObject(instance)) return { ...outcome, fault: 'The variable instance of the job is no object' };
    const {
      content: { schema },
    } = await tools.state(resourceModel, started.modelId);
    const [fault] = unfit(schema, maskSecrets(instance), '/variables/instance');
    return fault
      ? {
          ...outcome,
          fault: `What the job leaves does not fit the schema of the model: ${fault.path} ${fault.message}`,
        }
      : { ...outcome, instanceData: instance as InstanceData };
  },
});

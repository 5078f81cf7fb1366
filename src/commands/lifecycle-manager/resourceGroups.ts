import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { hasId, idsIn } from '../../domain/lifecycle-manager/idSets.ts';
import {
  changeMembers,
  create,
  drop,
  type GroupState,
  groupChangesSchema,
  newGroupSchema,
  remove,
  removeIfThere,
  resourceGroup,
} from '../../domain/lifecycle-manager/resourceGroups.ts';
import { resourceInstance } from '../../domain/lifecycle-manager/resourceInstances.ts';
import { resourceModel } from '../../domain/lifecycle-manager/resourceModels.ts';
import { resourceGroups } from '../../projections/lifecycle-manager/resourceGroups.ts';
import { resourceInstances } from '../../projections/lifecycle-manager/resourceInstances.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { queryAll } from '../engine/tools.ts';
import { clearLastAction } from './lastActions.ts';
import { partsOfModel } from './resourceInstances.ts';

const command = commandsOf(resourceGroup);

const found = (modelId: string, instances: readonly string[], { findWithin }: Tools) =>
  findWithin(resourceInstances, 'modelId', modelId, instances);

export const createResourceGroup = command({
  name: 'createResourceGroup',
  input: Type.Object({ modelId: Type.String(), ...newGroupSchema.properties }),
  on: 'new',
  decide: create,
  locks: (_, { modelId }) => partsOfModel(modelId),
  prepare: async ({ input: { modelId, instances = [] } }, tools) => ({
    modelExists: (await tools.state(resourceModel, modelId)).exists,
    found: await found(modelId, instances, tools),
  }),
});
export const updateResourceGroup = command({
  name: 'updateResourceGroup',
  input: groupChangesSchema,
  on: 'existing',
  decide: changeMembers,
  locks: ({ exists, modelId }, { instancesToAdd = [] }) =>
    exists && instancesToAdd.length > 0 ? partsOfModel(modelId) : undefined,
  prepare: async ({ input: { instancesToAdd = [], instancesToRemove = [] }, state: { modelId } }, tools) => ({
    toAdd: await found(modelId, instancesToAdd, tools),
    toRemove: await found(modelId, instancesToRemove, tools),
  }),
});
export const deleteResourceGroup = command({
  name: 'deleteResourceGroup',
  on: 'existing',
  decide: remove,
});

/** Parts of deletions. */
const dropFromGroup = command({
  name: 'dropFromGroup',
  input: Type.Object({ instance: Type.String() }),
  on: 'any',
  decide: drop,
});
export const removeResourceGroup = command({
  name: 'removeResourceGroup',
  on: 'any',
  decide: removeIfThere,
});

/** Removes a deleted instance from its groups. If its model is deleted too, the groups go with the model. */
const leaveGroups = async ({ stream }: Recorded, tools: Tools): Promise<readonly Next[]> => {
  const { id: instance } = splitStream(stream);
  const nextCommands: Next[] = [{ command: clearLastAction, id: instance, input: {} }];
  const {
    content: { modelId },
  } = await tools.state(resourceInstance, instance);
  if (!(await tools.state(resourceModel, modelId)).exists) return nextCommands;
  for (const { _id: id } of await queryAll(tools, resourceGroups, { field: 'modelId', op: 'equals', value: modelId }))
    if (hasId((await tools.state(resourceGroup, id)).members, instance))
      nextCommands.push({ command: dropFromGroup, id, input: { instance } });
  return nextCommands;
};

const forget = async ({ stream }: Recorded): Promise<readonly Next[]> => [
  { command: clearLastAction, id: splitStream(stream).id, input: {} },
];

export const groupReactions: readonly Reaction[] = [
  { of: resourceInstance, on: { resourceInstanceDeleted: leaveGroups } },
  { of: resourceGroup, on: { resourceGroupDeleted: forget } },
];

const listed = (value: unknown): readonly string[] => (Array.isArray(value) ? value : []);

const changedMembers = (former: Members, present: Members = {}): Members => {
  const [then, now] = [new Set(listed(former.instances)), new Set(listed(present.instances))];
  return {
    instancesToAdd: [...then].filter((id) => !now.has(id)),
    instancesToRemove: [...now].filter((id) => !then.has(id)),
  };
};

export const resourceGroupKind: Kind = {
  of: resourceGroup,
  restore: {
    there: by(updateResourceGroup, { input: changedMembers }),
    deleted: by(createResourceGroup),
    more: ({ members }: GroupState) => ({ instances: idsIn(members) }),
  },
};

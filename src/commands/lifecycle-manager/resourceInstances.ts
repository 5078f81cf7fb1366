import { compileUserSchema } from '@automation-platform/bounded-schemas';
import { Type } from 'typebox';
import type { Fault } from '../../domain/engine/requestError.ts';
import { faultsInTheOpen, sealSecrets } from '../../domain/engine/secretFields.ts';
import {
  admit,
  amend,
  create,
  type DataRefs,
  type InstanceContent,
  type InstanceData,
  newInstanceSchema,
  remove,
  removeIfThere,
  replace,
  resourceInstance,
} from '../../domain/lifecycle-manager/resourceInstances.ts';
import { resourceModel } from '../../domain/lifecycle-manager/resourceModels.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { by, type Kind } from '../engine/kinds.ts';

const command = commandsOf(resourceInstance);

/**
 * The lock of decisions on the parts of a model: which instances and groups exist, and whether the model itself does.
 */
export const partsOfModel = (modelId: string): string => `resourceModel-${modelId}`;

/** The faults of the data under the schema; secrets count as the mask. `path` points to the data. */
export const unfit = (schema: unknown, data: unknown, path: string): readonly Fault[] => {
  const compiled = compileUserSchema(schema);
  if (!compiled.ok) return [{ message: compiled.reason, path }];
  const { valid, errors } = compiled.matches(data);
  return valid ? [] : faultsInTheOpen(errors, data).map((fault) => ({ ...fault, path: path + fault.path }));
};

const dataRefs = async (modelId: string, data: InstanceData, before: InstanceData, tools: Tools): Promise<DataRefs> => {
  const {
    exists,
    content: { schema },
  } = await tools.state(resourceModel, modelId);
  const instanceData = sealSecrets(data, before, tools.seal, '/instanceData') as InstanceData;
  return { modelExists: exists, instanceData, faults: exists ? unfit(schema, data, '/instanceData') : [] };
};

const modelExists = async (modelId: string, tools: Tools) => ({
  modelExists: (await tools.state(resourceModel, modelId)).exists,
});

export const createInstance = command({
  name: 'createInstance',
  input: Type.Object({ modelId: Type.String(), ...newInstanceSchema.properties }),
  on: 'new',
  decide: create,
  locks: (_, { modelId }) => partsOfModel(modelId),
  prepare: ({ input: { modelId, instanceData } }, tools) => dataRefs(modelId, instanceData, {}, tools),
});
export const updateInstance = command({
  name: 'updateInstance',
  input: newInstanceSchema,
  on: 'existing',
  decide: replace,
  prepare: ({ input, state: { content } }, tools) =>
    dataRefs(content.modelId, input.instanceData, content.instanceData, tools),
});
/**
 * The lock orders this against a group that adds the instance at the same moment. Either the group sees that the
 * instance is gone, or the deletion sees the group.
 */
export const deleteInstance = command({
  name: 'deleteInstance',
  on: 'existing',
  decide: remove,
  locks: ({ exists, content }) => (exists ? partsOfModel(content.modelId) : undefined),
});

/** Parts of actions and of the deletion of a model. */
export const admitInstance = command({
  name: 'admitInstance',
  input: Type.Unsafe<InstanceContent>({}),
  on: 'any',
  decide: admit,
  locks: (_, { modelId }) => partsOfModel(modelId),
  prepare: ({ input: { modelId } }, tools) => modelExists(modelId, tools),
});
export const amendInstance = command({
  name: 'amendInstance',
  input: Type.Unsafe<{ readonly instanceData?: InstanceData; readonly merge?: InstanceData }>({}),
  on: 'any',
  decide: amend,
});
export const removeInstance = command({
  name: 'removeInstance',
  input: Type.Object({ withModel: Type.Boolean() }),
  on: 'any',
  decide: removeIfThere,
  locks: ({ exists, content }, { withModel }) => (exists && !withModel ? partsOfModel(content.modelId) : undefined),
});

export const instanceKind: Kind = {
  of: resourceInstance,
  restore: { there: by(updateInstance), deleted: by(createInstance) },
};

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
import { commandsOf, noInput, type Tools } from '../engine/define.ts';
import { compileUserSchema } from '../user-schemas/userSchema.ts';

const command = commandsOf(resourceInstance);

/** The lock of decisions on what a model consists of: what comes and goes below it, and whether it goes itself. */
export const partsOfModel = (modelId: string): string => `resourceModel-${modelId}`;

/** What of the data does not fit a schema, kept secrets as the mask; `path` points to them. */
export const unfit = (schema: unknown, data: unknown, path: string): readonly Fault[] => {
  const compiled = compileUserSchema(schema);
  if (!compiled.ok) return [{ message: compiled.reason, path }];
  const { valid, errors } = compiled.matches(data);
  return valid ? [] : faultsInTheOpen(errors, data).map((fault) => ({ ...fault, path: path + fault.path }));
};

const dataRefs = async (
  modelId: string,
  given: InstanceData,
  before: InstanceData,
  tools: Tools,
): Promise<DataRefs> => {
  const {
    exists,
    content: { schema },
  } = await tools.state(resourceModel, modelId);
  const instanceData = sealSecrets(given, before, tools.seal, '/instanceData') as InstanceData;
  return { modelExists: exists, instanceData, faults: exists ? unfit(schema, given, '/instanceData') : [] };
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
/** Under the lock, so that a group that takes the instance in at the same moment sees it go, or is seen. */
export const deleteInstance = command({
  name: 'deleteInstance',
  input: noInput,
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

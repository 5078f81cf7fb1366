import { schemaFaultOf } from '@automation-platform/bounded-schemas';
import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import {
  countRemoved,
  create,
  importedModelSchema,
  importOne,
  type ModelState,
  modelParts,
  newModelSchema,
  remove,
  replace,
  resourceModel,
  sealModel,
} from '../../domain/lifecycle-manager/resourceModels.ts';
import { resourceGroups } from '../../projections/lifecycle-manager/resourceGroups.ts';
import { resourceInstances } from '../../projections/lifecycle-manager/resourceInstances.ts';
import { resourceModels } from '../../projections/lifecycle-manager/resourceModels.ts';
import { type Recorded, splitStream } from '../../store/event.ts';
import { importAuthors } from '../authorization/authors.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import { importedId } from '../engine/imports.ts';
import { by, byImport, type Kind } from '../engine/kinds.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { removeResourceGroup } from './resourceGroups.ts';
import { partsOfModel, removeInstance } from './resourceInstances.ts';

const command = commandsOf(resourceModel);
const ofModel = (id: string) => ({ field: 'modelId', op: 'equals', value: id }) as const;

const prepare = async ({ input: { schema } }: { readonly input: { readonly schema: unknown } }) =>
  schemaFaultOf(schema);

export const createResourceModel = command({
  name: 'createResourceModel',
  input: newModelSchema,
  on: 'new',
  prepare,
  decide: create,
});
export const updateResourceModel = command({
  name: 'updateResourceModel',
  input: newModelSchema,
  on: 'existing',
  prepare,
  decide: replace,
});

/**
 * Imports one model. `modelMeant` chooses the stream. A deleted model comes back once all its instances and groups are
 * deleted: until then it still has its lock.
 */
export const importResourceModel = command({
  name: 'importResourceModel',
  input: Type.Object({ model: importedModelSchema, overwrite: Type.Optional(Type.Boolean()) }),
  on: 'any',
  decide: importOne,
  seal: sealModel,
  locks: (state, _, id) => (isDeleted(state) ? partsOfModel(id) : undefined),
  prepare: async ({ id, input, state }, tools) => ({
    ...(await importAuthors(
      { aggregate: resourceModel, id, documents: [modelParts(input.model).known], ...input },
      tools,
    )),
    parts: isDeleted(state) ? await partsOf(id, tools) : 0,
  }),
});

/** True if the model was there before. */
const isDeleted = ({ exists, content }: ModelState): boolean => !exists && content.name !== '';

const partsOf = async (id: string, { count }: Tools): Promise<number> =>
  (await count(resourceInstances, ofModel(id))) + (await count(resourceGroups, ofModel(id)));

/** The id of the model that an import creates or changes, by the rule of `importedId`. */
export const modelMeant = (document: Members, fresh: string, tools: Tools): Promise<string> =>
  importedId({ aggregate: resourceModel, collection: resourceModels }, modelParts(document).known, fresh, tools);

/** One event, however many instances there are. The reactions below delete the instances in steps. */
export const deleteResourceModel = command({
  name: 'deleteResourceModel',
  input: Type.Object({ withInstances: Type.Boolean() }),
  on: 'existing',
  decide: remove,
  locks: ({ exists }, _, id) => (exists ? partsOfModel(id) : undefined),
  prepare: async ({ id }, { count }) => ({ instances: await count(resourceInstances, ofModel(id)) }),
});

/** Part of a deletion. Its event starts the next step. */
const countRemovedParts = command({
  name: 'countRemovedParts',
  input: Type.Object({ removed: Type.Integer() }),
  on: 'any',
  decide: countRemoved,
});

/**
 * One step: deletes at most a thousand instances and a thousand groups of a deleted model. Then it stores an event that
 * starts the next step. No commands once all are gone, or the model is there again.
 */
const removeSome = async ({ stream }: Recorded, { query, state }: Tools): Promise<readonly Next[]> => {
  const { id: model } = splitStream(stream);
  if ((await state(resourceModel, model)).exists) return [];
  const instances = await query(resourceInstances, ofModel(model));
  const groups = await query(resourceGroups, ofModel(model));
  const removed = instances.length + groups.length;
  return removed === 0
    ? []
    : [
        ...instances.map(({ _id: id }) => ({ command: removeInstance, id, input: { withModel: true } })),
        ...groups.map(({ _id: id }) => ({ command: removeResourceGroup, id, input: {} })),
        { command: countRemovedParts, id: model, input: { removed } },
      ];
};

export const modelReactions: readonly Reaction[] = [
  {
    of: resourceModel,
    background: true,
    on: { resourceModelDeleted: removeSome, resourceModelPartsRemoved: removeSome },
  },
];

export const modelKind: Kind = {
  of: resourceModel,
  restore: { there: by(updateResourceModel), deleted: byImport(importResourceModel, 'model', 'importResourceModel') },
};

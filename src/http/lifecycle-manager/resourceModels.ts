import { Type } from 'typebox';
import { runAction } from '../../commands/lifecycle-manager/actionExecutions.ts';
import {
  createResourceModel,
  deleteResourceModel,
  importResourceModel,
  modelMeant,
  updateResourceModel,
} from '../../commands/lifecycle-manager/resourceModels.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import type { Words } from '../../domain/engine/importedDocuments.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { runActionSchema } from '../../domain/lifecycle-manager/actionExecutions.ts';
import { importedModelSchema, resourceModel } from '../../domain/lifecycle-manager/resourceModels.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import type { ReadModel } from '../../projections/engine/port.ts';
import {
  actionExecutions,
  type ExecutionDoc,
  lastActions,
} from '../../projections/lifecycle-manager/actionExecutions.ts';
import type { ResourceGroupDoc } from '../../projections/lifecycle-manager/resourceGroups.ts';
import type { InstanceDoc } from '../../projections/lifecycle-manager/resourceInstances.ts';
import { type ModelDoc, resourceModels } from '../../projections/lifecycle-manager/resourceModels.ts';
import { authorObjects, signed } from '../authorization/people.ts';
import { withMessage } from '../engine/envelopes.ts';
import { exportedDocument, importRoute, missingIn } from '../engine/imports.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Join, Parent, Route } from '../engine/route.ts';
import { actionRoute, getRoute, mappedCommandRoute } from '../engine/routes.ts';
import { enveloped, wordsSchema } from '../engine/schemas.ts';
import { requestOf } from '../engine/serve.ts';
import { deletionSchema, executionSchema, modelSchema } from './resourceSchemas.ts';

const withAuthors = async <D extends Authored>(doc: D, model: ReadModel) => {
  const author = await authorObjects(model, [doc.createdBy, doc.lastUpdatedBy]);
  return { ...doc, createdBy: author(doc.createdBy), lastUpdatedBy: author(doc.lastUpdatedBy) };
};

/** The document with the last action that was run on it, if any. */
const withLastAction = async <D extends { readonly _id: string }>(doc: D, model: ReadModel) => {
  const found = await documentOf(model, lastActions, doc._id);
  if (!found) return doc;
  const { started: _, ...lastAction } = found;
  return { ...doc, lastAction };
};

/** Shows authors as objects. */
const shownModel: Join<Authored> = (doc, { model }) => withAuthors(doc, model);

/** Shows authors as objects, secrets masked, and the last action. */
export const shownInstance: Join<InstanceDoc> = async (doc, { model }) =>
  maskSecrets(await withLastAction(await withAuthors(doc, model), model));

/** Shows authors as objects, and the last action; leaves out `members`. */
export const shownGroup: Join<ResourceGroupDoc> = async ({ members: _, ...doc }, { model }) =>
  withLastAction(await withAuthors(doc, model), model);

/** Shows the author as an object, and secrets masked. */
export const shownExecution: Join<ExecutionDoc> = async ({ automation: _, ...doc }, { model }) =>
  maskSecrets({ ...doc, createdBy: (await authorObjects(model, [doc.createdBy]))(doc.createdBy) });

/** Shows the execution as it is after the reactions to the request: its jobs may have ended by then. */
export const executionNow: Join<ExecutionDoc> = async (doc, service, call) => {
  // If the read models are behind, the answer shows the document that the command has stored.
  const now = await service.tools
    .find(actionExecutions, doc._id)
    .then((id) => (id === undefined ? undefined : documentOf(service.model, actionExecutions, id)))
    .catch(() => undefined);
  return shownExecution(now ?? doc, service, call);
};

const path = '/resources/:id';
const flag = Type.String({ description: 'true: its instances are deleted as well' });

/** The parent of instances, groups and executions: their resource model. */
export const ofModel: Parent<'modelIdentifier', 'modelId'> = {
  of: resourceModels,
  param: 'modelIdentifier',
  field: 'modelId',
};

const deletion = actionRoute({
  name: 'deleteResourceModel',
  method: 'delete',
  path,
  access: ['operators'],
  summary: 'Delete a resource model, with its instances if asked to',
  description:
    'With instances and without delete-associated-instances: 409, and errors[0].instances counts them. Its ' +
    'groups go with it.',
  query: { 'delete-associated-instances': flag },
  body: Type.Object(
    {
      queryParameters: Type.Optional(
        Type.Object(
          { 'delete-associated-instances': Type.Optional(flag) },
          { additionalProperties: false, description: 'As in the query' },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  answer: enveloped(deletionSchema),
  run: async (call, service) => {
    const nameOrId = call.params.id ?? '';
    const withInstances = [call.query, call.body.queryParameters].some(
      (flags) => flags?.['delete-associated-instances'] === 'true',
    );
    const about = requestOf('deleteResourceModel', call, service);
    const again =
      about.idempotency &&
      (await service.retries.find({ aggregate: resourceModel, idOrName: nameOrId }, about.idempotency.key));
    const _id = again ?? (await service.tools.find(resourceModels, nameOrId)) ?? nameOrId;
    const { position, replayed } = await service.handle(deleteResourceModel, {
      ...about,
      id: _id,
      input: { withInstances },
    });
    const { deletedInstances } = await service.tools.state(resourceModel, _id);
    return {
      body: { message: 'Successfully deleted resource model', data: { _id, deletedInstances }, metadata: {} },
      position,
      replayed,
    };
  },
});

const importing = importRoute({
  name: 'importResourceModel',
  method: 'post',
  path: '/resources/import',
  access: ['operators'],
  summary: 'Import a resource model of any installation',
  description:
    'Ids, times and authors are kept, and so is what the service does not know, such as the transformations of an ' +
    'action: it never runs them. The same document again is no change; other content under a used id or name is 409 ' +
    'unless overwrite is true. Instances stay as they are.',
  member: 'model',
  single: true,
  document: importedModelSchema,
  itemSchema: modelSchema,
  take: async ({ document: model, path, overwrite, fresh, about }, service, call) => {
    const id = await modelMeant(model, fresh, service.tools);
    const result = await service.handle(importResourceModel, { ...about, id, input: { model, overwrite } });
    return {
      ...result,
      data: await shownModel(result.doc as ModelDoc, service, call),
      missingSecrets: await missingIn(resourceModel, id, path, service),
    };
  },
});

/** Resource models and their actions (docs/decisions/resource-models.md). */
const usual = resourceRoutes({
  noun: 'resource model',
  inMessages: 'resource models',
  path: '/resources',
  one: path,
  documents: resourceModels,
  schema: modelSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  join: shownModel,
});

export const resourceModelRoutes: readonly Route[] = [
  usual.list({ name: 'getResourceModels', summary: 'List resource models' }),
  usual.create({
    name: 'createResourceModel',
    summary: 'Create a resource model',
    description: 'schema is the JSON Schema of what its instances hold.',
    command: createResourceModel,
  }),
  importing,
  getRoute({
    name: 'exportResourceModel',
    path: `${path}/export`,
    access: ['operators', 'readers'],
    summary: 'Export a resource model',
    description:
      'The document that the import takes back: the model with what an import brought and the service does not know.',
    query: { as: wordsSchema },
    get: resourceModels,
    exports: true,
    join: async (doc, service, call) =>
      exportedDocument(
        {
          aggregate: resourceModel,
          id: doc._id,
          view: (await signed(doc, service, call)) as object,
          words: call.query.as as Words,
        },
        service,
      ),
    envelope: withMessage('Successfully exported resource model'),
    answer: enveloped(importedModelSchema),
  }),
  usual.get({ name: 'getResourceModel', summary: 'Get a resource model' }),
  usual.update({
    name: 'updateResourceModel',
    method: 'put',
    summary: 'Replace a resource model',
    description:
      'Actions keep the ids of those with their names. A new schema holds for what is written from now on; ' +
      'instances stay as they are.',
    command: updateResourceModel,
  }),
  deletion,
  mappedCommandRoute({
    name: 'runAction',
    method: 'post',
    starts: true,
    path: '/resources/:modelIdentifier/run-action',
    access: ['operators'],
    summary: 'Run an action of a model',
    description: 'On an instance or on every instance of a group, one job for each; or to make an instance.',
    command: runAction,
    parent: ofModel,
    input: ({ modelIdentifier: modelId }, body) => ({ ...body, modelId }),
    body: runActionSchema,
    join: executionNow,
    envelope: withMessage('Successfully started action'),
    answer: enveloped(executionSchema),
  }),
];

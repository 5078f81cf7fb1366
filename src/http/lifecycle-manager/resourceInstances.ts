import { createInstance, deleteInstance, updateInstance } from '../../commands/lifecycle-manager/resourceInstances.ts';
import { newInstanceSchema } from '../../domain/lifecycle-manager/resourceInstances.ts';
import { resourceInstances } from '../../projections/lifecycle-manager/resourceInstances.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Route } from '../engine/route.ts';
import { ofModel, shownInstance } from './resourceModels.ts';
import { instanceSchema } from './resourceSchemas.ts';

const path = '/resources/:modelIdentifier/instances';

const usual = resourceRoutes({
  noun: 'instance',
  inMessages: 'instances',
  path,
  one: `${path}/:id`,
  documents: resourceInstances,
  schema: instanceSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  parent: ofModel,
  join: shownInstance,
});

/** Instances of a resource model. */
export const resourceInstanceRoutes: readonly Route[] = [
  usual.list({ name: 'getResourceInstances', summary: 'List the instances of a resource model' }),
  usual.create({
    name: 'createResourceInstance',
    summary: 'Create an instance',
    description: 'instanceData must fit the schema of the model: 422 says where it does not.',
    command: createInstance,
    input: ({ modelIdentifier: modelId = '' }, body) => ({ ...body, modelId }),
    body: newInstanceSchema,
  }),
  usual.get({ name: 'getResourceInstance', summary: 'Get an instance' }),
  usual.update({
    name: 'updateResourceInstance',
    method: 'put',
    summary: 'Replace an instance',
    description: 'instanceData must fit the schema of the model: 422 says where it does not.',
    command: updateInstance,
  }),
  usual.remove({
    name: 'deleteResourceInstance',
    summary: 'Delete an instance',
    description: 'It leaves its groups.',
    command: deleteInstance,
  }),
];

import { Type } from 'typebox';
import { createInstance, deleteInstance, updateInstance } from '../../commands/lifecycle-manager/resourceInstances.ts';
import { newInstanceSchema } from '../../domain/lifecycle-manager/resourceInstances.ts';
import { resourceInstances } from '../../projections/lifecycle-manager/resourceInstances.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { ofModel, shownInstance } from './resourceModels.ts';
import { instanceSchema } from './resourceSchemas.ts';

const path = '/resources/:modelIdentifier/instances';
const common = { parent: ofModel, join: shownInstance };
const answer = enveloped(instanceSchema);

/** Instances of a resource model. */
export const resourceInstanceRoutes: readonly Route[] = [
  listRoute({
    name: 'getResourceInstances',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'List the instances of a resource model',
    list: resourceInstances,
    ...common,
    envelope: resultsWithMessage('Successfully retrieved instances'),
    answer: enveloped(Type.Array(instanceSchema)),
  }),
  mappedCommandRoute({
    name: 'createResourceInstance',
    method: 'post',
    path,
    access: ['operators'],
    summary: 'Create an instance',
    description: 'instanceData must fit the schema of the model: 422 says where it does not.',
    command: createInstance,
    ...common,
    input: ({ modelIdentifier: modelId }, body) => ({ ...body, modelId }),
    body: newInstanceSchema,
    envelope: withMessage('Successfully created instance'),
    answer,
  }),
  getRoute({
    name: 'getResourceInstance',
    method: 'get',
    path: `${path}/:id`,
    access: ['operators', 'readers'],
    summary: 'Get an instance',
    get: resourceInstances,
    ...common,
    envelope: withMessage('Successfully retrieved instance'),
    answer,
  }),
  commandRoute({
    name: 'updateResourceInstance',
    method: 'put',
    path: `${path}/:id`,
    access: ['operators'],
    summary: 'Replace an instance',
    description: 'instanceData must fit the schema of the model: 422 says where it does not.',
    command: updateInstance,
    ...common,
    envelope: withMessage('Successfully updated instance'),
    answer,
  }),
  commandRoute({
    name: 'deleteResourceInstance',
    method: 'delete',
    path: `${path}/:id`,
    access: ['operators'],
    summary: 'Delete an instance',
    description: 'It leaves its groups.',
    command: deleteInstance,
    ...common,
    envelope: withMessage('Successfully deleted instance'),
    answer,
  }),
];

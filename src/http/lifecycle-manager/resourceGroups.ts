import { Type } from 'typebox';
import type { CommandResult } from '../../commands/engine/handle.ts';
import {
  createResourceGroup,
  deleteResourceGroup,
  updateResourceGroup,
} from '../../commands/lifecycle-manager/resourceGroups.ts';
import { newGroupSchema } from '../../domain/lifecycle-manager/resourceGroups.ts';
import { type ResourceGroupDoc, resourceGroups } from '../../projections/lifecycle-manager/resourceGroups.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import { ofModel, shownGroup } from './resourceModels.ts';
import { groupSchema } from './resourceSchemas.ts';

const path = '/resources/:modelIdentifier/groups';
const common = { parent: ofModel, join: shownGroup };
const named = 'groupIdentifier';
const answer = enveloped(groupSchema);

/** The numbers of members added, removed, and in total. */
const counts = ({ doc, changed }: CommandResult): object => {
  const { added, removed, total } = (doc as ResourceGroupDoc).members;
  return changed ? { added, removed, total } : { added: 0, removed: 0, total };
};

/** Groups of instances of a resource model (docs/decisions/resource-models.md). */
export const resourceGroupRoutes: readonly Route[] = [
  listRoute({
    name: 'getGroups',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'List the groups of a resource model',
    list: resourceGroups,
    ...common,
    envelope: resultsWithMessage('Successfully retrieved groups'),
    answer: enveloped(Type.Array(groupSchema)),
  }),
  mappedCommandRoute({
    name: 'createGroup',
    method: 'post',
    path,
    access: ['operators'],
    summary: 'Create a group of instances',
    command: createResourceGroup,
    ...common,
    input: ({ modelIdentifier: modelId }, body) => ({ ...body, modelId }),
    body: newGroupSchema,
    envelope: withMessage('Successfully created group', counts),
    answer,
  }),
  getRoute({
    name: 'getGroup',
    method: 'get',
    path: `${path}/:groupIdentifier`,
    access: ['operators', 'readers'],
    summary: 'Get a group of instances',
    get: resourceGroups,
    named,
    ...common,
    envelope: withMessage('Successfully retrieved group'),
    answer,
  }),
  commandRoute({
    name: 'updateGroup',
    method: 'patch',
    path: `${path}/:groupIdentifier`,
    access: ['operators'],
    summary: 'Add instances to a group and remove others',
    description:
      'All or nothing. Instances by id or name; adding a member and removing what is none change nothing. ' +
      'metadata has added, removed and total.',
    command: updateResourceGroup,
    named,
    ...common,
    envelope: withMessage('Successfully updated group', counts),
    answer,
  }),
  commandRoute({
    name: 'deleteGroup',
    method: 'delete',
    path: `${path}/:groupIdentifier`,
    access: ['operators'],
    summary: 'Delete a group; its instances stay',
    command: deleteResourceGroup,
    named,
    ...common,
    envelope: withMessage('Successfully deleted group'),
    answer,
  }),
];

import { Type } from 'typebox';
import type { Handled } from '../../commands/engine/handle.ts';
import {
  createResourceGroup,
  deleteResourceGroup,
  updateResourceGroup,
} from '../../commands/lifecycle-manager/resourceGroups.ts';
import { newGroupSchema } from '../../domain/lifecycle-manager/resourceGroups.ts';
import { type ResourceGroupDoc, resourceGroups } from '../../projections/lifecycle-manager/resourceGroups.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import type { Row } from '../engine/route.ts';
import { commandRow, getRow, listRow, mappedCommandRow } from '../engine/rows.ts';
import { enveloped } from '../engine/schemas.ts';
import { shownGroup } from './resourceJoins.ts';
import { ofModel } from './resourceModels.ts';
import { groupSchema } from './resourceSchemas.ts';

const path = '/resources/:modelIdentifier/groups';
const common = { parent: ofModel, join: shownGroup };
const named = 'groupIdentifier';
const answer = enveloped(groupSchema);

/** How many came and went, and how many there are. */
const counts = ({ doc, changed }: Handled): object => {
  const { added, removed, total } = (doc as ResourceGroupDoc).members;
  return changed ? { added, removed, total } : { added: 0, removed: 0, total };
};

/** Groups of instances of a resource model (docs/decisions/resource-models.md). */
export const resourceGroupRows: readonly Row[] = [
  listRow({
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
  mappedCommandRow({
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
  getRow({
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
  commandRow({
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
  commandRow({
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

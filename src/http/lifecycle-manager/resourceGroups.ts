import type { CommandResult } from '../../commands/engine/handle.ts';
import {
  createResourceGroup,
  deleteResourceGroup,
  updateResourceGroup,
} from '../../commands/lifecycle-manager/resourceGroups.ts';
import { newGroupSchema } from '../../domain/lifecycle-manager/resourceGroups.ts';
import { type ResourceGroupDoc, resourceGroups } from '../../projections/lifecycle-manager/resourceGroups.ts';
import { withMessage } from '../engine/envelopes.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Route } from '../engine/route.ts';
import { ofModel, shownGroup } from './resourceModels.ts';
import { groupSchema } from './resourceSchemas.ts';

const path = '/resources/:modelIdentifier/groups';

const usual = resourceRoutes({
  noun: 'group',
  inMessages: 'groups',
  path,
  one: `${path}/:groupIdentifier`,
  documents: resourceGroups,
  schema: groupSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  named: 'groupIdentifier',
  parent: ofModel,
  join: shownGroup,
});

/** The numbers of members added, removed, and in total. */
const counts = ({ doc, changed }: CommandResult): object => {
  const { added, removed, total } = (doc as ResourceGroupDoc).members;
  return changed ? { added, removed, total } : { added: 0, removed: 0, total };
};

/** Groups of instances of a resource model (docs/decisions/resource-models.md). */
export const resourceGroupRoutes: readonly Route[] = [
  usual.list({ name: 'getGroups', summary: 'List the groups of a resource model' }),
  usual.create({
    name: 'createGroup',
    summary: 'Create a group of instances',
    command: createResourceGroup,
    input: ({ modelIdentifier: modelId = '' }, body) => ({ ...body, modelId }),
    body: newGroupSchema,
    envelope: withMessage('Successfully created group', counts),
  }),
  usual.get({ name: 'getGroup', summary: 'Get a group of instances' }),
  usual.update({
    name: 'updateGroup',
    summary: 'Add instances to a group and remove others',
    description:
      'All or nothing. Instances by id or name; adding a member and removing what is none change nothing. ' +
      'metadata has added, removed and total.',
    command: updateResourceGroup,
    envelope: withMessage('Successfully updated group', counts),
  }),
  usual.remove({
    name: 'deleteGroup',
    summary: 'Delete a group; its instances stay',
    command: deleteResourceGroup,
  }),
];

import { Type } from 'typebox';
import { createGroup, deleteGroup, updateGroup } from '../../commands/authorization/groups.ts';
import { groupPatchSchema, newGroupSchema } from '../../domain/authorization/groups.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { name } from '../../domain/engine/schemas.ts';
import { groups } from '../../projections/authorization/groups.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Route } from '../engine/route.ts';
import { orWrapped } from '../engine/schemas.ts';

const groupSchema = Type.Object(
  {
    _id: objectId('Id of the group'),
    ...Type.Required(Type.Object(newGroupSchema.properties)).properties,
    memberOf: Type.Array(name('Name of a group'), { description: 'Groups that members belong to as well' }),
    created: authored.created,
    lastUpdated: authored.lastUpdated,
  },
  { title: 'Group', description: 'Group' },
);

const usual = resourceRoutes({
  noun: 'group',
  path: '/groups',
  one: '/groups/:id',
  documents: groups,
  schema: groupSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
});

export const groupRoutes: readonly Route[] = [
  usual.list({ name: 'getGroups', summary: 'List groups' }),
  usual.create({
    name: 'createGroup',
    summary: 'Create a group',
    description: 'Only admins may say which roles and groups it gives.',
    command: createGroup,
    ...orWrapped('group', newGroupSchema),
  }),
  usual.get({ name: 'getGroup', summary: 'Get a group' }),
  usual.update({
    name: 'updateGroup',
    summary: 'Change a group',
    description:
      'Only admins may say which roles and groups it gives, and where it comes from. A group that is ' +
      'referred to cannot be renamed, nor a built-in one: 409.',
    command: updateGroup,
    ...orWrapped('group', groupPatchSchema),
  }),
  usual.remove({
    name: 'deleteGroup',
    summary: 'Delete a group that nothing refers to',
    description: '409 names all that refers to it. Built-in groups stay.',
    command: deleteGroup,
  }),
];

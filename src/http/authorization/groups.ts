import { Type } from 'typebox';
import { createGroup, deleteGroup, updateGroup } from '../../commands/authorization/groups.ts';
import { groupPatchSchema, newGroupSchema } from '../../domain/authorization/groups.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { name } from '../../domain/engine/schemas.ts';
import { groups } from '../../projections/authorization/groups.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed, orWrapped } from '../engine/schemas.ts';

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
const path = '/groups/:id';

export const groupRoutes: readonly Route[] = [
  listRoute({
    name: 'getGroups',
    method: 'get',
    path: '/groups',
    access: ['operators', 'readers'],
    summary: 'List groups',
    list: groups,
    envelope: results,
    answer: listed(groupSchema),
  }),
  mappedCommandRoute({
    name: 'createGroup',
    method: 'post',
    path: '/groups',
    access: ['operators'],
    summary: 'Create a group',
    description: 'Only admins may say which roles and groups it gives.',
    command: createGroup,
    ...orWrapped('group', newGroupSchema),
    envelope: withStatus(() => 'Successfully created group'),
    answer: changed(groupSchema),
  }),
  getRoute({
    name: 'getGroup',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get a group',
    get: groups,
    envelope: plain,
    answer: groupSchema,
  }),
  mappedCommandRoute({
    name: 'updateGroup',
    method: 'patch',
    path,
    access: ['operators'],
    summary: 'Change a group',
    description:
      'Only admins may say which roles and groups it gives, and where it comes from. A group that is ' +
      'referred to cannot be renamed, nor a built-in one: 409.',
    command: updateGroup,
    ...orWrapped('group', groupPatchSchema),
    envelope: withStatus(() => 'Successfully updated group'),
    answer: changed(groupSchema),
  }),
  commandRoute({
    name: 'deleteGroup',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a group that nothing refers to',
    description: '409 names all that refers to it. Built-in groups stay.',
    command: deleteGroup,
    envelope: withStatus(() => 'Successfully deleted group'),
    answer: changed(groupSchema),
  }),
];

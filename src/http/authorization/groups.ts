import { Type } from 'typebox';
import { createGroup, deleteGroup, updateGroup } from '../../commands/authorization/groups.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { groupPatchSchema, newGroupSchema } from '../../domain/authorization/groups.ts';
import { name } from '../../domain/engine/schemas.ts';
import { groups } from '../../projections/authorization/groups.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Row } from '../engine/route.ts';
import { changed, listed, orWrapped, unwrapped } from '../engine/schemas.ts';

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
const input = unwrapped('group');

export const groupRows: readonly Row[] = [
  {
    name: 'getGroups',
    method: 'get',
    path: '/groups',
    access: ['operators', 'readers'],
    summary: 'List groups',
    list: groups,
    envelope: results,
    answer: listed(groupSchema),
  },
  {
    name: 'createGroup',
    method: 'post',
    path: '/groups',
    access: ['operators'],
    summary: 'Create a group',
    description: 'Only admins may say which roles and groups it gives.',
    command: createGroup,
    body: orWrapped('group', newGroupSchema),
    input,
    envelope: withStatus(() => 'Successfully created group'),
    answer: changed(groupSchema),
  },
  {
    name: 'getGroup',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get a group',
    get: groups,
    envelope: plain,
    answer: groupSchema,
  },
  {
    name: 'updateGroup',
    method: 'patch',
    path,
    access: ['operators'],
    summary: 'Change a group',
    description:
      'Only admins may say which roles and groups it gives, and where it comes from. A group that is referred to cannot be renamed, nor a built-in one: 409.',
    command: updateGroup,
    body: orWrapped('group', groupPatchSchema),
    input,
    envelope: withStatus(() => 'Successfully updated group'),
    answer: changed(groupSchema),
  },
  {
    name: 'deleteGroup',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a group that nothing refers to',
    description: '409 names all that refers to it. Built-in groups stay.',
    command: deleteGroup,
    envelope: withStatus(() => 'Successfully deleted group'),
    answer: changed(groupSchema),
  },
];

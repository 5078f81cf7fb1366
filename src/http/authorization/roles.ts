import { Type } from 'typebox';
import { createRole, deleteRole, updateRole } from '../../commands/authorization/roles.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { newRoleSchema, rolePatchSchema } from '../../domain/authorization/roles.ts';
import { roles } from '../../projections/authorization/roles.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Row } from '../engine/route.ts';
import { changed, listed, orWrapped, unwrapped } from '../engine/schemas.ts';

const roleSchema = Type.Object(
  {
    _id: objectId('Id of the role'),
    ...Type.Required(Type.Object(newRoleSchema.properties)).properties,
    created: authored.created,
    lastUpdated: authored.lastUpdated,
  },
  { title: 'Role', description: 'Role' },
);
const path = '/roles/:id';
const input = unwrapped('role');

export const roleRows: readonly Row[] = [
  {
    name: 'getRoles',
    method: 'get',
    path: '/roles',
    access: ['readers'],
    summary: 'List roles',
    list: roles,
    envelope: results,
    answer: listed(roleSchema),
  },
  {
    name: 'createRole',
    method: 'post',
    path: '/roles',
    access: [],
    summary: 'Create a role',
    description: 'Each of allowedMethods must be an operation of this API: 404 names those that are none.',
    command: createRole,
    body: orWrapped('role', newRoleSchema),
    input,
    envelope: withStatus(() => 'Successfully created role'),
    answer: changed(roleSchema),
  },
  {
    name: 'getRole',
    method: 'get',
    path,
    access: ['readers'],
    summary: 'Get a role',
    get: roles,
    envelope: plain,
    answer: roleSchema,
  },
  {
    name: 'updateRole',
    method: 'patch',
    path,
    access: [],
    summary: 'Change a role',
    description: 'A role that is referred to cannot be renamed: 409.',
    command: updateRole,
    body: orWrapped('role', rolePatchSchema),
    input,
    envelope: withStatus(() => 'Successfully updated role'),
    answer: changed(roleSchema),
  },
  {
    name: 'deleteRole',
    method: 'delete',
    path,
    access: [],
    summary: 'Delete a role that nothing refers to',
    description: '409 names all that refers to it.',
    command: deleteRole,
    envelope: withStatus(() => 'Successfully deleted role'),
    answer: changed(roleSchema),
  },
];

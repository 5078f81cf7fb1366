import { Type } from 'typebox';
import { createRole, deleteRole, updateRole } from '../../commands/authorization/roles.ts';
import { newRoleSchema, rolePatchSchema } from '../../domain/authorization/roles.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { roles } from '../../projections/authorization/roles.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed, orWrapped } from '../engine/schemas.ts';

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

export const roleRoutes: readonly Route[] = [
  listRoute({
    name: 'getRoles',
    method: 'get',
    path: '/roles',
    access: ['readers'],
    summary: 'List roles',
    list: roles,
    envelope: results,
    answer: listed(roleSchema),
  }),
  mappedCommandRoute({
    name: 'createRole',
    method: 'post',
    path: '/roles',
    access: [],
    summary: 'Create a role',
    description: 'Each of allowedMethods must be an operation of this API: 404 names those that are none.',
    command: createRole,
    ...orWrapped('role', newRoleSchema),
    envelope: withStatus(() => 'Successfully created role'),
    answer: changed(roleSchema),
  }),
  getRoute({
    name: 'getRole',
    method: 'get',
    path,
    access: ['readers'],
    summary: 'Get a role',
    get: roles,
    envelope: plain,
    answer: roleSchema,
  }),
  mappedCommandRoute({
    name: 'updateRole',
    method: 'patch',
    path,
    access: [],
    summary: 'Change a role',
    description: 'A role that is referred to cannot be renamed: 409.',
    command: updateRole,
    ...orWrapped('role', rolePatchSchema),
    envelope: withStatus(() => 'Successfully updated role'),
    answer: changed(roleSchema),
  }),
  commandRoute({
    name: 'deleteRole',
    method: 'delete',
    path,
    access: [],
    summary: 'Delete a role that nothing refers to',
    description: '409 names all that refers to it.',
    command: deleteRole,
    envelope: withStatus(() => 'Successfully deleted role'),
    answer: changed(roleSchema),
  }),
];

import { Type } from 'typebox';
import { createRole, deleteRole, updateRole } from '../../commands/authorization/roles.ts';
import { newRoleSchema, rolePatchSchema } from '../../domain/authorization/roles.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { roles } from '../../projections/authorization/roles.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Route } from '../engine/route.ts';
import { orWrapped } from '../engine/schemas.ts';

const roleSchema = Type.Object(
  {
    _id: objectId('Id of the role'),
    ...Type.Required(Type.Object(newRoleSchema.properties)).properties,
    created: authored.created,
    lastUpdated: authored.lastUpdated,
  },
  { title: 'Role', description: 'Role' },
);

const usual = resourceRoutes({
  noun: 'role',
  path: '/roles',
  one: '/roles/:id',
  documents: roles,
  schema: roleSchema,
  read: ['readers'],
  change: [],
});

export const roleRoutes: readonly Route[] = [
  usual.list({ name: 'getRoles', summary: 'List roles' }),
  usual.create({
    name: 'createRole',
    summary: 'Create a role',
    description: 'Each of allowedMethods must be an operation of this API: 404 names those that are none.',
    command: createRole,
    ...orWrapped('role', newRoleSchema),
  }),
  usual.get({ name: 'getRole', summary: 'Get a role' }),
  usual.update({
    name: 'updateRole',
    summary: 'Change a role',
    description: 'A role that is referred to cannot be renamed: 409.',
    command: updateRole,
    ...orWrapped('role', rolePatchSchema),
  }),
  usual.remove({
    name: 'deleteRole',
    summary: 'Delete a role that nothing refers to',
    description: '409 names all that refers to it.',
    command: deleteRole,
  }),
];

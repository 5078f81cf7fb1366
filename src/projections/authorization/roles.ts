import { type RoleContent, role } from '../../domain/authorization/roles.ts';
import { projection } from '../engine/define.ts';

export type Role = { readonly _id: string } & RoleContent & { readonly created: string; readonly lastUpdated: string };

export const roles = projection<Role>()(role, {
  collection: 'roles',
  on: {
    roleCreated: (_, { stream, data, metadata: { at } }) => ({
      _id: stream.slice('role-'.length),
      ...data,
      created: at,
      lastUpdated: at,
    }),
    roleUpdated: (doc, { data, metadata: { at } }) => doc && { ...doc, ...data, lastUpdated: at },
    roleDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name, description: (doc) => doc.description },
});

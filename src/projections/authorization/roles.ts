import { type RoleContent, role } from '../../domain/authorization/roles.ts';
import { idOf, projection } from '../engine/define.ts';

export type Role = { readonly _id: string } & RoleContent & { readonly created: string; readonly lastUpdated: string };

export const roles = projection<Role>()(role, {
  collection: 'roles',
  on: {
    roleCreated: (_, event) => {
      const { at } = event.metadata;
      return { _id: idOf(event), ...event.data, created: at, lastUpdated: at };
    },
    roleUpdated: (doc, { data, metadata: { at } }) => doc && { ...doc, ...data, lastUpdated: at },
    roleDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name, description: (doc) => doc.description },
});

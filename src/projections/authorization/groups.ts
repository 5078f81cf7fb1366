import { type GroupContent, group } from '../../domain/authorization/groups.ts';
import { idOf, projection } from '../engine/define.ts';

export type Group = { readonly _id: string } & GroupContent & {
    readonly created: string;
    readonly lastUpdated: string;
  };

export const groups = projection<Group>()(group, {
  collection: 'groups',
  on: {
    groupCreated: (_, event) => {
      const { at } = event.metadata;
      return { _id: idOf(event), ...event.data, created: at, lastUpdated: at };
    },
    groupUpdated: (doc, { data, metadata: { at } }) => doc && { ...doc, ...data, lastUpdated: at },
    groupDeleted: () => undefined,
  },
  names: { group: { field: 'memberOf' }, role: { field: 'assignedRoles' } },
  sorts: { name: (doc) => doc.name },
  filters: {
    name: (doc) => doc.name,
    provenance: (doc) => doc.provenance,
    description: (doc) => doc.description,
    memberOf: (doc) => doc.memberOf,
    assignedRoles: (doc) => doc.assignedRoles,
  },
});

import { type GroupContent, group } from '../../domain/authorization/groups.ts';
import { projection } from '../engine/define.ts';

export type Group = { readonly _id: string } & GroupContent & {
    readonly created: string;
    readonly lastUpdated: string;
  };

export const groups = projection<Group>()(group, {
  collection: 'groups',
  on: {
    groupCreated: (_, { stream, data, metadata: { at } }) => ({
      _id: stream.slice('group-'.length),
      ...data,
      created: at,
      lastUpdated: at,
    }),
    groupUpdated: (doc, { data, metadata: { at } }) => doc && { ...doc, ...data, lastUpdated: at },
    groupDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name },
  filters: {
    name: (doc) => doc.name,
    provenance: (doc) => doc.provenance,
    description: (doc) => doc.description,
    memberOf: (doc) => doc.memberOf,
    assignedRoles: (doc) => doc.assignedRoles,
  },
});

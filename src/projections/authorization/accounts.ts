import { type AccountContent, account } from '../../domain/authorization/accounts.ts';
import { projection } from '../engine/define.ts';
import { idOf } from '../engine/stamps.ts';

/** An account as answers show it. Its password is in `credentials`. */
export type Account = { readonly _id: string } & AccountContent & {
    readonly created: string;
    readonly lastUpdated: string;
  };

export const accounts = projection<Account>()(account, {
  collection: 'accounts',
  on: {
    accountCreated: (_, event) => {
      const { password: __, ...content } = event.data;
      const { at } = event.metadata;
      return { _id: idOf(event), ...content, created: at, lastUpdated: at };
    },
    accountUpdated: (doc, { data, metadata: { at } }) => doc && { ...doc, ...data, lastUpdated: at },
    accountPasswordSet: (doc, { metadata: { at } }) => doc && { ...doc, lastUpdated: at },
    accountDeleted: () => undefined,
  },
  names: { group: { field: 'memberOf' }, role: { field: 'assignedRoles' } },
  sorts: { name: (doc) => doc.username },
  filters: {
    name: (doc) => doc.username,
    username: (doc) => doc.username,
    provenance: (doc) => doc.provenance,
    firstname: (doc) => doc.firstname,
    email: (doc) => doc.email,
    inactive: (doc) => String(doc.inactive),
    memberOf: (doc) => doc.memberOf,
    assignedRoles: (doc) => doc.assignedRoles,
    externalGroups: (doc) => doc.externalGroups,
  },
});

import { account, forgottenName } from '../../domain/authorization/accounts.ts';
import { defined } from '../../domain/engine/defined.ts';
import { projection } from '../engine/define.ts';
import { idOf } from '../engine/stamps.ts';

/** The name of an account, also after its deletion: what it has made still says so. */
export type FormerAccount = {
  readonly _id: string;
  readonly username: string;
  readonly provenance: string;
  readonly isDeleted: boolean;
};

/** The names of all accounts that there are or were, but for those that were forgotten (docs/tampering.md). */
export const formerAccounts = projection<FormerAccount>()(account, {
  collection: 'formerAccounts',
  on: {
    accountCreated: (_, event) => {
      const { username, provenance } = event.data;
      return { _id: idOf(event), username, provenance, isDeleted: false };
    },
    accountUpdated: (doc, { data: { username, provenance } }) =>
      doc && { ...doc, ...defined({ username, provenance }) },
    accountPasswordSet: (doc) => doc,
    accountDeleted: (doc) => (doc && doc.username !== forgottenName ? { ...doc, isDeleted: true } : undefined),
  },
  beside: true,
  sorts: { name: (doc) => doc.username },
  filters: { deletedName: (doc) => (doc.isDeleted ? doc.username : []) },
});

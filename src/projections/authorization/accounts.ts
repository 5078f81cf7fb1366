import { type AccountContent, account, forgottenName } from '../../domain/authorization/accounts.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import { idOf, projection } from '../engine/define.ts';

/** An account as answers show it. Its password is in `credentials`. */
export type Account = { readonly _id: string } & AccountContent & {
    /** Not set for people. */
    readonly type?: 'service';
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
    serviceAccountCreated: (_, event) => {
      const { at } = event.metadata;
      return { _id: idOf(event), ...event.data, type: 'service' as const, created: at, lastUpdated: at };
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
    type: (doc) => doc.type ?? [],
    inactive: (doc) => String(doc.inactive),
    memberOf: (doc) => doc.memberOf,
    assignedRoles: (doc) => doc.assignedRoles,
    externalGroups: (doc) => doc.externalGroups,
  },
});

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
    serviceAccountCreated: (_, event) => {
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

/** The user name and sealed password hash of an account, by the account's id. No route serves this document. */
export type Credential = {
  readonly username: string;
  /** Not set for a service account. */
  readonly password?: Sealed;
  /** How often the account was deactivated; 0 if not set. */
  readonly deactivated?: number;
};

/**
 * The tag that each login keeps. It changes with the password and with each deactivation. A login ends when its tag no
 * longer matches, so the logins of a deactivated account end for good.
 */
export const credentialTag = ({ password, deactivated = 0 }: Credential): string => {
  const tag = password?.tag ?? '';
  return deactivated === 0 ? tag : `${tag} ${deactivated}`;
};

const updated = (doc: Credential, { username = doc.username, inactive }: Partial<AccountContent>): Credential =>
  inactive ? { ...doc, username, deactivated: (doc.deactivated ?? 0) + 1 } : { ...doc, username };

export const credentials = projection<Credential>()(account, {
  collection: 'credentials',
  on: {
    accountCreated: (_, { data: { username, password } }) => ({ username, password }),
    serviceAccountCreated: (_, { data: { username } }) => ({ username }),
    accountUpdated: (doc, { data }) => doc && updated(doc, data),
    accountPasswordSet: (doc, { data: { password } }) => doc && { ...doc, password },
    accountDeleted: () => undefined,
  },
  beside: true,
  sorts: { name: (doc) => doc.username },
  filters: {},
});

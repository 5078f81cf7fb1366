import { type AccountContent, account, blank, forgottenName } from '../../domain/authorization/accounts.ts';
import { defined } from '../../domain/engine/defined.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import { idOf, projection } from '../engine/define.ts';

/** An account as answers show it. Its password is in `credentials`. */
export type Account = { readonly _id: string } & AccountContent & {
    /** Not set for people. */
    readonly type?: 'service';
    /** The id at the provider that vouches for the account. */
    readonly externalId?: string;
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
    accountProvisioned: (doc, event) => {
      const { takenOver: _, ...data } = event.data;
      const { at } = event.metadata;
      const before = doc ?? { ...blank, _id: idOf(event), created: at };
      return { ...before, memberOf: [], ...data, lastUpdated: at };
    },
    externalGroupsChanged: (doc, { data, metadata: { at } }) => doc && { ...doc, ...data, lastUpdated: at },
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
    accountProvisioned: (_, event) => {
      const { username, provenance } = event.data;
      return { _id: idOf(event), username, provenance, isDeleted: false };
    },
    externalGroupsChanged: (doc) => doc,
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
  /** The provider that has the password; not set for a local account. */
  readonly provider?: string;
  /** How often the account was deactivated; 0 if not set. It is never a number that a deleted account had before. */
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
    accountProvisioned: (doc, { revision, data: { username, provenance } }) => {
      const deactivated = doc?.deactivated ?? (doc ? 0 : revision);
      return { username, provider: provenance, ...defined({ deactivated: deactivated > 0 ? deactivated : undefined }) };
    },
    externalGroupsChanged: (doc) => doc,
  },
  beside: true,
  sorts: { name: (doc) => doc.username },
  filters: {},
});

/** The account that a provider vouches for, under the name `externalKey`. No route serves this document. */
export const externalIds = projection<{ readonly key: string; readonly provenance: string }>()(account, {
  collection: 'externalIds',
  on: {
    accountCreated: () => undefined,
    serviceAccountCreated: () => undefined,
    accountUpdated: (doc) => doc,
    accountPasswordSet: (doc) => doc,
    accountDeleted: () => undefined,
    accountProvisioned: (_, { data: { provenance, externalId } }) => ({
      key: externalKey(provenance, externalId),
      provenance,
    }),
    externalGroupsChanged: (doc) => doc,
  },
  beside: true,
  sorts: { name: (doc) => doc.key },
  filters: { provenance: (doc) => doc.provenance },
});

/** The name of a person among those of all providers. The name of a provider has no colon. */
export const externalKey = (provenance: string, externalId: string): string => `${provenance}:${externalId}`;

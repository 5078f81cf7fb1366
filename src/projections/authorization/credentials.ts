import { type AccountContent, account } from '../../domain/authorization/accounts.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import { projection } from '../engine/define.ts';

/** The user name and sealed password hash of an account, by the account's id. No route serves this document. */
export type Credential = {
  readonly username: string;
  readonly password: Sealed;
  /** How often the account was deactivated; 0 if not set. */
  readonly deactivated?: number;
};

/**
 * The tag that each login keeps. It changes with the password and with each deactivation. A login ends when its tag no
 * longer matches, so the logins of a deactivated account end for good.
 */
export const credentialTag = ({ password, deactivated = 0 }: Credential): string =>
  deactivated === 0 ? password.tag : `${password.tag} ${deactivated}`;

const updated = (doc: Credential, { username = doc.username, inactive }: Partial<AccountContent>): Credential =>
  inactive ? { ...doc, username, deactivated: (doc.deactivated ?? 0) + 1 } : { ...doc, username };

export const credentials = projection<Credential>()(account, {
  collection: 'credentials',
  on: {
    accountCreated: (_, { data: { username, password } }) => ({ username, password }),
    accountUpdated: (doc, { data }) => doc && updated(doc, data),
    accountPasswordSet: (doc, { data: { password } }) => doc && { ...doc, password },
    accountDeleted: () => undefined,
  },
  beside: true,
  sorts: { name: (doc) => doc.username },
  filters: {},
});

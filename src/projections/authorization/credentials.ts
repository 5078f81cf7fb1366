import { type AccountContent, account } from '../../domain/authorization/accounts.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import { projection } from '../engine/define.ts';

/** What logging in needs: user name and sealed password hash by the account's id. No route serves it. */
export type Credential = {
  readonly username: string;
  readonly password: Sealed;
  /** How often the account was deactivated; 0 unless given. */
  readonly deactivated?: number;
};

/**
 * The tag that logins keep: they last until the password or this is another, so a deactivated account's end for good.
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
  sorts: { name: (doc) => doc.username },
  filters: {},
});

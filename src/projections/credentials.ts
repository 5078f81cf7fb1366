import { account, type AccountEvent } from '../domain/accounts.ts';
import type { Sealed } from '../domain/sealed.ts';
import { projection } from './define.ts';

/** What logging in needs: user name and sealed password hash by the account's id. No row serves it. */
export type Credential = { readonly username: string; readonly password: Sealed };

export const credentials = projection<Credential, AccountEvent>(account, {
  collection: 'credentials',
  on: {
    accountCreated: (_, { data: { username, password } }) => ({ username, password }),
    accountUpdated: (doc, { data: { username } }) => (doc && username !== undefined ? { ...doc, username } : doc),
    accountPasswordSet: (doc, { data: { password } }) => doc && { ...doc, password },
    accountDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.username },
  filters: {},
});

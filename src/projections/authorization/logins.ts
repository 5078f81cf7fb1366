import { login } from '../../domain/authorization/logins.ts';
import { projection } from '../engine/define.ts';

/** A login that has not ended. Its id is the keyed digest of its token. No route serves this document. */
export type Login = {
  readonly account: string;
  readonly credential: string;
  readonly created: string;
  readonly used: string;
};

export const logins = projection<Login>()(login, {
  collection: 'logins',
  on: {
    loggedIn: (_, { data: { account, credential, at } }) => ({ account, credential, created: at, used: at }),
    loginUsed: (doc, { data }) => doc && { ...doc, used: data.at },
    loggedOut: () => undefined,
  },
  // The oldest logins come first, because these are ended first.
  sorts: { name: (doc) => doc.created },
  filters: { account: (doc) => doc.account },
});

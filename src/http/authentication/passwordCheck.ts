import type { Sealed } from '../../domain/engine/sealed.ts';
import { credentials, credentialTag } from '../../projections/authorization/credentials.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import type { Passwords } from '../../secrets/passwords.ts';
import type { UserPassword } from './basic.ts';
import type { Known } from './principal.ts';
import type { Principals } from './principals.ts';

type Needs = {
  readonly model: ReadStore;
  readonly accounts: Pick<Principals, 'load'>;
  readonly hashing: Passwords;
  readonly unseal: (sealed: Sealed) => string;
};

/** Compares passwords with the stored hashes. */
export const passwordCheck = ({ model, accounts, hashing, unseal }: Needs) => {
  /** The hash; undefined if it was sealed with another key, so that the password cannot match. */
  const hashIn = (sealed: Sealed): string | undefined => {
    try {
      return unseal(sealed);
    } catch {
      return undefined;
    }
  };

  /**
   * The account with this user name and password; else undefined. Without such an account it hashes too, so that the
   * duration is the same.
   */
  return async ({ username, password }: UserPassword, network: string): Promise<Known | undefined> => {
    const [account] = await model.idsNamed(credentials.collection, username);
    if (account === undefined) await refuseParked(model, credentials.collection, username);
    const credential = account === undefined ? undefined : await documentOf(model, credentials, account);
    const right = await hashing.verifyPassword(password, credential && hashIn(credential.password), network);
    if (!right || account === undefined || !credential) return undefined;
    const known = await accounts.load(account);
    return known?.credential === credentialTag(credential) ? known : undefined;
  };
};

export type PasswordCheck = ReturnType<typeof passwordCheck>;

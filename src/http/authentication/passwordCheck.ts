import type { Sealed } from '../../domain/engine/sealed.ts';
import type { Passwords } from '../../passwords.ts';
import { type Credential, credentialTag } from '../../projections/authorization/credentials.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import type { UserPassword } from './basic.ts';
import type { Known } from './principal.ts';
import type { Principals } from './principals.ts';

type Needs = {
  readonly model: ReadStore;
  readonly accounts: Pick<Principals, 'load'>;
  readonly hashing: Passwords;
  readonly unseal: (sealed: Sealed) => string;
};

/** Compares passwords with the hashes that are kept. */
export const passwordCheck = ({ model, accounts, hashing, unseal }: Needs) => {
  /** Nobody gets in by a hash that was sealed with a key which is lost. */
  const hashIn = (sealed: Sealed): string | undefined => {
    try {
      return unseal(sealed);
    } catch {
      return undefined;
    }
  };

  /** The account whose user name and password these are; hashes, also when there is no such account. */
  return async ({ username, password }: UserPassword, network: string): Promise<Known | undefined> => {
    const [account] = await model.idsNamed('credentials', username);
    if (account === undefined) await refuseParked(model, 'credentials', username);
    const entry = account === undefined ? undefined : await model.get('credentials', account);
    const credential = entry && (JSON.parse(entry.text) as Credential);
    const right = await hashing.verifyPassword(password, credential && hashIn(credential.password), network);
    if (!right || !entry || !credential) return undefined;
    const known = await accounts.load(entry.id);
    return known?.credential === credentialTag(credential) ? known : undefined;
  };
};

export type PasswordCheck = ReturnType<typeof passwordCheck>;

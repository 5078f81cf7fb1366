import type { AccountChanges } from './accountChanges.ts';
import type { Known, Principal } from './principal.ts';
import type { Principals } from './principals.ts';

type Needs = { readonly accounts: Principals; readonly changes: AccountChanges };

const sameName = ({ username }: Principal['actor'], known: Known | undefined): Known | undefined =>
  known?.principal.actor.username === username ? known : undefined;

/**
 * Gives accounts that were verified before, if they are unchanged; else undefined. A password has changed if
 * `credential` differs.
 */
export const verifiedAccounts = ({ accounts, changes }: Needs) => {
  /** The account from memory; does not wait. `everSince`: however long ago it was read. */
  const keptAs = (account: string, credential: string, everSince = false): Known | undefined => {
    if (changes.awaited()) return undefined;
    const known = everSince ? accounts.everSince(account) : accounts.kept(account);
    if (known?.credential !== credential) return undefined;
    return known.mapped && changes.mappingsAwaited() ? undefined : known;
  };

  /** The account as the read models show it now. */
  const loadAs = async (account: string, credential: string): Promise<Known | undefined> => {
    const known = await accounts.load(account);
    return known?.credential === credential ? known : undefined;
  };

  return {
    keptAs,
    loadAs,
    /** Like `keptAs`, for a caller who sent the account's name: undefined if the name has changed. */
    keptLike: ({ principal: { actor }, credential }: Known, everSince = false): Known | undefined =>
      sameName(actor, keptAs(actor.id, credential, everSince)),
    /** Like `loadAs`, for a caller who sent the account's name: undefined if the name has changed. */
    loadLike: async ({ principal: { actor }, credential }: Known): Promise<Known | undefined> =>
      sameName(actor, await loadAs(actor.id, credential)),
  };
};

export type VerifiedAccounts = ReturnType<typeof verifiedAccounts>;

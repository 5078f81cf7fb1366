import type { AccountChanges } from './accountChanges.ts';
import type { Known, Principal } from './principal.ts';
import type { Principals } from './principals.ts';

type Needs = { readonly accounts: Principals; readonly changes: AccountChanges };

const sameName = ({ username }: Principal['actor'], known: Known | undefined): Known | undefined =>
  known?.principal.actor.username === username ? known : undefined;

/**
 * Accounts that were verified before, if they are still as they were verified; else undefined. `credential` tells
 * whether the password has changed.
 */
export const verifiedAccounts = ({ accounts, changes }: Needs) => {
  /** Without waiting. `everSince`: however long ago it was read. */
  const keptAs = (account: string, credential: string, everSince = false): Known | undefined => {
    if (changes.awaited()) return undefined;
    const known = everSince ? accounts.everSince(account) : accounts.kept(account);
    if (known?.credential !== credential) return undefined;
    return known.mapped && changes.mappingsAwaited() ? undefined : known;
  };

  /** As the read models show it now. */
  const loadAs = async (account: string, credential: string): Promise<Known | undefined> => {
    const known = await accounts.load(account);
    return known?.credential === credential ? known : undefined;
  };

  return {
    keptAs,
    loadAs,
    /** As `keptAs`, for who came with the account's name, which may have changed. */
    keptLike: ({ principal: { actor }, credential }: Known, everSince = false): Known | undefined =>
      sameName(actor, keptAs(actor.id, credential, everSince)),
    /** As `loadAs`, for the same. */
    loadLike: async ({ principal: { actor }, credential }: Known): Promise<Known | undefined> =>
      sameName(actor, await loadAs(actor.id, credential)),
  };
};

export type VerifiedAccounts = ReturnType<typeof verifiedAccounts>;

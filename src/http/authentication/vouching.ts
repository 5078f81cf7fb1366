import { lruCache, sharing } from '@automation-platform/concurrency';
import type { Known, LoginSettings } from './principal.ts';
import type { Proof, VerifiedAccounts } from './principals.ts';
import type { ProviderLogins } from './providerLogins.ts';
import { ProviderSilent } from './refusals.ts';

/** An answer of a provider about a person. `silent`: the provider was asked again since, and did not answer. */
export type Answered = { readonly since: number; silent: boolean };

/**
 * The time for which the answer of a provider counts: `principalTimeout`, and one more such time once the provider does not
 * answer. A provider that has changed since is asked again.
 */
const answerTimes = (settings: () => LoginSettings, now: () => number) => {
  const timeoutMs = (): number => settings().principalTimeout * 60_000;
  let providersChanged = -Infinity;
  return {
    /** How long the answer counts, in milliseconds. */
    restOf: ({ since, silent }: Answered): number =>
      since <= providersChanged ? 0 : since + timeoutMs() * (silent ? 2 : 1) - now(),
    /** True if the provider is to be asked again, ahead of the end. */
    isDue: ({ since }: Answered): boolean => since + timeoutMs() / 2 <= now(),
    /** Call when a provider has changed. */
    providerChanged: (): void => {
      providersChanged = now();
    },
  };
};

type Word = Answered & { readonly isThere: boolean };

type Needs = {
  readonly providers: Pick<ProviderLogins, 'askAgain'>;
  readonly settings: () => LoginSettings;
  readonly now: () => number;
};

/**
 * Asks providers again about people whose logins and tokens go on without a password. A person who is not there any more
 * gets in by none of them, and has no groups.
 */
export const vouching = ({ providers, settings, now }: Needs) => {
  const times = answerTimes(settings, now);
  const words = lruCache<Word>(20_000);
  const asking = sharing<boolean>();

  const askNow = async (id: string): Promise<boolean> => {
    const since = now();
    try {
      const isThere = await providers.askAgain(id);
      words.set(id, { isThere, since, silent: false });
      return isThere;
    } catch (error) {
      const before = words.get(id);
      if (!(error instanceof ProviderSilent) || !before) throw error;
      before.silent = true;
      if (times.restOf(before) <= 0) throw error;
      return before.isThere;
    }
  };
  const ask = (id: string): Promise<boolean> => asking(id, () => askNow(id));

  /** The last word about the person, if it still counts: false if they are not there any more. Does not wait. */
  const lastWord = ({ isProvided, principal: { actor } }: Known): boolean | undefined => {
    if (!isProvided) return true;
    const word = words.get(actor.id);
    if (!word || times.isDue(word)) ask(actor.id).catch(() => undefined);
    return word && times.restOf(word) > 0 ? word.isThere : undefined;
  };

  return {
    ...times,
    lastWord,
    /** True if the provider still knows the person. Throws `ProviderSilent`. */
    isThere: async (account: Known): Promise<boolean> => lastWord(account) ?? ask(account.principal.actor.id),
    /** Notes that the provider has let the person in. */
    note: ({ isProvided, principal: { actor } }: Known, since: number): void => {
      if (isProvided) words.set(actor.id, { isThere: true, since, silent: false });
    },
  };
};

export type Vouching = ReturnType<typeof vouching>;

/** Gives accounts whose logins and tokens go on, as `verified` does, if their providers still know the people. */
export const vouchedAccounts = (verified: VerifiedAccounts, { lastWord, isThere }: Vouching) => ({
  keptAs: (proof: Proof, everSince = false): Known | undefined => {
    const account = verified.keptAs(proof, everSince);
    const word = account && lastWord(account);
    return word || (everSince && word === undefined) ? account : undefined;
  },
  loadAs: async (proof: Proof): Promise<Known | undefined> => {
    const account = await verified.loadAs(proof);
    if (!account?.isProvided) return account;
    // The answer may have changed the groups.
    return (await isThere(account)) ? verified.loadAs(proof) : undefined;
  },
  /** The account, unless its provider has said that the person is not there any more. Waits for no provider. */
  unlessGone: (account: Known | undefined): Known | undefined =>
    account && lastWord(account) !== false ? account : undefined,
});

export type VouchedAccounts = ReturnType<typeof vouchedAccounts>;

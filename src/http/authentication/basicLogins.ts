import { hash, randomBytes } from 'node:crypto';
import { lruCache } from '../../concurrency/lruCache.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type UserPassword, userPasswordIn } from './basic.ts';
import type { limiter as limiterOf } from './limiter.ts';
import { LoginRefused } from './loginRefused.ts';
import { networkOf } from './network.ts';
import type { PasswordCheck } from './passwordCheck.ts';
import type { Known } from './principal.ts';
import type { VerifiedAccounts } from './verifiedAccounts.ts';

type Needs = {
  readonly accounts: Pick<VerifiedAccounts, 'keptLike' | 'loadLike'>;
  readonly check: PasswordCheck;
  /** The id of the account with this user name; undefined if there is none. */
  readonly accountNamed: (username: string) => Promise<string | undefined>;
  readonly limiter: ReturnType<typeof limiterOf>;
  /** Waits until the read models show all accounts. */
  readonly upToDate: () => Promise<void>;
  /** `principalTimeout` in minutes. */
  readonly settings: () => { readonly principalTimeout: number };
  readonly now: () => number;
};

/** Shares work in progress: callers with the same key get the same promise. */
const sharing = <T>() => {
  const under = new Map<string, Promise<T>>();
  return (key: string, work: () => Promise<T>): Promise<T> => {
    const known = under.get(key);
    if (known) return known;
    const mine = work().finally(() => under.delete(key));
    under.set(key, mine);
    return mine;
  };
};

/**
 * Authenticates HTTP Basic. A verified credential is kept until `principalTimeout` after its last use, as a keyed
 * digest whose key is lost with the process. As long as the password stays the same, it is not hashed again. The order
 * is: kept credential, limiter, hashing.
 */
export const basicLogins = ({ accounts, check, accountNamed, limiter, upToDate, settings, now }: Needs) => {
  const verified = lruCache<{ readonly known: Known; used: number }>(20_000);
  const attempts = sharing<Known | undefined>();
  const checks = sharing<Known | undefined>();
  // A hash of key and text mostly needs HMAC: otherwise a digest can be continued to that of a longer text, without the
  // key. SHA-512/256 needs none, because its digest is only a part of the state that this would take.
  const key = randomBytes(32).toString('hex');
  const keyed = (authorization: string): string => hash('sha512-256', key + authorization, 'base64url');
  const timeoutMs = (): number => settings().principalTimeout * 60_000;
  let failed = 0;

  /** The account, if the same header was verified before and is still valid. Does not wait. */
  const kept = (authorization: string, everSince = false): Known | undefined => {
    const entry = verified.get(keyed(authorization));
    const left = entry ? entry.used + timeoutMs() - now() : 0;
    if (!entry || (left <= 0 && !everSince)) return undefined;
    const known = accounts.keptLike(entry.known, everSince);
    if (known && left < timeoutMs() / 2) entry.used = now();
    return known;
  };

  /**
   * The account of a kept credential, as the read models show it now. A credential that is no longer valid is dropped.
   */
  const loadKept = async (hidden: string): Promise<Known | undefined> => {
    const entry = verified.get(hidden);
    if (!entry || entry.used + timeoutMs() <= now()) return undefined;
    const known = await accounts.loadLike(entry.known);
    if (!known) verified.delete(hidden);
    return known;
  };

  const checkAndKeep = async (hidden: string, given: UserPassword, network: string): Promise<Known | undefined> => {
    const known = await check(given, network);
    if (known) verified.set(hidden, { known, used: now() });
    return known;
  };

  /** Throws the error. Too many attempts are recorded with the account that was meant. */
  const refusedFor = async (error: unknown, { username }: UserPassword): Promise<never> => {
    if (!(error instanceof RequestError && error.code === 'limited')) throw error;
    const { message, retryAfterSeconds } = error;
    throw new LoginRefused('limited', message, { account: await accountNamed(username), retryAfterSeconds });
  };

  const verify = async (authorization: string, address: string): Promise<Known> => {
    await upToDate();
    const hidden = keyed(authorization);
    const before = await loadKept(hidden);
    if (before) return before;
    const given = userPasswordIn(authorization);
    if (!given || given.username.length > 256)
      throw new RequestError('unauthenticated', 'The credentials cannot be read');
    const network = networkOf(address);
    const checking = () => checks(hidden, () => checkAndKeep(hidden, given, network));
    const known = await attempts(`${hidden} ${network}`, () =>
      limiter.attempt(given.username, network, checking),
    ).catch((error: unknown) => refusedFor(error, given));
    if (known) return known;
    failed++;
    const account = await accountNamed(given.username);
    throw new LoginRefused('unauthenticated', 'Wrong user name or password', { account });
  };

  return {
    kept,
    /** The account of the header. Throws `unauthenticated`, or `limited` after too many failures. */
    verify,
    /** How many wrong user names or passwords were sent. */
    failed: (): number => failed,
  };
};

import { lruCache, sharing, turns } from '@automation-platform/concurrency';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import type { Node } from '../../node.ts';
import { credentials, credentialTag } from '../../projections/authorization/accounts.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import { keyedDigest } from './keyedDigest.ts';
import { type limiter as limiterOf, networkOf, type Way } from './limiter.ts';
import type { Known, LoginSettings } from './principal.ts';
import type { Principals, VerifiedAccounts } from './principals.ts';
import type { ProviderLogins } from './providerLogins.ts';
import { LoginRefused, ProviderSilent } from './refusals.ts';
import type { Answered, Vouching } from './vouching.ts';

/** Decodes UTF-8. Throws when the bytes are not UTF-8. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

type Needs = {
  readonly accounts: VerifiedAccounts;
  readonly check: PasswordCheck;
  /** The id of the account with this user name; undefined if there is none. */
  readonly accountNamed: (username: string) => Promise<string | undefined>;
  readonly limiter: ReturnType<typeof limiterOf>;
  /** Waits until the read models show all accounts. */
  readonly upToDate: () => Promise<void>;
  readonly settings: () => LoginSettings;
  readonly vouching: Pick<Vouching, 'restOf' | 'isDue' | 'note'>;
  readonly now: () => number;
};

/** A credential that was verified. `used`: when it was last used. */
type Verified = Answered & { readonly caller: Known; used: number };

/**
 * Authenticates HTTP Basic. A verified credential is kept until `principalTimeout` after its last use, as a keyed
 * digest whose key is lost with the process. As long as the password stays the same, it is not hashed again. The order
 * is: kept credential, limiter, hashing.
 * The password of a provider's account may change elsewhere: it is asked for again after `principalTimeout`, and ahead of
 * that while in use. Once the provider does not answer, the credential is kept for one more such time.
 */
export const basicLogins = (needs: Needs) => {
  const { accounts, check, accountNamed, limiter, upToDate, settings, vouching, now } = needs;
  const verified = lruCache<Verified>(20_000);
  const attempts = sharing<Known | undefined>();
  const checks = sharing<Known | undefined>();
  const keyed = keyedDigest();
  const turn = turns();
  const waits = sharing<void>();
  const timeoutMs = (): number => settings().principalTimeout * 60_000;
  let failed = 0;

  /** How long the credential is kept, in milliseconds. */
  const restOf = (entry: Verified): number =>
    entry.caller.isProvided ? vouching.restOf(entry) : entry.used + timeoutMs() - now();

  const askAgain = (authorization: string, hidden: string): void => {
    const userPassword = userPasswordIn(authorization);
    // Not an attempt: nobody guesses.
    if (userPassword) checks(hidden, () => checkAndKeep(hidden, userPassword, '')).catch(() => undefined);
  };

  /** The account, if the same header was verified before and is still valid. Does not wait. */
  const fromCache = (authorization: string, everSince = false): Known | undefined => {
    const hidden = keyed(authorization);
    const entry = verified.get(hidden);
    const restMs = entry ? restOf(entry) : 0;
    if (!entry || (restMs <= 0 && !everSince)) return undefined;
    const caller = accounts.keptLike(entry.caller, everSince);
    if (!caller) return undefined;
    if (!caller.isProvided) entry.used = now();
    else if (vouching.isDue(entry)) askAgain(authorization, hidden);
    return caller;
  };

  /**
   * The account of a kept credential, as the read models show it now. A credential that is no longer valid is dropped.
   */
  const loadKept = async (hidden: string): Promise<Known | undefined> => {
    const entry = verified.get(hidden);
    if (!entry || restOf(entry) <= 0) return undefined;
    const caller = await accounts.loadLike(entry.caller);
    if (!caller) verified.delete(hidden);
    return caller;
  };

  const checkAndKeep = async (
    hidden: string,
    userPassword: UserPassword,
    network: string,
  ): Promise<Known | undefined> => {
    const since = now();
    const caller = await check.verify(userPassword, network).catch((error: unknown) => {
      const before = verified.get(hidden);
      if (!(error instanceof ProviderSilent) || !before?.caller.isProvided) throw error;
      before.silent = true;
      if (restOf(before) <= 0) throw error;
      return 'silent' as const;
    });
    if (caller === 'silent') return loadKept(hidden);
    if (caller) {
      verified.set(hidden, { caller, since, used: now(), silent: false });
      vouching.note(caller, since);
    } else verified.delete(hidden);
    return caller;
  };

  /** Throws the error. Too many attempts are recorded with the account that was meant. */
  const refusedFor = async (error: unknown, { username }: UserPassword): Promise<never> => {
    if (!(error instanceof RequestError && error.code === 'limited')) throw error;
    const { message, retryAfterSeconds } = error;
    throw new LoginRefused('limited', message, { account: await accountNamed(username), retryAfterSeconds });
  };

  const verify = async (authorization: string, address: string): Promise<Known> => {
    const hidden = keyed(authorization);
    // Other requests go on while many people log in at once.
    await waits(hidden, turn);
    await upToDate();
    const before = await loadKept(hidden);
    if (before) return before;
    const userPassword = userPasswordIn(authorization);
    if (!userPassword || userPassword.username.length > 256)
      throw new RequestError('unauthenticated', 'The credentials cannot be read');
    const network = networkOf(address);
    const checking = () => checks(hidden, () => checkAndKeep(hidden, userPassword, network));
    const way = await check.wayOf(userPassword.username);
    const caller = await attempts(`${hidden} ${network}`, () =>
      limiter.attempt(userPassword.username, network, checking, way),
    ).catch((error: unknown) => refusedFor(error, userPassword));
    if (caller) return caller;
    failed++;
    const account = await accountNamed(userPassword.username);
    throw new LoginRefused('unauthenticated', 'Wrong user name or password', { account });
  };

  return {
    kept: fromCache,
    /** The account of the header. Throws `unauthenticated`, or `limited` after too many failures. */
    verify,
    /** How many wrong user names or passwords were sent. */
    failed: (): number => failed,
  };
};

const form = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
export type UserPassword = { readonly username: string; readonly password: string };

/** The decoded bytes of an `Authorization: Basic` header; undefined when it is none, or malformed. */
export const basicBytes = (authorization: string): Buffer | undefined => {
  const encoded = form.exec(authorization)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
};

/**
 * The user name and password in an `Authorization: Basic` header, in UTF-8, split at the first colon; undefined when
 * the header is malformed or lacks one of the two.
 */
const userPasswordIn = (authorization: string): UserPassword | undefined => {
  const bytes = basicBytes(authorization);
  if (bytes === undefined) return undefined;
  try {
    const text = utf8.decode(bytes);
    const colon = text.indexOf(':');
    return colon < 1 || colon === text.length - 1
      ? undefined
      : { username: text.slice(0, colon), password: text.slice(colon + 1) };
  } catch {
    return undefined;
  }
};

/** The `Authorization` header for a user name and password. */
export const basicOf = ({ username, password }: UserPassword): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** Compares passwords with the stored hashes. Names that no local account has are asked for at the providers. */
export const passwordCheck = ({ model, hashing, unseal }: Node, accounts: Principals, providers: ProviderLogins) => {
  /** The hash; undefined if it was sealed with another key, so that the password cannot match. */
  const hashIn = (sealed: Sealed): string | undefined => {
    try {
      return unseal(sealed);
    } catch {
      return undefined;
    }
  };

  /** The id of the account with this name, or with one that is equal by NFKC. */
  const named = async (username: string): Promise<string | undefined> => {
    const [account] = await model.idsNamed(credentials.collection, username);
    const plain = username.normalize('NFKC');
    return account ?? (plain === username ? undefined : (await model.idsNamed(credentials.collection, plain))[0]);
  };

  const meant = async (username: string) => {
    const account = await named(username);
    const credential = account === undefined ? undefined : await documentOf(model, credentials, account);
    // The name of a local account is sent to no provider.
    const isForProviders = (!credential || credential.provider !== undefined) && (await providers.areThere());
    return { account, credential, way: isForProviders ? ('provider' as const) : ('local' as const) };
  };

  /**
   * The account with this user name and password; else undefined. Without such an account it hashes too, so that the
   * duration is the same.
   */
  const verify = async ({ username, password }: UserPassword, network: string): Promise<Known | undefined> => {
    const { account, credential, way } = await meant(username);
    if (account === undefined) await refuseParked(model, credentials.collection, username);
    if (way === 'provider') return providers.verify({ username, password });
    const right = await hashing.verifyPassword(password, credential?.password && hashIn(credential.password), network);
    if (!right || account === undefined || !credential) return undefined;
    const caller = await accounts.load(account);
    return caller?.credential === credentialTag(credential) ? caller : undefined;
  };

  return {
    verify,
    /** By whom a password for this name is verified. */
    wayOf: async (username: string): Promise<Way> => (await meant(username)).way,
  };
};

type PasswordCheck = ReturnType<typeof passwordCheck>;

import { hash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Admins } from '../../domain/authorization/admins.ts';
import { Refusal } from '../../domain/engine/refusal.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import type { Passwords } from '../../passwords.ts';
import { type Credential, credentialTag } from '../../projections/authorization/credentials.ts';
import { refuseParked } from '../../projections/engine/parked.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { splitStream, type Told } from '../../store/event.ts';
import { basicOf, type UserPassword, userPasswordIn } from './basic.ts';
import { limiter as limiterOf } from './limiter.ts';
import { networkOf } from './network.ts';
import { type Known, type Principal, principals } from './principals.ts';
import { cookieText, cookieValue, tokens as tokensOf } from './tokens.ts';

export type { Principal };

/** `authenticationProps` of the active profile (docs/profiles.md). */
export type LoginSettings = {
  /** Members of these groups are admins; empty: of `admins`. The same list as long as it has not changed. */
  readonly admins: Admins;
  /** Minutes without use after which a login ends; 30 unless set. */
  readonly logoutTime: number;
  /** Minutes that a caller is kept; 1 unless set. */
  readonly principalTimeout: number;
  /** Name of the cookie that holds the token; `token` unless set. */
  readonly cookieName: string;
  /** Whether a new login ends the account's others; false unless set. */
  readonly uniqueSession: boolean;
};

type Needs = {
  readonly model: ReadStore;
  /** Resolves once the read models show all that this node has acknowledged, and the position. */
  readonly settled: (least?: number) => Promise<void> | undefined;
  /** Position of the newest event in the log. */
  readonly head: () => Promise<number>;
  readonly handle: Handle;
  /** Asked several times per request. */
  readonly settings: () => LoginSettings;
  readonly hashing: Passwords;
  readonly unseal: (sealed: Sealed) => string;
  readonly digest: (text: string) => string;
  /** Whether cookies travel over TLS only. */
  readonly secure: boolean;
  readonly limiter?: ReturnType<typeof limiterOf>;
  readonly now?: () => number;
};

/** Who calls, as HTTP says it: `authorization` may be '', `cookie` is the value of the cookie `cookieName`. */
export type Credentials = {
  readonly authorization: string;
  readonly cookie: string | undefined;
  readonly address: string;
};

const sweepMs = 10 * 60_000;
const concerningAccounts = new Set(['account', 'group', 'role']);
const concerning = new Set([...concerningAccounts, 'groupMapping', 'login']);
const bearer = /^bearer +/i;

const unauthenticated = (message: string): Refusal => new Refusal('unauthenticated', message);

const sameName = ({ username }: Principal['actor'], known: Known | undefined): Known | undefined =>
  known?.principal.actor.username === username ? known : undefined;

const tokenOf = ({ authorization, cookie }: Omit<Credentials, 'address'>): string | undefined =>
  authorization === '' ? cookie : bearer.test(authorization) ? authorization.replace(bearer, '') : undefined;

/** Work under way by key, shared by all who ask for the same. */
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
 * Who calls: HTTP Basic, or the token of a login. A credential that was verified is kept, as a keyed digest whose key
 * ends with the process, until `principalTimeout` after its last use: no password is hashed again as long as the
 * account's stays the same. Order of work: kept credential, limiter, hashing.
 */
export const authenticator = ({
  model,
  settled,
  head,
  handle,
  settings,
  hashing,
  unseal,
  digest,
  secure,
  limiter = limiterOf(),
  now = Date.now,
}: Needs) => {
  const accounts = principals({ model, settings, now });
  const tokens = tokensOf({ model, settled, head, handle, digest, settings, now });
  const verified = new LRUCache<string, { readonly known: Known; used: number }>({ max: 20_000 });
  const attempts = sharing<Known | undefined>();
  const checks = sharing<Known | undefined>();
  // SHA-512/256 needs no HMAC around it: what it gives away of its state does not let anybody go on hashing.
  const key = randomBytes(32).toString('hex');
  const keyed = (authorization: string): string => hash('sha512-256', key + authorization, 'base64url');
  const timeoutMs = (): number => settings().principalTimeout * 60_000;
  // Up to where changes of accounts and what belongs to them are stored, and up to where `accounts` was told of them.
  let stored = 0;
  let storedMappings = 0;
  let shown = 0;
  let failed = 0;

  const sweeping = setInterval(() => {
    tokens.sweep().catch(() => undefined);
  }, sweepMs).unref();

  /** An account without waiting, if it is still as it was verified. */
  const keptAs = (account: string, credential: string, everSince = false): Known | undefined => {
    if (stored > shown) return undefined;
    const known = everSince ? accounts.everSince(account) : accounts.kept(account);
    return known && known.credential === credential && !(known.mapped && storedMappings > shown) ? known : undefined;
  };

  /** The same for who came with the account's name, which may have changed. */
  const keptLike = ({ principal: { actor }, credential }: Known, everSince = false): Known | undefined =>
    sameName(actor, keptAs(actor.id, credential, everSince));

  const keptBasic = (authorization: string, everSince = false): Known | undefined => {
    const entry = verified.get(keyed(authorization));
    const left = entry ? entry.used + timeoutMs() - now() : 0;
    if (!entry || (left <= 0 && !everSince)) return undefined;
    const known = keptLike(entry.known, everSince);
    if (known && left < timeoutMs() / 2) entry.used = now();
    return known;
  };

  const kept = (credentials: Credentials, everSince = false): Principal | undefined => {
    if (stored > shown) return undefined;
    const token = tokenOf(credentials);
    if (token !== undefined) {
      const login = tokens.kept(token);
      return login && keptAs(login.account, login.credential, everSince)?.principal;
    }
    return credentials.authorization === '' ? undefined : keptBasic(credentials.authorization, everSince)?.principal;
  };

  /**
   * Waits until the read models know all accounts: those of the log at the start, and what this node has stored since.
   */
  const upToDate = async (): Promise<void> => {
    const target = Math.max(stored, storedMappings);
    await settled(target);
    if (target <= shown) return;
    // The read models got there without telling of each event.
    accounts.clear();
    shown = target;
  };

  /** An account as the read models show it now, if it is still as it was verified. */
  const loadAs = async (account: string, credential: string): Promise<Known | undefined> => {
    const known = await accounts.load(account);
    return known?.credential === credential ? known : undefined;
  };

  const loadLike = async ({ principal: { actor }, credential }: Known): Promise<Known | undefined> =>
    sameName(actor, await loadAs(actor.id, credential));

  const byToken = async (token: string): Promise<Principal> => {
    const login = await tokens.load(token);
    const known = login && (await loadAs(login.account, login.credential));
    if (!known) throw unauthenticated('The login has ended; log in again');
    return known.principal;
  };

  /** Nobody gets in by a hash that was sealed with a key which is lost. */
  const hashIn = (sealed: Sealed): string | undefined => {
    try {
      return unseal(sealed);
    } catch {
      return undefined;
    }
  };

  /** The account whose password this is; hashes. */
  const check = async (
    hidden: string,
    { username, password }: UserPassword,
    network: string,
  ): Promise<Known | undefined> => {
    const [account] = await model.idsNamed('credentials', username);
    if (account === undefined) await refuseParked(model, 'credentials', username);
    const entry = account === undefined ? undefined : await model.get('credentials', account);
    const credential = entry && (JSON.parse(entry.text) as Credential);
    const right = await hashing.verifyPassword(password, credential && hashIn(credential.password), network);
    if (!right || !entry || !credential) return undefined;
    const known = await accounts.load(entry.id);
    if (known?.credential !== credentialTag(credential)) return undefined;
    verified.set(hidden, { known, used: now() });
    return known;
  };

  const verify = async (authorization: string, address: string): Promise<Known> => {
    await upToDate();
    const hidden = keyed(authorization);
    const entry = verified.get(hidden);
    if (entry && entry.used + timeoutMs() > now()) {
      const known = await loadLike(entry.known);
      if (known) return known;
      verified.delete(hidden);
    }
    const given = userPasswordIn(authorization);
    if (!given || given.username.length > 256) throw unauthenticated('The credentials cannot be read');
    const network = networkOf(address);
    const checking = () => checks(hidden, () => check(hidden, given, network));
    const known = await attempts(`${hidden} ${network}`, () => limiter.attempt(given.username, network, checking));
    if (known) return known;
    failed++;
    throw unauthenticated('Wrong user name or password');
  };

  const reload = async (before: Known): Promise<Known> => {
    await upToDate();
    const known = await loadLike(before);
    if (!known) throw unauthenticated('The account may no longer log in, or not with this name and password');
    return known;
  };

  const slowly = async (credentials: Credentials): Promise<Principal> => {
    const token = tokenOf(credentials);
    if (token === undefined && credentials.authorization === '')
      throw unauthenticated('Log in: HTTP Basic, or the token of POST /login');
    if (token === undefined) return (await verify(credentials.authorization, credentials.address)).principal;
    await upToDate();
    return byToken(token);
  };

  return {
    /** Of the streams whose events it is told. */
    categories: concerning,
    /**
     * The caller; `unauthenticated`, or `limited` after too many failures. Not a promise when nothing has to be waited
     * for.
     */
    authenticate: (credentials: Credentials): Principal | Promise<Principal> =>
      kept(credentials) ?? slowly(credentials),
    /**
     * The caller as verified at any time since the start, if no event has changed the account since: without asking
     * anything.
     */
    lastKnown: (credentials: Credentials): Principal | undefined => kept(credentials, true),
    /** The account whose user name and password these are, limited like every login. */
    verify: async (given: UserPassword, address: string): Promise<Known> => {
      if (given.username.includes(':')) throw unauthenticated('Wrong user name or password');
      return verify(basicOf(given), address);
    },
    /** The account of HTTP Basic; limited like every login. */
    byBasic: (authorization: string, address: string): Known | Promise<Known> =>
      keptBasic(authorization) ?? verify(authorization, address),
    /** The same as they are now, without the password; `unauthenticated` once it would not be taken any more. */
    again: (before: Known): Known | Promise<Known> => keptLike(before) ?? reload(before),
    /** A new login's token. */
    logIn: ({ principal, credential }: Known, requestId: string): Promise<string> =>
      tokens.start(principal.actor, credential, requestId),
    /** Ends the login of a token, if there is one. */
    logOut: (token: string, requestId: string): Promise<void> => tokens.end(token, requestId),
    /** The token that a request's headers carry. */
    tokenIn: (authorization: string, cookies: string): string | undefined =>
      tokenOf({ authorization, cookie: cookieValue(cookies, settings().cookieName) }),
    /** `Set-Cookie` for a token; undefined: for none. */
    cookie: (token: string | undefined): string => cookieText(settings().cookieName, token, secure),
    /** To be told of events as soon as they are stored: from then on what they change is not passed. */
    onStored: (events: readonly Told[]): void => {
      for (const event of events) {
        const { category } = splitStream(event.stream);
        if (concerningAccounts.has(category)) stored = Math.max(stored, event.position);
        if (category === 'groupMapping') storedMappings = Math.max(storedMappings, event.position);
        tokens.onEvent(event);
      }
    },
    /** To be told of the same events, from whatever node, once their documents are readable. */
    onEvent: (event: Told): void => {
      accounts.onEvent(event);
      tokens.onEvent(event);
      shown = event.position;
    },
    /** How many wrong user names and passwords were sent. */
    failedLogins: (): number => failed,
    /** Ends logins that have lasted as long as any may; done every ten minutes. */
    sweep: tokens.sweep,
    stop: (): void => clearInterval(sweeping),
  };
};

export type Authenticator = ReturnType<typeof authenticator>;

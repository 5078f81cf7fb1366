import type { Handle } from '../../commands/engine/handle.ts';
import type { Admins } from '../../domain/authorization/admins.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Sealed } from '../../domain/engine/sealed.ts';
import type { Passwords } from '../../passwords.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import type { EventNotice } from '../../store/event.ts';
import { accountChanges, concerning } from './accountChanges.ts';
import { basicOf, type UserPassword } from './basic.ts';
import { basicLogins } from './basicLogins.ts';
import { cookieText, cookieValue } from './cookies.ts';
import { limiter as limiterOf } from './limiter.ts';
import { passwordCheck } from './passwordCheck.ts';
import type { Known, Principal } from './principal.ts';
import { principals } from './principals.ts';
import { tokens as tokensOf } from './tokens.ts';
import { verifiedAccounts } from './verifiedAccounts.ts';

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
const bearer = /^bearer +/i;

const unauthenticated = (message: string): RequestError => new RequestError('unauthenticated', message);

const tokenOf = ({ authorization, cookie }: Omit<Credentials, 'address'>): string | undefined => {
  if (authorization === '') return cookie;
  return bearer.test(authorization) ? authorization.replace(bearer, '') : undefined;
};

/** Who calls: HTTP Basic (basicLogins.ts), or the token of a login (tokens.ts). */
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
  const changes = accountChanges({ settled, onUntold: accounts.clear });
  const { upToDate } = changes;
  const verified = verifiedAccounts({ accounts, changes });
  const check = passwordCheck({ model, accounts, hashing, unseal });
  const basic = basicLogins({ accounts: verified, check, limiter, upToDate, settings, now });
  const tokens = tokensOf({ model, settled, head, handle, digest, settings, now });

  const sweeping = setInterval(() => {
    tokens.sweep().catch(() => undefined);
  }, sweepMs).unref();

  const kept = (credentials: Credentials, everSince = false): Principal | undefined => {
    if (changes.awaited()) return undefined;
    const token = tokenOf(credentials);
    if (token !== undefined) {
      const login = tokens.kept(token);
      return login && verified.keptAs(login.account, login.credential, everSince)?.principal;
    }
    return credentials.authorization === '' ? undefined : basic.kept(credentials.authorization, everSince)?.principal;
  };

  const byToken = async (token: string): Promise<Principal> => {
    const login = await tokens.load(token);
    const known = login && (await verified.loadAs(login.account, login.credential));
    if (!known) throw unauthenticated('The login has ended; log in again');
    return known.principal;
  };

  const reload = async (before: Known): Promise<Known> => {
    await upToDate();
    const known = await verified.loadLike(before);
    if (!known) throw unauthenticated('The account may no longer log in, or not with this name and password');
    return known;
  };

  const slowly = async (credentials: Credentials): Promise<Principal> => {
    const token = tokenOf(credentials);
    if (token === undefined && credentials.authorization === '')
      throw unauthenticated('Log in: HTTP Basic, or the token of POST /login');
    if (token === undefined) return (await basic.verify(credentials.authorization, credentials.address)).principal;
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
      return basic.verify(basicOf(given), address);
    },
    /** The account of HTTP Basic; limited like every login. */
    byBasic: (authorization: string, address: string): Known | Promise<Known> =>
      basic.kept(authorization) ?? basic.verify(authorization, address),
    /** The same as they are now, without the password; `unauthenticated` once it would not be taken any more. */
    again: (before: Known): Known | Promise<Known> => verified.keptLike(before) ?? reload(before),
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
    onStored: (events: readonly EventNotice[]): void => {
      for (const event of events) {
        changes.onStored(event);
        tokens.onEvent(event);
      }
    },
    /** To be told of the same events, from whatever node, once their documents are readable. */
    onEvent: (event: EventNotice): void => {
      accounts.onEvent(event);
      tokens.onEvent(event);
      changes.onShown(event);
    },
    /** How many wrong user names and passwords were sent. */
    failedLogins: basic.failed,
    /** Ends logins that have lasted as long as any may; done every ten minutes. */
    sweep: tokens.sweep,
    stop: (): void => clearInterval(sweeping),
  };
};

export type Authenticator = ReturnType<typeof authenticator>;

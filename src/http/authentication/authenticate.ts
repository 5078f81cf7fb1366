import { callerIn } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Node } from '../../node.ts';
import { credentials } from '../../projections/authorization/accounts.ts';
import type { Directory, OpenId } from '../../southbound/port.ts';
import { type EventNotice, splitStream } from '../../store/event.ts';
import { accessTokens as accessTokensOf } from './accessTokens.ts';
import { apiTokens as apiTokensOf } from './apiTokens.ts';
import { basicLogins, basicOf, passwordCheck, type UserPassword } from './basicLogins.ts';
import { clientCredentials } from './clientCredentials.ts';
import { cookieText, cookieValue } from './cookies.ts';
import { issuers as issuersOf } from './issuers.ts';
import { limiter as limiterOf } from './limiter.ts';
import { openIdLogins } from './openIdLogins.ts';
import { cameBy, type Known, type LoginSettings, type Principal } from './principal.ts';
import { accountChanges, concerning, principals, verifiedAccounts } from './principals.ts';
import { providerLogins } from './providerLogins.ts';
import { LoginRefused } from './refusals.ts';
import { type LoginTokens, tokens as tokensOf } from './tokens.ts';
import { type VouchedAccounts, vouchedAccounts, vouching as vouchingOf } from './vouching.ts';

type Options = {
  /** Called several times per request, so it must be cheap. */
  readonly settings: () => LoginSettings;
  /** True if cookies are sent over TLS only. */
  readonly secure: boolean;
  readonly directory: Directory;
  readonly openId: OpenId;
};

/** The credentials of a request: `authorization` may be ''; `cookie` is the value of the cookie `cookieName`. */
export type Credentials = {
  readonly authorization: string;
  readonly cookie: string | undefined;
  readonly address: string;
};

const sweepMs = 10 * 60_000;
const bearer = /^bearer +/i;

const unauthenticated = (message: string): RequestError => new RequestError('unauthenticated', message);

/**
 * A login's token has 43 characters, and one of an issuer three parts. Only the header carries one of an issuer or of a
 * script: a browser sends cookies by itself.
 */
const kindOf = (token: string, { authorization }: Pick<Credentials, 'authorization'>) => {
  if (authorization === '' || token.length === 43) return 'login';
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token) ? 'accessToken' : 'apiToken';
};

const byPassword = ({ principal, isProvided }: Known): Principal => cameBy(principal, isProvided ? 'ldap' : 'password');

const verifierOf =
  (basic: ReturnType<typeof basicLogins>) =>
  async (credentials: UserPassword, address: string): Promise<Known> => {
    if (credentials.username.includes(':')) throw unauthenticated('Wrong user name or password');
    return basic.verify(basicOf(credentials), address);
  };

const tokenOf = ({ authorization, cookie }: Omit<Credentials, 'address'>): string | undefined => {
  if (authorization === '') return cookie;
  return bearer.test(authorization) ? authorization.replace(bearer, '') : undefined;
};

type TokenNeeds = {
  readonly logins: LoginTokens;
  readonly apiTokens: ReturnType<typeof apiTokensOf>;
  readonly accessTokens: ReturnType<typeof accessTokensOf>;
  readonly vouched: VouchedAccounts;
};

/** Finds the callers who send a token of any kind. */
const tokenCallers = ({ logins, apiTokens, accessTokens, vouched }: TokenNeeds) => {
  const cachedApiToken = (token: string, address: string, everSince: boolean): Principal | undefined => {
    const entry = apiTokens.fromCache(token);
    const owner = entry && vouched.keptAs(entry, everSince);
    if (!owner) return undefined;
    apiTokens.noteUse(entry, address);
    return entry.callerBy(owner);
  };

  const byApiToken = async (token: string, address: string): Promise<Principal> => {
    const entry = await apiTokens.load(token);
    const owner = entry && (await vouched.loadAs(entry));
    if (!owner)
      throw new LoginRefused('unauthenticated', 'No such token, or it has ended', { account: entry?.account });
    apiTokens.noteUse(entry, address);
    return entry.callerBy(owner);
  };

  const byLogin = async (token: string): Promise<Principal> => {
    const login = await logins.load(token);
    const owner = login && (await vouched.loadAs(login));
    if (!owner)
      throw new LoginRefused('unauthenticated', 'The login has ended; log in again', { account: login?.account });
    return login.callerBy(owner);
  };

  return {
    /** The caller from memory; does not wait. */
    fromCache: (token: string, credentials: Credentials, everSince: boolean): Principal | undefined => {
      const kind = kindOf(token, credentials);
      if (kind === 'apiToken') return cachedApiToken(token, credentials.address, everSince);
      if (kind === 'accessToken') return accessTokens.fromCache(token, everSince);
      const login = logins.fromCache(token);
      const owner = login && vouched.keptAs(login, everSince);
      return owner && login.callerBy(owner);
    },
    load: async (token: string, credentials: Credentials): Promise<Principal> => {
      const kind = kindOf(token, credentials);
      if (kind === 'apiToken') return byApiToken(token, credentials.address);
      if (kind === 'accessToken') return accessTokens.verify(token);
      return byLogin(token);
    },
  };
};

/** Passes each event to the listener of its category, if there is one. */
const byCategory = (listeners: Readonly<Record<string, (event: EventNotice) => void>>) => {
  const all = new Map(Object.entries(listeners));
  return (event: EventNotice): void => all.get(splitStream(event.stream).category)?.(event);
};

/** Finds out who calls: by HTTP Basic (basicLogins.ts), by the token of a login (tokens.ts), by that of a script, worker or
 * service (apiTokens.ts), or by that of an issuer (accessTokens.ts). */
export const authenticator = (node: Node, { settings, secure, directory, openId }: Options) => {
  const { model } = node;
  const { now } = node.clock;
  const limiter = limiterOf();
  const accounts = principals(model, settings, now);
  const changes = accountChanges(node.settled, () => {
    accounts.clear();
    providers.providerChanged();
  });
  const { upToDate } = changes;
  const verified = verifiedAccounts(accounts, changes);
  const providers = providerLogins({ node, accounts, directory, openId, settings });
  const check = passwordCheck(node, accounts, providers);
  const vouching = vouchingOf({ providers, settings, now });
  const vouched = vouchedAccounts(verified, vouching);
  const accountNamed = async (username: string) => (await model.idsNamed(credentials.collection, username))[0];
  const basic = basicLogins({ accounts: verified, check, accountNamed, limiter, upToDate, settings, vouching, now });
  const tokens = tokensOf(node, { settings, accounts: verified });
  const apiTokens = apiTokensOf(node);
  const issuers = issuersOf(node, providers);
  const accessTokens = accessTokensOf({ issuers, openId, accounts: verified, settings, now });
  const browsers = openIdLogins({ node, issuers, openId, logins: tokens, settings, secure });
  const byToken = tokenCallers({ logins: tokens, apiTokens, accessTokens, vouched });

  const sweeping = setInterval(() => {
    tokens.sweep().catch(() => undefined);
  }, sweepMs).unref();

  const fromCache = (credentials: Credentials, everSince = false): Principal | undefined => {
    const token = tokenOf(credentials);
    if (token !== undefined) return byToken.fromCache(token, credentials, everSince);
    const caller = credentials.authorization === '' ? undefined : basic.kept(credentials.authorization, everSince);
    return caller && byPassword(caller);
  };

  const reload = async (before: Known): Promise<Known> => {
    await upToDate();
    const cachedAccount = vouched.unlessGone(await verified.loadLike(before));
    if (!cachedAccount) throw unauthenticated('The account may no longer log in, or not with this name and password');
    return cachedAccount;
  };

  const slowly = async (credentials: Credentials): Promise<Principal> => {
    const token = tokenOf(credentials);
    if (token === undefined && credentials.authorization === '')
      throw unauthenticated('Log in: HTTP Basic, or a token');
    if (token === undefined) return byPassword(await basic.verify(credentials.authorization, credentials.address));
    await upToDate();
    return byToken.load(token, credentials);
  };

  const onProvider = (): void => {
    providers.providerChanged();
    vouching.providerChanged();
    accessTokens.providerChanged();
  };
  const notify = byCategory({ login: tokens.onEvent, token: apiTokens.onEvent, provider: onProvider });

  const verify = verifierOf(basic);

  return {
    /** Categories of the streams whose events must be passed to `onStored` and `onEvent`. */
    categories: concerning,
    /**
     * The caller; throws `unauthenticated`, or `limited` after too many failures. Not a promise when nothing has to be
     * waited for.
     */
    authenticate: (credentials: Credentials): Principal | Promise<Principal> =>
      fromCache(credentials) ?? slowly(credentials),
    /**
     * The caller, if they were verified at any time since the start and no event has changed their account since. Reads
     * only memory.
     */
    lastKnown: (credentials: Credentials): Principal | undefined => fromCache(credentials, true),
    /** The account with this user name and password. Attempts are limited like every login. */
    verify,
    /** The token that a client gets for its name and secret. Attempts with passwords are limited like every login. */
    grantToken: clientCredentials({ node, apiTokens, logins: tokens, settings, callerOf: slowly, verify }),
    /** The account of an HTTP Basic header. Attempts are limited like every login. */
    byBasic: (authorization: string, address: string): Known | Promise<Known> =>
      basic.kept(authorization) ?? basic.verify(authorization, address),
    /**
     * The account verified before, as it is now. It checks no password. Throws `unauthenticated` if the credentials no
     * longer hold.
     */
    again: (before: Known): Known | Promise<Known> => vouched.unlessGone(verified.keptLike(before)) ?? reload(before),
    /**
     * The account with this id as it is now, with its rights; undefined if it is deleted or inactive. For the key of a caller
     * who sent a token (`callerKey`): with the token's rights; undefined if it has ended.
     */
    accountNow: async (key: string): Promise<Principal | undefined> => {
      const { account: id, token } = callerIn(key);
      if (token !== undefined) {
        await upToDate();
        const entry = await apiTokens.byId(token);
        const owner = entry && vouched.unlessGone(await verified.loadAs(entry));
        return owner && entry.callerBy(owner);
      }
      const cachedAccount = changes.awaited(id) || changes.mappingsAwaited() ? undefined : accounts.fromCache(id);
      if (cachedAccount) return vouched.unlessGone(cachedAccount)?.principal;
      await upToDate();
      return vouched.unlessGone(await accounts.load(id))?.principal;
    },
    /** The rights of the account with this id as it is now, and the ways to them; undefined if there is no such account. */
    rightsOf: async (id: string) => {
      await upToDate();
      return accounts.rightsOf(id);
    },
    /** The answer of a provider about a person, with the groups of the platform that it would give them. */
    askProvider: providers.ask,
    /** Starts a login and gives its token. */
    logIn: ({ principal, credential }: Known, requestId: string): Promise<string> =>
      tokens.start({ actor: principal.actor, credential, requestId }),
    /** Logins of browsers by OpenID Connect. */
    browsers,
    /** Ends the login of a token, if there is one. */
    logOut: (token: string, requestId: string): Promise<void> => tokens.end(token, requestId),
    /** The token that a request's headers carry. */
    tokenIn: (authorization: string, cookies: string): string | undefined =>
      tokenOf({ authorization, cookie: cookieValue(cookies, settings().cookieName) }),
    /** The `Set-Cookie` header for a token; undefined deletes the cookie. */
    cookie: (token: string | undefined): string => cookieText(settings().cookieName, token, secure),
    /** Call with events as soon as they are stored. From then on, callers that they concern are verified anew. */
    onStored: (events: readonly EventNotice[]): void => {
      for (const event of events) {
        changes.onStored(event);
        notify(event);
      }
    },
    /** Call with the same events, from every node, once their documents can be read. */
    onEvent: (event: EventNotice): void => {
      accounts.onEvent(event);
      notify(event);
      changes.onShown(event);
    },
    /** How many wrong user names or passwords were sent. */
    failedLogins: basic.failed,
    /** Ends the logins that have reached the longest duration. It runs every ten minutes. */
    sweep: tokens.sweep,
    stop: (): void => clearInterval(sweeping),
  };
};

export type Authenticator = ReturnType<typeof authenticator>;

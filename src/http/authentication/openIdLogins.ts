import { createHmac, randomBytes } from 'node:crypto';
import { isObject, isWellFormed } from '@automation-platform/json';
import { loggedOutIn, vouchedFor } from '../../domain/authorization/oidcClaims.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Node } from '../../node.ts';
import { externalIds, externalKey } from '../../projections/authorization/accounts.ts';
import type { LoginAtIssuer, OpenId } from '../../southbound/port.ts';
import { cookieOf, cookieValue } from './cookies.ts';
import type { Issuers } from './issuers.ts';
import type { LoginSettings } from './principal.ts';
import { LoginRefused } from './refusals.ts';
import type { LoginTokens } from './tokens.ts';

/** An attempt to log in: its way back, and the secret of which its state, nonce, verifier and token are made. */
type Attempt = {
  readonly for: 'login by a provider';
  readonly provider: string;
  readonly secret: string;
  readonly returnTo: string;
  readonly ends: number;
};

/** A login that a browser did not begin, begins again, or that the provider does not vouch for. */
export class BrowserLoginRefused extends LoginRefused {
  constructor() {
    super('unauthenticated', 'This login did not begin in this browser, or took too long, or is used; log in again');
  }
}

const longestPath = 1_000;

/**
 * The path of this service where a browser goes after its login, as a browser would write it. Throws `invalid` for all
 * that could lead elsewhere.
 */
export const checkReturnTo = (returnTo: string): string => {
  const refuse = (): never => {
    throw new RequestError('invalid', 'It must be a path of this service: / and neither / nor \\ after it', {
      path: 'returnTo',
    });
  };
  if (!/^\/(?![/\\])[^\u0000-\u001f\u007f]*$/.test(returnTo) || !isWellFormed(returnTo)) return refuse();
  const { origin, pathname, search, hash } = new URL(returnTo, 'http://service');
  const written = pathname + search + hash;
  if (origin !== 'http://service' || written.startsWith('//') || written.length > longestPath) return refuse();
  return written;
};

/** A secret of one login, for one use. */
const secretFor = (secret: string, use: string): string =>
  createHmac('sha256', Buffer.from(secret, 'base64url')).update(use).digest('base64url');

const atIssuer = ({ secret }: Attempt): LoginAtIssuer => ({
  state: secretFor(secret, 'state'),
  nonce: secretFor(secret, 'nonce'),
  verifier: secretFor(secret, 'verifier'),
});

type Needs = {
  readonly node: Pick<Node, 'model' | 'seal' | 'unseal' | 'clock' | 'settled'>;
  readonly issuers: Issuers;
  readonly openId: OpenId;
  readonly logins: LoginTokens;
  readonly settings: () => LoginSettings;
  readonly secure: boolean;
};

/** Logins of browsers by OpenID Connect. Nothing is stored before the issuer has vouched for the person. */
export const openIdLogins = ({ node, issuers, openId, logins, settings, secure }: Needs) => {
  const { model, seal, unseal, clock } = node;
  // A browser takes such a name from this host alone, and not from one beside it.
  const cookieName = secure ? '__Host-oidc' : 'oidc';
  const seconds = (): number => settings().relayStateTimeout;

  const cookie = (value: string | undefined): string =>
    cookieOf({ name: cookieName, value, secure, sameSite: 'Lax', maxAge: seconds() });

  /** The attempt at the provider that this cookie holds. Throws `BrowserLoginRefused` if there is none, or its time is over. */
  const attemptIn = (cookies: string, provider: string): Attempt => {
    const $sealed = cookieValue(cookies, cookieName) ?? '';
    let attempt: unknown;
    try {
      attempt = JSON.parse(unseal({ $sealed, tag: '' }));
    } catch {
      throw new BrowserLoginRefused();
    }
    const { for: use, provider: at, ends } = isObject(attempt) ? attempt : {};
    if (use !== 'login by a provider' || at !== provider || !(Number(ends) >= clock.now()))
      throw new BrowserLoginRefused();
    return attempt as Attempt;
  };

  /** Starts the login of an account. Its token follows from the secret, so that a login that began once starts once. */
  const start = async (
    { secret }: Attempt,
    { principal, credential }: NonNullable<Awaited<ReturnType<Issuers['admit']>>>,
    requestId: string,
  ): Promise<string> => {
    const token = secretFor(secret, 'token');
    try {
      return await logins.start({ actor: { ...principal.actor, via: 'oidc' }, credential, requestId, token });
    } catch (error) {
      throw error instanceof RequestError && error.code === 'conflict' ? new BrowserLoginRefused() : error;
    }
  };

  return {
    /** The address at the issuer where a browser logs in, and the cookie by which this service knows it again. */
    begin: async (name: string, returnTo: string) => {
      const attempt: Attempt = {
        for: 'login by a provider',
        provider: name,
        secret: randomBytes(32).toString('base64url'),
        returnTo: checkReturnTo(returnTo),
        ends: clock.now() + seconds() * 1000,
      };
      await node.settled();
      const provider = await issuers.named(name);
      const location = await issuers.answerOf(provider, () => openId.loginUrl(provider, atIssuer(attempt)));
      return { location, cookie: cookie(seal(JSON.stringify(attempt)).$sealed) };
    },
    /** Ends in a login's token. Throws `BrowserLoginRefused`, or `ProviderSilent`. */
    finish: async (
      name: string,
      request: { readonly query: string; readonly cookies: string; readonly requestId: string },
    ) => {
      await node.settled();
      const provider = await issuers.named(name);
      const attempt = attemptIn(request.cookies, name);
      const claims = await issuers
        .answerOf(provider, () => openId.redeem(provider, atIssuer(attempt), request.query))
        .catch((error: unknown) => {
          throw error instanceof LoginRefused ? new BrowserLoginRefused() : error;
        });
      const person = vouchedFor(claims, provider.properties, 'idToken');
      const account = person && (await issuers.admit(provider, { person, claims }));
      if (!account) throw new BrowserLoginRefused();
      const token = await start(attempt, account, request.requestId);
      return { token, returnTo: attempt.returnTo, endOfAttempt: cookie(undefined) };
    },
    /** Ends all logins of the person whom the logout token of a provider names. */
    logOutPerson: async (name: string, token: string, requestId: string): Promise<void> => {
      const invalid = () => new RequestError('invalid', 'The logout token does not hold', { path: '/logout_token' });
      await node.settled();
      const provider = await issuers.named(name);
      const claims = await issuers
        .answerOf(provider, () => openId.verify(provider, token, provider.properties.clientId))
        .catch((error: unknown) => {
          throw error instanceof LoginRefused ? invalid() : error;
        });
      const sub = loggedOutIn(claims);
      if (sub === undefined) throw invalid();
      const [account] = await model.idsNamed(externalIds.collection, externalKey(name, sub));
      if (account !== undefined) await logins.endAll(account, requestId);
    },
  };
};

import { lruCache } from '@automation-platform/concurrency';
import { isObject } from '@automation-platform/json';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
} from 'openid-client';
import type { OidcProperties } from '../domain/authorization/oidcSchemas.ts';
import type { Sealed } from '../domain/engine/sealed.ts';
import { openSecrets } from '../domain/engine/secretFields.ts';
import { IssuerSilent, issuerFetch } from './issuerFetch.ts';
import type { Outbound } from './outbound.ts';
import type { LoginAtIssuer, OpenId } from './port.ts';

/** Keys and descriptions are read anew after this time, and used no longer than six such times. */
const freshMs = 10 * 60_000;
const longestMs = 6 * freshMs;
const retryMs = 10_000;
const unknownKeyMs = 60_000;

/**
 * Keeps what an issuer publishes. It is read anew in the background, so that nobody waits while the issuer is silent.
 * `now`: milliseconds by a clock that never jumps.
 */
export const keptReading = <T>(read: () => Promise<T>, now: () => number) => {
  let last: { readonly value: T; readonly since: number } | undefined;
  let triedAt = -Infinity;
  let renewedAt = -Infinity;
  let underWay: Promise<T> | undefined;

  const readNow = (): Promise<T> => {
    triedAt = now();
    underWay ??= read()
      .then((value) => {
        last = { value, since: now() };
        return value;
      })
      .finally(() => {
        underWay = undefined;
      });
    return underWay;
  };

  return {
    get: async (): Promise<T> => {
      const age = last ? now() - last.since : Infinity;
      if (!last || age > longestMs) return readNow();
      if (age > freshMs && now() - triedAt > retryMs) readNow().catch(() => undefined);
      return last.value;
    },
    /** Reads anew because something is missing in it; once a minute at most. */
    renew: async (): Promise<T | undefined> => {
      if (now() - renewedAt < unknownKeyMs) return undefined;
      renewedAt = now();
      return readNow();
    },
  };
};

const usualTimeoutMs = 5_000;
const skewSeconds = 60;
/** Asymmetric ones alone: with `none` everybody could sign, and with HMAC everybody who knows a public key. */
const algorithms: NonNullable<JWTVerifyOptions['algorithms']> = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
];

/** The issuer vouches for nobody here. The message says why, and is for logs alone. */
export class TokenRefused extends Error {}

/** Sends the secret as the issuer says that it takes it. */
const authenticateWith = (secret: string | undefined): ClientAuth => {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
};

/** The cause in an error of openid-client that says that the issuer was silent. */
const silenceIn = (error: unknown): IssuerSilent | undefined => {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++)
    if (at instanceof IssuerSilent) return at;
  return undefined;
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Issuers of OpenID Connect, with the documents that each of them publishes. */
export const openIdIssuers = (
  guard: Outbound,
  unseal: (sealed: Sealed) => string,
  /** Milliseconds of the time that tokens are compared with. */
  now: () => number,
  steady: () => number = () => performance.now(),
): OpenId => {
  const fetchOf = issuerFetch(guard);
  const issuers = lruCache<Issuer>(100);

  const issuerOf = ({ name, properties }: Parameters<OpenId['probe']>[0]): Issuer => {
    const key = JSON.stringify([name, properties]);
    const before = issuers.get(key);
    if (before) return before;
    const opened = openSecrets(properties, unseal) as OidcProperties;
    const issuer = openIssuer(opened, fetchOf(name, opened.timeout ?? usualTimeoutMs), steady);
    issuers.set(key, issuer);
    return issuer;
  };

  const claimsIn = async (issuer: Issuer, token: string, audience: string): Promise<JWTPayload> => {
    const options: JWTVerifyOptions = {
      issuer: issuer.properties.issuer,
      audience,
      algorithms,
      clockTolerance: skewSeconds,
      currentDate: new Date(now()),
      requiredClaims: ['exp', 'iat'],
    };
    const by = async (keys: ReturnType<typeof createLocalJWKSet>) => (await jwtVerify(token, keys, options)).payload;
    try {
      const payload = await by(await issuer.keys.get()).catch(async (error: unknown) => {
        const renewed = error instanceof errors.JWKSNoMatchingKey ? await issuer.keys.renew() : undefined;
        if (!renewed) throw error;
        return by(renewed);
      });
      if (Number(payload.iat) * 1000 > now() + skewSeconds * 1000) throw new TokenRefused('it comes from the future');
      return payload;
    } catch (error) {
      throw error instanceof errors.JOSEError ? new TokenRefused(error.message) : error;
    }
  };

  return {
    probe: async (provider) => {
      await issuerOf(provider).keys.get();
    },
    loginUrl: async (provider, { state, nonce, verifier }) => {
      const { client, properties } = issuerOf(provider);
      return buildAuthorizationUrl(await client.get(), {
        redirect_uri: properties.redirectUri,
        scope: [...new Set(['openid', ...(properties.scopes ?? ['profile', 'email'])])].join(' '),
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state,
        nonce,
      }).href;
    },
    redeem: async (provider, login, querystring) => {
      const issuer = issuerOf(provider);
      const { clientId } = issuer.properties;
      try {
        const { idToken, userInfo } = await redeemCode(issuer, login, querystring);
        // The token came over TLS from the issuer; its signature says besides that this issuer has made it.
        return { ...(await userInfo()), ...(await claimsIn(issuer, idToken, clientId)) };
      } catch (error) {
        throw silenceIn(error) ?? new TokenRefused(messageOf(error));
      }
    },
    verify: async (provider, token, audience) => claimsIn(issuerOf(provider), token, audience),
  };
};

/** Redeems the code in the query of the callback. */
const redeemCode = async (
  { client, properties }: Issuer,
  { state, nonce, verifier }: LoginAtIssuer,
  querystring: string,
) => {
  const { redirectUri, usernameClaim = 'preferred_username', groupsClaim } = properties;
  const config = await client.get();
  const tokens = await authorizationCodeGrant(config, new URL(`${redirectUri}?${querystring}`), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  const idToken = tokens.id_token;
  if (!claims || idToken === undefined) throw new TokenRefused('there is no ID token');
  const isComplete = [usernameClaim, groupsClaim].every((claim) => claim === undefined || Object.hasOwn(claims, claim));
  const isThere = config.serverMetadata().userinfo_endpoint !== undefined;
  return {
    idToken,
    /** Many issuers say names and groups there alone. */
    userInfo: async () => (isComplete || !isThere ? {} : fetchUserInfo(config, tokens.access_token, claims.sub)),
  };
};

type Fetch = ReturnType<ReturnType<typeof issuerFetch>>;
type Issuer = ReturnType<typeof openIssuer>;

const openIssuer = (properties: OidcProperties, fetch: Fetch, now: () => number) => {
  const { issuer, clientId, clientSecret } = properties;

  const readClient = async (): Promise<Configuration> => {
    const metadata = { [clockTolerance]: skewSeconds };
    const config = await discovery(new URL(issuer), clientId, metadata, authenticateWith(clientSecret), {
      [customFetch]: fetch,
      execute: issuer.startsWith('http:') ? [allowInsecureRequests] : [],
      timeout: 3600,
    }).catch((error: unknown) => {
      throw silenceIn(error) ?? new IssuerSilent(`${issuer}: ${messageOf(error)}`);
    });
    const { issuer: named } = config.serverMetadata();
    if (named !== issuer) throw new IssuerSilent(`${issuer}: it says that it is another issuer`);
    return config;
  };
  const client = keptReading(readClient, now);

  const readKeys = async () => {
    const { jwks_uri: url } = (await client.get()).serverMetadata();
    if (url === undefined) throw new IssuerSilent(`${issuer}: it publishes no keys`);
    if (!url.startsWith('https:') && !issuer.startsWith('http:'))
      throw new IssuerSilent(`${issuer}: its keys are not behind TLS`);
    const answer = await fetch(url, { method: 'GET', headers: {} });
    const keys: unknown = await answer.json().catch(() => undefined);
    if (!answer.ok || !isKeySet(keys)) throw new IssuerSilent(`${url}: these are no keys`);
    return createLocalJWKSet(keys);
  };
  return { properties, client, keys: keptReading(readKeys, now) };
};

const isKeySet = (value: unknown): value is JSONWebKeySet =>
  isObject(value) && Array.isArray(value.keys) && value.keys.every(isObject);

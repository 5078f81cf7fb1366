import { lruCache, sharing } from '@automation-platform/concurrency';
import { decodeJwt } from 'jose';
import { isNoAccessToken, vouchedFor } from '../../domain/authorization/oidcClaims.ts';
import type { OidcProvider } from '../../projections/authorization/providers.ts';
import type { OpenId } from '../../southbound/port.ts';
import type { Issuers } from './issuers.ts';
import { keyedDigest } from './keyedDigest.ts';
import { callerOf, cameBy, type Known, type LoginSettings, type Principal } from './principal.ts';
import type { Proof, VerifiedAccounts } from './principals.ts';
import { LoginRefused, ProviderSilent } from './refusals.ts';

/** An access token that was verified; times in milliseconds. */
type Verified = {
  readonly proof: Proof;
  readonly since: number;
  readonly ends: number;
  readonly callerBy: (owner: Known) => Principal;
};

type Needs = {
  readonly issuers: Issuers;
  readonly openId: OpenId;
  readonly accounts: VerifiedAccounts;
  readonly settings: () => LoginSettings;
  readonly now: () => number;
};

const refusal = (): LoginRefused => new LoginRefused('unauthenticated', 'The access token does not hold');

/** The issuer that the token names, before anything of it is checked. */
const issuerIn = (token: string): unknown => {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
};

/**
 * Verifies the access tokens of issuers. One that holds is kept for `principalTimeout` as a keyed digest, whose key is lost
 * with the process.
 */
export const accessTokens = ({ issuers, openId, accounts, settings, now }: Needs) => {
  const entries = lruCache<Verified>(20_000);
  const checks = sharing<Principal>();
  const keyed = keyedDigest();
  // If this number changes during a check, a provider may have changed since.
  let changes = 0;

  const admitBy = async (provider: OidcProvider, token: string): Promise<Verified & { readonly account: Known }> => {
    const { clientId, audience = clientId } = provider.properties;
    const since = now();
    const claims = await issuers.answerOf(provider, () => openId.verify(provider, token, audience));
    const person = isNoAccessToken(claims) ? undefined : vouchedFor(claims, provider.properties, 'accessToken');
    const saidAt = (Number(claims.iat) + 1) * 1000;
    const account = person && (await issuers.admit(provider, { person, claims, saidAt }));
    if (!account) throw refusal();
    const { principal, credential } = account;
    const proof = { account: principal.actor.id, credential };
    const ends = Number(claims.exp) * 1000;
    const callerBy = callerOf((owner) => ({ ...cameBy(owner, 'oidc'), hasEnded: () => ends <= now() }));
    return { account, proof, since, ends, callerBy };
  };

  const check = async (token: string): Promise<Principal> => {
    const before = changes;
    const named = issuerIn(token);
    let failure: unknown = refusal();
    for (const provider of await issuers.enabledOnes()) {
      if (provider.properties.apiTokens !== true || provider.properties.issuer !== named) continue;
      try {
        const { account, ...entry } = await admitBy(provider, token);
        if (before === changes) entries.set(keyed(token), entry);
        return entry.callerBy(account);
      } catch (error) {
        // One that does not answer might have let them in.
        if (!(failure instanceof ProviderSilent)) failure = error;
      }
    }
    throw failure;
  };

  return {
    /** The caller by a token that was verified before. Does not wait. */
    fromCache: (token: string, everSince = false): Principal | undefined => {
      const entry = entries.get(keyed(token));
      if (!entry || entry.ends <= now()) return undefined;
      if (!everSince && entry.since + settings().principalTimeout * 60_000 <= now()) return undefined;
      const account = accounts.keptAs(entry.proof, everSince);
      return account && entry.callerBy(account);
    },
    /** The caller by a token. Throws `unauthenticated`, or `ProviderSilent`. */
    verify: (token: string): Promise<Principal> => checks(keyed(token), () => check(token)),
    /** Call when a provider has changed. */
    providerChanged: (): void => {
      changes++;
      entries.clear();
    },
  };
};

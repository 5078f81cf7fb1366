import { groupsIn } from '../../domain/authorization/oidcClaims.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Node } from '../../node.ts';
import { type OidcProvider, type Provider, providers as stored } from '../../projections/authorization/providers.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import type { Claims, Person } from '../../southbound/port.ts';
import type { Known } from './principal.ts';
import type { ProviderLogins } from './providerLogins.ts';
import { ProviderSilent } from './refusals.ts';

type Vouched = {
  readonly person: Omit<Person, 'dn' | 'memberOf'>;
  readonly claims: Claims;
  /** When the issuer has said so, in milliseconds; now unless given. */
  readonly saidAt?: number;
};

const isOidcProvider = (provider: Provider): provider is OidcProvider => provider.type === 'oidc';

/** The enabled providers of OpenID Connect, and the accounts of those whom they vouch for. */
export const issuers = ({ model }: Pick<Node, 'model'>, providers: ProviderLogins) => ({
  enabledOnes: async (): Promise<readonly OidcProvider[]> => (await providers.enabledOnes()).filter(isOidcProvider),
  /** The enabled provider of this name. Throws `not_found`. */
  named: async (name: string): Promise<OidcProvider> => {
    const provider = await documentOf(model, stored, name);
    if (!provider?.enabled || !isOidcProvider(provider))
      throw new RequestError('not_found', `No enabled provider of OpenID Connect is named ${JSON.stringify(name)}`);
    return provider;
  },
  answerOf: providers.answerOf,
  /** The account of a person or client; undefined if they may not have one. */
  admit: async (provider: OidcProvider, { person, claims, saidAt }: Vouched): Promise<Known | undefined> => {
    const externalGroups = groupsIn(claims, provider.properties);
    if (!externalGroups) throw new ProviderSilent(provider.name);
    // They came by this provider and no other, as those do who log in as `provider\name`.
    return providers.admit(provider, { person, externalGroups, isQualified: true, via: 'oidc', saidAt });
  },
});

export type Issuers = ReturnType<typeof issuers>;

import type { OidcProperties } from '../../domain/authorization/oidcSchemas.ts';
import type { LdapProperties } from '../../domain/authorization/providerSchemas.ts';
import { type ProviderContent, provider } from '../../domain/authorization/providers.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { authorship, projection, touched } from '../engine/define.ts';

type Common = Omit<ProviderContent, 'type' | 'properties'> & { readonly name: string } & Authored;

/** The properties are as their schema says, but for secrets: they are sealed. */
export type LdapProvider = Common & { readonly type: 'ldap'; readonly properties: LdapProperties };
export type OidcProvider = Common & { readonly type: 'oidc'; readonly properties: OidcProperties };
export type Provider = LdapProvider | OidcProvider;

export const providers = projection<Provider>()(provider, {
  collection: 'providers',
  on: {
    providerCreated: (_, event) => ({ ...event.data, ...authorship(event) }) as Provider,
    providerUpdated: (doc, event) => doc && ({ ...doc, ...event.data, ...touched(event) } as Provider),
    providerDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name, type: (doc) => doc.type, enabled: (doc) => String(doc.enabled) },
});

import type { LdapProperties } from '../../domain/authorization/providerSchemas.ts';
import { type ProviderContent, provider } from '../../domain/authorization/providers.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { made, projection, touched } from '../engine/define.ts';

export type Provider = Omit<ProviderContent, 'properties'> & {
  readonly name: string;
  /** As its schema says, but for secrets: they are sealed. */
  readonly properties: LdapProperties;
} & Authored;

export const providers = projection<Provider>()(provider, {
  collection: 'providers',
  on: {
    providerCreated: (_, event) => ({ ...event.data, ...made(event) }) as Provider,
    providerUpdated: (doc, event) => doc && ({ ...doc, ...event.data, ...touched(event) } as Provider),
    providerDeleted: () => undefined,
  },
  sorts: { name: (doc) => doc.name },
  filters: { name: (doc) => doc.name, type: (doc) => doc.type, enabled: (doc) => String(doc.enabled) },
});

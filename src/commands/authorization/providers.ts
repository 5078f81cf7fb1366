import {
  newProviderSchema,
  type ProviderProperties,
  providerPatchSchema,
} from '../../domain/authorization/providerSchemas.ts';
import {
  create,
  type ProviderState,
  provider,
  remove,
  sealProperties,
  update,
} from '../../domain/authorization/providers.ts';
import { externalIds } from '../../projections/authorization/accounts.ts';
import { commandsOf, type Tools } from '../engine/define.ts';

const command = commandsOf(provider);

/** The lock of logins that take an account over for a provider, and of its deletion: a provider with accounts stays. */
export const accountsOfProvider = (name: string): string => `provider-${name}`;

type Asked = { readonly state: ProviderState; readonly input: { readonly properties?: ProviderProperties } };

const prepare = async ({ state, input: { properties } }: Asked, { seal }: Tools) => ({
  properties: () => properties && sealProperties(state, properties, seal),
  accounts: 0,
});

export const createProvider = command({
  name: 'createProvider',
  input: newProviderSchema,
  on: 'new',
  prepare,
  decide: create,
});
export const updateProvider = command({
  name: 'updateProvider',
  input: providerPatchSchema,
  on: 'existing',
  prepare,
  decide: update,
});
export const deleteProvider = command({
  name: 'deleteProvider',
  on: 'existing',
  locks: ({ content }, _, id) => (content ? accountsOfProvider(id) : undefined),
  prepare: async ({ id }, { count }) => ({
    properties: () => undefined,
    accounts: await count(externalIds, { field: 'provenance', op: 'equals', value: id }),
  }),
  decide: remove,
});

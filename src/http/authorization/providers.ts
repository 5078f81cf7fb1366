import { Type } from 'typebox';
import { createProvider, deleteProvider, updateProvider } from '../../commands/authorization/providers.ts';
import { providerSchema, providerTestSchema } from '../../domain/authorization/providerSchemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { providers } from '../../projections/authorization/providers.ts';
import { documentIn } from '../../projections/engine/documents.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { signed } from './people.ts';

const usual = resourceRoutes({
  noun: 'provider',
  path: '/providers',
  one: '/providers/:name',
  documents: providers,
  schema: providerSchema,
  read: [],
  change: [],
  key: ({ name = '' }) => name,
  join: async (doc, service, call) => maskSecrets(await signed(doc, service, call)),
});

/** Authentication providers. A caller who may change them can log in as anybody, so they are for admins alone. */
export const providerRoutes: readonly Route[] = [
  usual.list({ name: 'getProviders', summary: 'List authentication providers' }),
  usual.create({
    name: 'createProvider',
    summary: 'Create an authentication provider',
    description:
      'From now on people log in with the name and password that the directory has, or at the issuer. Their groups come from ' +
      'group mappings with its name as provenance. bindPassword and clientSecret are kept sealed.',
    command: createProvider,
    key: (_, body) => body.name,
  }),
  usual.get({ name: 'getProvider', summary: 'Get an authentication provider' }),
  usual.update({
    name: 'updateProvider',
    summary: 'Change an authentication provider, or disable it',
    description:
      'properties are replaced as a whole. ******** keeps bindPassword, unless urls, startTls or ca change, and clientSecret, ' +
      'unless issuer changes: then it must be sent again.',
    command: updateProvider,
  }),
  usual.remove({
    name: 'deleteProvider',
    summary: 'Delete an authentication provider that has no accounts',
    description: 'One that has accounts is 409: it can be disabled.',
    command: deleteProvider,
  }),
  actionRoute({
    name: 'testProvider',
    method: 'post',
    path: '/providers/:name/test',
    access: [],
    summary: 'Ask an authentication provider about a person',
    description:
      'Nothing is stored. A provider that does not answer is 502, with the reason. An issuer cannot be asked about a person: ' +
      'found is false then.',
    body: providerTestSchema,
    answer: Type.Object(
      {
        found: Type.Boolean({ description: 'True if exactly one person has the name' }),
        authenticated: Type.Union([Type.Boolean(), Type.Null()], {
          description: 'True if the password is theirs; null: none was sent, or nobody is found',
        }),
        username: Type.Union([Type.String(), Type.Null()], { description: 'Name at the provider' }),
        externalGroups: Type.Array(Type.String(), {
          description: 'Groups at the provider; none with a wrong password',
        }),
        platformGroups: Type.Array(Type.String(), { description: 'Groups that the group mappings give for them' }),
      },
      { title: 'ProviderTestResult', description: 'Answer of an authentication provider about a person' },
    ),
    run: async ({ params, actor, body }, { entryById, auth }) => {
      const provider = documentIn(providers, await entryById(providers, params.name, actor));
      return { body: await auth.askProvider(provider, body) };
    },
  }),
];

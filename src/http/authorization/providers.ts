import { Type } from 'typebox';
import { createProvider, deleteProvider, updateProvider } from '../../commands/authorization/providers.ts';
import { providerSchema, providerTestSchema } from '../../domain/authorization/providerSchemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { type Provider, providers } from '../../projections/authorization/providers.ts';
import { documentIn } from '../../projections/engine/documents.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Join, Params, Route } from '../engine/route.ts';
import { actionRoute, commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';
import { signed } from './people.ts';

const path = '/providers/:name';
const key = ({ name = '' }: Params) => name;
const join: Join<Provider> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

/** Authentication providers. A caller who may change them can log in as anybody, so they are for admins alone. */
export const providerRoutes: readonly Route[] = [
  listRoute({
    name: 'getProviders',
    method: 'get',
    path: '/providers',
    access: [],
    summary: 'List authentication providers',
    list: providers,
    join,
    envelope: results,
    answer: listed(providerSchema),
  }),
  commandRoute({
    name: 'createProvider',
    method: 'post',
    path: '/providers',
    access: [],
    summary: 'Create an authentication provider',
    description:
      'From now on people log in with the name and password that the directory has, or at the issuer. Their groups come from ' +
      'group mappings with its name as provenance. bindPassword and clientSecret are kept sealed.',
    command: createProvider,
    key: (_, body) => body.name,
    join,
    envelope: withStatus(() => 'Successfully created provider'),
    answer: changed(providerSchema),
  }),
  getRoute({
    name: 'getProvider',
    method: 'get',
    path,
    access: [],
    summary: 'Get an authentication provider',
    get: providers,
    key,
    join,
    envelope: plain,
    answer: providerSchema,
  }),
  commandRoute({
    name: 'updateProvider',
    method: 'patch',
    path,
    access: [],
    summary: 'Change an authentication provider, or disable it',
    description:
      'properties are replaced as a whole. ******** keeps bindPassword, unless urls, startTls or ca change, and clientSecret, ' +
      'unless issuer changes: then it must be sent again.',
    command: updateProvider,
    key,
    join,
    envelope: withStatus(() => 'Successfully updated provider'),
    answer: changed(providerSchema),
  }),
  commandRoute({
    name: 'deleteProvider',
    method: 'delete',
    path,
    access: [],
    summary: 'Delete an authentication provider that has no accounts',
    description: 'One that has accounts is 409: it can be disabled.',
    command: deleteProvider,
    key,
    join,
    envelope: withStatus(() => 'Successfully deleted provider'),
    answer: changed(providerSchema),
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
        found: Type.Boolean({ description: 'Whether exactly one person has the name' }),
        authenticated: Type.Union([Type.Boolean(), Type.Null()], {
          description: 'Whether the password is theirs; null: none was sent, or nobody is found',
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

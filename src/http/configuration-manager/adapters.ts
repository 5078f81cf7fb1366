import { createAdapter, deleteAdapter, replaceAdapter } from '../../commands/configuration-manager/adapters.ts';
import { adapterSchema } from '../../domain/configuration-manager/adapterSchemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { type Adapter, adapters } from '../../projections/configuration-manager/adapters.ts';
import { signed } from '../authorization/people.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Join, Params, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';

const path = '/adapters/:name';
const key = ({ name = '' }: Params) => name;
const join: Join<Adapter> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

/** Adapters: the ways to devices. */
export const adapterRoutes: readonly Route[] = [
  listRoute({
    name: 'getAdapters',
    method: 'get',
    path: '/adapters',
    access: ['operators', 'readers'],
    summary: 'List adapters',
    list: adapters,
    join,
    envelope: results,
    answer: listed(adapterSchema),
  }),
  commandRoute({
    name: 'createAdapter',
    method: 'post',
    path: '/adapters',
    access: ['operators'],
    summary: 'Create an adapter',
    description: 'Secrets in its properties are kept sealed.',
    command: createAdapter,
    key: (_, body) => body.name,
    join,
    envelope: withStatus(() => 'Successfully created adapter'),
    answer: changed(adapterSchema),
  }),
  getRoute({
    name: 'getAdapter',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get an adapter',
    get: adapters,
    key,
    join,
    envelope: plain,
    answer: adapterSchema,
  }),
  commandRoute({
    name: 'updateAdapter',
    method: 'put',
    path,
    access: ['operators'],
    summary: 'Replace an adapter',
    description:
      'Members that are left out are removed. ******** keeps a secret, unless baseUrl or hostKey change: then it must be ' +
      'sent again.',
    command: replaceAdapter,
    key,
    join,
    envelope: withStatus(() => 'Successfully updated adapter'),
    answer: changed(adapterSchema),
  }),
  commandRoute({
    name: 'deleteAdapter',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete an adapter',
    description: 'Its devices are known no longer.',
    command: deleteAdapter,
    key,
    join,
    envelope: withStatus(() => 'Successfully deleted adapter'),
    answer: changed(adapterSchema),
  }),
];

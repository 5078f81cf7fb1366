import {
  createCredential,
  deleteCredential,
  replaceCredential,
} from '../../commands/configuration-manager/credentials.ts';
import { credentialSchema } from '../../domain/configuration-manager/credentialSchemas.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { type DeviceCredential, deviceCredentials } from '../../projections/configuration-manager/credentials.ts';
import { signed } from '../authorization/people.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Join, Params, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';

const path = '/credentials/:name';
const key = ({ name = '' }: Params) => name;
const join: Join<DeviceCredential> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

/** Logins to devices, which adapters and nodes of inventories name (docs/southbound.md). */
export const credentialRoutes: readonly Route[] = [
  listRoute({
    name: 'getCredentials',
    method: 'get',
    path: '/credentials',
    access: ['operators', 'readers'],
    summary: 'List credentials of devices',
    list: deviceCredentials,
    join,
    envelope: results,
    answer: listed(credentialSchema),
  }),
  commandRoute({
    name: 'createCredential',
    method: 'post',
    path: '/credentials',
    access: ['operators'],
    summary: 'Create a credential of devices',
    description: 'Its secrets are kept sealed. Only members of its groups see it and may name it.',
    command: createCredential,
    key: (_, body) => body.name,
    join,
    envelope: withStatus(() => 'Successfully created credential'),
    answer: changed(credentialSchema),
  }),
  getRoute({
    name: 'getCredential',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get a credential of devices',
    get: deviceCredentials,
    key,
    join,
    envelope: plain,
    answer: credentialSchema,
  }),
  commandRoute({
    name: 'updateCredential',
    method: 'put',
    path,
    access: ['operators'],
    summary: 'Replace a credential of devices',
    description: 'Members that are left out are gone. ******** keeps a secret.',
    command: replaceCredential,
    key,
    join,
    envelope: withStatus(() => 'Successfully updated credential'),
    answer: changed(credentialSchema),
  }),
  commandRoute({
    name: 'deleteCredential',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a credential of devices that is not used',
    description: '409 names the adapters and inventories that name it.',
    command: deleteCredential,
    key,
    join,
    envelope: withStatus(() => 'Successfully deleted credential'),
    answer: changed(credentialSchema),
  }),
];

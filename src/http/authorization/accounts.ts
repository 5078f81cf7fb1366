import { Type } from 'typebox';
import { createAccount, deleteAccount, updateAccount } from '../../commands/authorization/accounts.ts';
import { accountPatchSchema, newAccountSchema } from '../../domain/authorization/accounts.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { name } from '../../domain/engine/schemas.ts';
import { accounts } from '../../projections/authorization/accounts.ts';
import { externalGroupsSchema, mappingsOf } from '../authentication/externalGroups.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute, mappedCommandRoute } from '../engine/routes.ts';
import { changed, listed, orWrapped } from '../engine/schemas.ts';

const { password: _, type, ...shown } = newAccountSchema.properties;

const names = (description: string) => Type.Array(name('Name'), { description });
const accountSchema = Type.Object(
  {
    _id: objectId('Id of the account'),
    ...Type.Required(Type.Object(shown)).properties,
    type,
    memberOf: names('Groups that the account belongs to'),
    created: authored.created,
    lastUpdated: authored.lastUpdated,
  },
  { title: 'Account', description: 'Account; its password is never shown' },
);
const path = '/accounts/:id';

/** Accounts. A caller who may change accounts can give themselves any right, so `operators` may not. */
export const accountRoutes: readonly Route[] = [
  listRoute({
    name: 'getAccounts',
    method: 'get',
    path: '/accounts',
    access: ['readers'],
    summary: 'List accounts',
    list: accounts,
    envelope: results,
    answer: listed(accountSchema),
  }),
  mappedCommandRoute({
    name: 'createAccount',
    method: 'post',
    path: '/accounts',
    access: [],
    summary: 'Create an account',
    description:
      'A local account. Groups and roles that are not there are 404, naming all. The password is kept as a ' +
      'hash and never shown. A service account has none, and logs in by tokens alone (createToken).',
    command: createAccount,
    ...orWrapped('account', newAccountSchema),
    envelope: withStatus(() => 'Successfully created account'),
    answer: changed(accountSchema),
  }),
  getRoute({
    name: 'getAccount',
    method: 'get',
    path,
    access: ['readers'],
    summary: 'Get an account',
    description: 'mappings says what each external group gives to the account, or why it gives nothing.',
    get: accounts,
    join: async (doc, service) => ({ ...doc, mappings: await mappingsOf(doc, service) }),
    envelope: plain,
    answer: Type.Object(
      { ...accountSchema.properties, mappings: externalGroupsSchema.mappings },
      { title: 'AccountInDetail', description: 'Account, and what its external groups give' },
    ),
  }),
  mappedCommandRoute({
    name: 'updateAccount',
    method: 'patch',
    path,
    access: [],
    summary: 'Change an account, or set its password',
    description: "A new password ends the account's logins. The last active account that is an admin stays one: 409.",
    command: updateAccount,
    ...orWrapped('account', accountPatchSchema),
    envelope: withStatus(() => 'Successfully updated account'),
    answer: changed(accountSchema),
  }),
  commandRoute({
    name: 'deleteAccount',
    method: 'delete',
    path,
    access: [],
    summary: 'Delete an account',
    description: 'Its logins end. The last active account that is an admin stays: 409.',
    command: deleteAccount,
    envelope: withStatus(() => 'Successfully deleted account'),
    answer: changed(accountSchema),
  }),
];

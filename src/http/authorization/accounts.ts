import { Type } from 'typebox';
import { createAccount, deleteAccount, updateAccount } from '../../commands/authorization/accounts.ts';
import { accountPatchSchema, newAccountSchema } from '../../domain/authorization/accounts.ts';
import { authored, objectId } from '../../domain/engine/authors.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { name } from '../../domain/engine/schemas.ts';
import { accounts } from '../../projections/authorization/accounts.ts';
import { externalGroupsSchema, mappingsOf } from '../authentication/externalGroups.ts';
import { waySchema } from '../authentication/ways.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { ActionRoute, AreaRoutes, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { orWrapped } from '../engine/schemas.ts';
import { callable } from './methods.ts';

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

const usual = resourceRoutes({
  noun: 'account',
  path: '/accounts',
  one: '/accounts/:id',
  documents: accounts,
  schema: accountSchema,
  read: ['readers'],
  change: [],
});

/** Accounts. A caller who may change accounts can give themselves any right, so `operators` may not. */
export const accountRoutes: readonly Route[] = [
  usual.list({ name: 'getAccounts', summary: 'List accounts' }),
  usual.create({
    name: 'createAccount',
    summary: 'Create an account',
    description:
      'A local account. Groups and roles that are not there are 404, naming all. The password is kept as a ' +
      'hash and never shown. A service account has none, and logs in by tokens alone (createToken).',
    command: createAccount,
    ...orWrapped('account', newAccountSchema),
  }),
  usual.get({
    name: 'getAccount',
    summary: 'Get an account',
    description: 'mappings says what each external group gives to the account, or why it gives nothing.',
    join: async (doc, service) => ({ ...doc, mappings: await mappingsOf(doc, service) }),
    answer: Type.Object(
      { ...accountSchema.properties, mappings: externalGroupsSchema.mappings },
      { title: 'AccountInDetail', description: 'Account, and what its external groups give' },
    ),
  }),
  usual.update({
    name: 'updateAccount',
    summary: 'Change an account, or set its password',
    description: "A new password ends the account's logins. The last active account that is an admin stays one: 409.",
    command: updateAccount,
    ...orWrapped('account', accountPatchSchema),
  }),
  usual.remove({
    name: 'deleteAccount',
    summary: 'Delete an account',
    description: 'Its logins end. The last active account that is an admin stays: 409.',
    command: deleteAccount,
  }),
];

const ways = (description: string) => Type.Array(waySchema, { description });

/** Explains what an account may do. `areas` gives all routes once the table is complete. */
export const accountRights = (areas: () => readonly AreaRoutes[]): ActionRoute =>
  actionRoute({
    name: 'getAccountRights',
    method: 'get',
    path: '/accounts/:id/rights',
    access: 'login',
    summary: 'Why an account may do what it may',
    description:
      "One's own; admins: those of every account. They are those of the account as it is now; a token may have less. " +
      'An inactive account has none.',
    answer: Type.Object(
      {
        admin: Type.Boolean(),
        adminBy: ways('How it comes that it is an admin; empty if it is none'),
        groups: Type.Array(Type.Object({ name: Type.String(), ways: ways('How the account comes into the group') }), {
          description: 'Built-in groups that it is a member of: each has rights of its own',
        }),
        roles: Type.Array(Type.Object({ name: Type.String(), ways: ways('How the account comes to the role') })),
        methods: Type.Record(Type.String(), Type.Array(Type.String()), {
          description: 'Names of the methods that may be called, by area',
        }),
      },
      { title: 'Rights', description: 'Rights of an account, and the ways by which it has them' },
    ),
    run: async ({ actor, params }, { tools, auth }) => {
      const id = await tools.find(accounts, params.id);
      if (!actor.admin && id !== actor.id)
        throw new RequestError('forbidden', 'Only admins see why others may do something');
      const found = id === undefined ? undefined : await auth.rightsOf(id);
      if (!found) throw new RequestError('not_found', 'No account has this id or name', { path: 'id' });
      const { principal, adminBy, groups, roles } = found;
      if (!principal) return { body: { admin: false, adminBy: [], groups: [], roles: [], methods: {} } };
      return { body: { admin: principal.actor.admin, adminBy, groups, roles, methods: callable(areas(), principal) } };
    },
  });

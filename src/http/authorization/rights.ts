import { Type } from 'typebox';
import { RequestError } from '../../domain/engine/requestError.ts';
import { accounts } from '../../projections/authorization/accounts.ts';
import { waySchema } from '../authentication/ways.ts';
import type { ActionRoute, AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { callable } from './methods.ts';

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
      const { principal, adminBy, roles } = found;
      if (!principal) return { body: { admin: false, adminBy: [], roles: [], methods: {} } };
      return { body: { admin: principal.actor.admin, adminBy, roles, methods: callable(areas(), principal) } };
    },
  });

import { Type } from 'typebox';
import { setPassword } from '../../commands/authorization/accounts.ts';
import { account, passwordSchema } from '../../domain/authorization/accounts.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { externalGroupsOf, externalGroupsSchema } from '../authentication/externalGroups.ts';
import type { ActionRoute, AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { requestOf } from '../engine/serve.ts';
import { callable } from './methods.ts';

const whoami = (areas: () => readonly AreaRoutes[]): ActionRoute =>
  actionRoute({
    name: 'whoami',
    method: 'get',
    path: '/whoami',
    access: 'login',
    summary: 'The caller, and the operations they may call',
    description: 'By the groups, roles and group mappings of the caller as they are now.',
    answer: Type.Object(
      {
        id: Type.String(),
        username: Type.String(),
        provenance: Type.String(),
        firstname: Type.String(),
        via: Type.String({
          description: 'How the caller has shown who they are: password, cookie, token, ldap or oidc',
        }),
        token: Type.Optional(Type.String({ description: 'Id of the token that was sent' })),
        groups: Type.Array(Type.Object({ name: Type.String(), provenance: Type.String() })),
        roles: Type.Array(Type.String()),
        ...externalGroupsSchema,
        methods: Type.Record(Type.String(), Type.Array(Type.String()), {
          description: 'Names of the methods that may be called, by area',
        }),
      },
      { title: 'Caller', description: 'The caller' },
    ),
    run: async ({ principal }, service) => {
      const caller = principal!; // the route is not open, so there is a caller
      const { actor, firstname, groups, roles } = caller;
      const { id, username, provenance, via, token } = actor;
      const methods = callable(areas(), caller);
      const external = await externalGroupsOf(id, service);
      return { body: { id, username, provenance, firstname, via, token, groups, roles, ...external, methods } };
    },
  });

const changePassword = actionRoute({
  name: 'changePassword',
  method: 'post',
  path: '/whoami/password',
  access: 'login',
  summary: "Change one's own password",
  description: 'Ends all logins of the account. A wrong old password is 403 and counts as a failed login.',
  body: Type.Object(
    { old: Type.String({ description: 'The password so far', maxLength: 1024 }), new: passwordSchema },
    { additionalProperties: false },
  ),
  answer: Type.Object({ status: Type.Literal('OK'), message: Type.String(), data: Type.Null() }),
  run: async (call, service) => {
    const { actor, address, body } = call;
    const about = requestOf('changePassword', call, service);
    // In a retry the old password is no longer valid, so it is not checked.
    const again = about.idempotency && (await service.retries.answered(account, actor.id, about.idempotency.key));
    if (!again)
      await service.auth.verify({ username: actor.username, password: body.old }, address).catch((error) => {
        throw error instanceof RequestError && error.code === 'unauthenticated'
          ? new RequestError('forbidden', 'The old password is wrong', { path: '/old' })
          : error;
      });
    const { position, replayed } = await service.handle(setPassword, {
      ...about,
      id: actor.id,
      input: { password: body.new },
    });
    return { body: { status: 'OK', message: 'Successfully changed password', data: null }, position, replayed };
  },
});

/**
 * Operations on the caller's own account, at the root and in the authorization area. `areas` gives all routes once the
 * table is complete.
 */
export const whoamiRoutes = (areas: () => readonly AreaRoutes[]): readonly ActionRoute[] => [
  whoami(areas),
  changePassword,
];

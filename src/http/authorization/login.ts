import { Type } from 'typebox';
import type { ActionRoute, AreaRoutes } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { orWrapped } from '../engine/schemas.ts';
import { grantToken } from './oauth.ts';
import { whoamiRoutes } from './whoami.ts';

const userSchema = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 256 }),
    password: Type.String({ minLength: 1, maxLength: 1024 }),
  },
  { additionalProperties: false, title: 'User', description: 'Who logs in' },
);

const user = orWrapped('user', userSchema);

const login = actionRoute({
  name: 'login',
  method: 'post',
  path: '/login',
  access: 'open',
  summary: 'Log in for a token',
  description:
    'The answer is the token, which is also set as a cookie. It is accepted as that cookie or as ' +
    'Authorization: Bearer.',
  body: user.body,
  answer: Type.String({ contentMediaType: 'text/plain', description: 'The token' }),
  run: async ({ body, address, requestId }, { auth }) => {
    const token = await auth.logIn(await auth.verify(user.input(undefined, body), address), requestId);
    return {
      text: token,
      type: 'text/plain; charset=utf-8',
      headers: { 'Set-Cookie': auth.cookie(token), 'Cache-Control': 'no-store' },
    };
  },
});

const logout = actionRoute({
  name: 'logout',
  method: 'post',
  path: '/logout',
  access: 'open',
  summary: 'End the login whose token is sent',
  description: 'The token comes as cookie or as Authorization: Bearer. Without one that is known nothing happens.',
  answer: Type.Object({ status: Type.Literal('OK'), message: Type.String(), data: Type.Null() }),
  run: async (call, { auth }) => {
    const token = auth.tokenIn(call.header('authorization') ?? '', call.header('cookie') ?? '');
    if (token !== undefined) await auth.logOut(token, call.requestId);
    return {
      body: { status: 'OK', message: 'Successfully logged out', data: null },
      headers: { 'Set-Cookie': auth.cookie(undefined) },
    };
  },
});

/**
 * Login and logout, at the root and in the authorization area. Against forged requests from other sites, the cookie is
 * SameSite=Strict, and bodies must be JSON, which no form of another site can send.
 */
export const loginRoutes: readonly ActionRoute[] = [login, logout];

/** Login and the caller's own account at the root, where clients look for them first. */
export const rootLoginRoutes = (areas: () => readonly AreaRoutes[]): AreaRoutes => ({
  area: 'service',
  prefix: '',
  routes: [...loginRoutes, grantToken, ...whoamiRoutes(areas)],
});

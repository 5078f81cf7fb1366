import { Type } from 'typebox';
import { RequestError } from '../../domain/engine/requestError.ts';
import { basicBytes, type UserPassword } from '../authentication/basicLogins.ts';
import { LoginRefused } from '../authentication/refusals.ts';
import type { ActionRoute, AreaRoutes, Call } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { orWrapped } from '../engine/schemas.ts';
import { getLoginOptions } from './loginOptions.ts';
import { whoamiRoutes } from './whoami.ts';

const text = (description: string) => Type.Optional(Type.String({ description, maxLength: 1024 }));

const bodySchema = Type.Object(
  {
    grant_type: text('client_credentials'),
    client_id: text('Username of the account, unless HTTP Basic has it'),
    client_secret: Type.Optional(
      Type.String({
        description: 'One of its tokens, or the password of a person, unless HTTP Basic has it',
        maxLength: 1024,
        writeOnly: true,
      }),
    ),
  },
  { additionalProperties: true, title: 'TokenRequest', description: 'Request of a client for a token (RFC 6749)' },
);

const invalid = (error: string, message: string, path: string): RequestError =>
  new RequestError('invalid', message, { path, members: { error } });

/** Names and secrets are encoded before they go into the header (RFC 6749, 2.3.1). */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part.replaceAll('+', ' '));
  } catch {
    throw invalid('invalid_request', 'Name and secret are percent-encoded in HTTP Basic', 'Authorization');
  }
};

const basicIn = (header: string | undefined): UserPassword | undefined => {
  const bytes = basicBytes(header ?? '');
  if (bytes === undefined) return undefined;
  const [name = '', ...secret] = bytes.toString('utf8').split(':');
  return { username: decoded(name), password: decoded(secret.join(':')) };
};

type Asked = { readonly client_id?: string; readonly client_secret?: string };

const clientIn = ({ header, body }: Call<string, Asked>): UserPassword => {
  const { client_id: username, client_secret: password } = body;
  const basic = password === undefined ? basicIn(header('authorization')) : undefined;
  if (basic) return basic;
  if (!username) throw invalid('invalid_request', 'The name of an account is missing', '/client_id');
  if (!password) throw invalid('invalid_request', 'The secret is missing', '/client_secret');
  return { username, password };
};

/** It sets no cookie, so a form of another site gains nothing by it. */
const grantToken: ActionRoute = actionRoute({
  name: 'grantToken',
  method: 'post',
  path: '/oauth/token',
  access: 'open',
  summary: 'Get a token as clients of OAuth do',
  description:
    'Grant client_credentials. client_id is the name of an account, and client_secret one of its tokens, which is the answer. With ' +
    'the password of a person the answer is the token of a login. 401 has the member error: invalid_client.',
  form: true,
  body: bodySchema,
  answer: Type.Object(
    {
      access_token: Type.String({ description: 'To be sent as Authorization: Bearer' }),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Integer({ description: 'Seconds until it ends; for a login, without use' }),
    },
    { title: 'GrantedToken', description: 'Token for a client' },
  ),
  run: async (call, { auth }) => {
    const { body, address, requestId } = call;
    if (body.grant_type === undefined) throw invalid('invalid_request', 'grant_type is missing', '/grant_type');
    if (body.grant_type !== 'client_credentials')
      throw invalid('unsupported_grant_type', 'grant_type must be client_credentials', '/grant_type');
    const { token, expiresIn } = await auth.grantToken(clientIn(call), address, requestId).catch((error: unknown) => {
      if (!(error instanceof RequestError) || error.code !== 'unauthenticated') throw error;
      const account = error instanceof LoginRefused ? error.account : undefined;
      throw new LoginRefused('unauthenticated', error.message, { account, members: { error: 'invalid_client' } });
    });
    return {
      body: { access_token: token, token_type: 'Bearer', expires_in: expiresIn },
      headers: { 'Cache-Control': 'no-store' },
    };
  },
});

const userSchema = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 256 }),
    password: Type.String({ minLength: 1, maxLength: 1024 }),
  },
  { additionalProperties: false, title: 'User', description: 'The name and the password of an account' },
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
  routes: [...loginRoutes, getLoginOptions, grantToken, ...whoamiRoutes(areas)],
});

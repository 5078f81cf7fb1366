import { Type } from 'typebox';
import { RequestError } from '../../domain/engine/requestError.ts';
import { basicBytes, LoginRefused, type UserPassword } from '../authentication/basicLogins.ts';
import type { ActionRoute, Call } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';

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
export const grantToken: ActionRoute = actionRoute({
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

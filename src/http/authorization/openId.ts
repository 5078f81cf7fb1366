import { Type } from 'typebox';
import type { Answer, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';

const page = Type.String({ contentMediaType: 'text/html', description: 'A page that goes on by itself' });
const html = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** A page without code. The answers hold secrets of a login, so nobody keeps them. */
const pageTo = (url: string, headers: Answer['headers']): Answer => ({
  type: 'text/html; charset=utf-8',
  text: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Logging in</title><p><a href="${html(url)}">Go on</a></p></html>`,
  headers: {
    ...headers,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
  },
});

const text = (description: string) => Type.String({ description });

/** Logins of browsers by OpenID Connect: they begin here, and the issuer sends them back here. */
export const openIdRoutes: readonly Route[] = [
  actionRoute({
    name: 'beginProviderLogin',
    method: 'get',
    path: '/oidc/:provider/login',
    access: 'open',
    summary: 'Log in with a browser by a provider of OpenID Connect',
    description:
      'Leads the browser to the issuer (302), and sets a cookie by which the login is known again. The login must come back ' +
      'within relayStateTimeout of the active profile, once, in the same browser.',
    query: {
      returnTo: Type.String({
        default: '/',
        description: 'Path of this service where the browser goes afterwards',
        maxLength: 1000,
      }),
    },
    answer: page,
    run: async ({ params, query: { returnTo = '/' } }, { auth }) => {
      const { location, cookie } = await auth.browsers.begin(params.provider, returnTo);
      return { status: 302, ...pageTo(location, { Location: location, 'Set-Cookie': cookie }) };
    },
  }),
  actionRoute({
    name: 'finishProviderLogin',
    method: 'get',
    path: '/oidc/:provider/callback',
    access: 'open',
    summary: 'End of a login by a provider of OpenID Connect',
    description:
      'The issuer sends the browser here. The answer sets the cookie that login sets, and is a page that goes on to returnTo ' +
      'by itself. Every login that does not hold is 401, without a cookie and without WWW-Authenticate.',
    query: {
      code: Type.Optional(text('Code of the issuer')),
      state: Type.Optional(text('The state that the login began with')),
      iss: Type.Optional(text('The issuer')),
      error: Type.Optional(text('The reason why there is no code')),
    },
    foreignQuery: true,
    answer: page,
    run: async ({ params, querystring, header, requestId }, { auth }) => {
      const request = { query: querystring, cookies: header('cookie') ?? '', requestId };
      const { token, returnTo, endOfAttempt } = await auth.browsers.finish(params.provider, request);
      // The cookie is Strict: a redirect from elsewhere would not carry it, and a page of this service does.
      return pageTo(returnTo, { 'Set-Cookie': [auth.cookie(token), endOfAttempt], Refresh: `0; url=${returnTo}` });
    },
  }),
  actionRoute({
    name: 'endProviderLogins',
    method: 'post',
    path: '/oidc/:provider/backchannel-logout',
    access: 'open',
    summary: 'End the logins of a person at the word of a provider of OpenID Connect',
    description: 'The issuer sends a logout token with the sub of the person. It ends their logins on all nodes.',
    form: true,
    body: Type.Object(
      { logout_token: Type.String({ description: 'Logout token', minLength: 1 }) },
      {
        title: 'ProviderLogout',
        additionalProperties: true,
        description: 'Word of an issuer that a person has logged out',
      },
    ),
    answer: Type.Object({ status: Type.Literal('OK'), message: Type.String(), data: Type.Null() }),
    run: async ({ params, body, requestId }, { auth }) => {
      await auth.browsers.logOutPerson(params.provider, body.logout_token, requestId);
      const answer = { status: 'OK', message: 'Successfully ended the logins', data: null };
      return { body: answer, headers: { 'Cache-Control': 'no-store' } };
    },
  }),
];

/** How to log in: with a user name and a password, or with a token: one that was made for a script, or that of a login. */
export type Auth = { readonly username: string; readonly password: string } | { readonly token: string };

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** The header `Authorization`. */
export const authorizationOf = (auth: Auth): string =>
  'token' in auth ? `Bearer ${auth.token}` : `Basic ${base64(`${auth.username}:${auth.password}`)}`;

/**
 * The headers by which a request logs in. Without `auth` it is a page that sends it, and the browser adds the cookie:
 * `X-Requested-With` keeps the browser from asking for a password by itself.
 */
export const loginHeaders = (auth: Auth | undefined): Readonly<Record<string, string>> =>
  auth ? { Authorization: authorizationOf(auth) } : { 'X-Requested-With': 'automation-platform' };

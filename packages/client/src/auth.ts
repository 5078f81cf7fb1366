/** How to log in: with a user name and a password, or with a token: one that was made for a script, or that of a login. */
export type Auth = { readonly username: string; readonly password: string } | { readonly token: string };

/** The header `Authorization`. */
export const authorizationOf = (auth: Auth): string =>
  'token' in auth
    ? `Bearer ${auth.token}`
    : `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;

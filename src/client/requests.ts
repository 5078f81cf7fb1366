/** How to log in: with a user name and a password, or with the token of a login. */
export type Auth = { readonly username: string; readonly password: string } | { readonly token: string };

export const authorizationOf = (auth: Auth): string =>
  'token' in auth
    ? `Bearer ${auth.token}`
    : `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`;

export const addressOf = (url: string, path: string): string => url.replace(/\/+$/, '') + path;

/** Statuses after which the same request may succeed later. */
export const passing = new Set([408, 425, 429]);

/** What the platform says in the body of a refusal. */
export const messageIn = (text: string, status: number): string => {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Somebody else has answered.
  }
  return `The platform answers with status ${status}`;
};

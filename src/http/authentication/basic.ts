import { utf8 } from '../../store/utf8.ts';

const form = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
export type UserPassword = { readonly username: string; readonly password: string };

/**
 * The user name and password in an `Authorization: Basic` header, in UTF-8, split at the first colon; undefined when
 * the header is malformed or lacks one of the two.
 */
export const userPasswordIn = (authorization: string): UserPassword | undefined => {
  const encoded = form.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  try {
    const text = utf8.decode(Buffer.from(encoded, 'base64'));
    const colon = text.indexOf(':');
    return colon < 1 || colon === text.length - 1
      ? undefined
      : { username: text.slice(0, colon), password: text.slice(colon + 1) };
  } catch {
    return undefined;
  }
};

/** The `Authorization` header for a user name and password. */
export const basicOf = ({ username, password }: UserPassword): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

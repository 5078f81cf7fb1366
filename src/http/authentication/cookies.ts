type Cookie = {
  readonly name: string;
  /** Undefined deletes the cookie. */
  readonly value: string | undefined;
  readonly secure: boolean;
  readonly sameSite: 'Strict' | 'Lax';
  /** Seconds; until the browser ends unless given. */
  readonly maxAge?: number;
};

/** A `Set-Cookie` header. No script can read the cookie. */
export const cookieOf = ({ name, value, secure, sameSite, maxAge }: Cookie): string => {
  const age = value === undefined ? 0 : maxAge;
  return [
    `${name}=${value ?? ''}; Path=/; HttpOnly; SameSite=${sameSite}`,
    secure ? '; Secure' : '',
    age === undefined ? '' : `; Max-Age=${age}`,
  ].join('');
};

/** The `Set-Cookie` header that sets a token, or deletes the cookie (undefined). */
export const cookieText = (name: string, token: string | undefined, secure: boolean): string =>
  cookieOf({ name, value: token, secure, sameSite: 'Strict' });

/** The value of a cookie in a `Cookie` header; undefined if it is missing. */
export const cookieValue = (cookies: string, name: string): string | undefined =>
  cookies
    .split(';')
    .map((cookie) => cookie.trim())
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.slice(name.length + 1);

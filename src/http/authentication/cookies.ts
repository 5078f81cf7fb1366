/** The `Set-Cookie` header that sets a token, or deletes the cookie (undefined). */
export const cookieText = (name: string, token: string | undefined, secure: boolean): string =>
  [
    `${name}=${token ?? ''}; Path=/; HttpOnly; SameSite=Strict`,
    secure ? '; Secure' : '',
    token === undefined ? '; Max-Age=0' : '',
  ].join('');

/** The value of a cookie in a `Cookie` header; undefined if it is missing. */
export const cookieValue = (cookies: string, name: string): string | undefined =>
  cookies
    .split(';')
    .map((cookie) => cookie.trim())
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.slice(name.length + 1);

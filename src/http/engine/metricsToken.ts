import { hash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/**
 * Makes the function that tells whether an `Authorization` header carries the token. The comparison takes the same time
 * for every wrong token, so its duration reveals nothing about the token.
 */
export const bearerOf = (token: string | undefined): ((authorization: string) => boolean) => {
  if (token === undefined) return () => false;
  const expected = digest(token);
  return (authorization) => {
    const [, given] = /^bearer +(.+)$/i.exec(authorization) ?? [];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
};

import { hash } from 'node:crypto';

const form = /^apt_([0-9a-f]{24})_[A-Za-z0-9_-]{43}_[0-9a-f]{6}$/;

const sumOf = (body: string): string => hash('sha256', body, 'hex').slice(0, 6);

/**
 * The text of a token: secret scanners know it by its beginning. The sum at its end tells a typing error without a
 * look-up.
 */
export const tokenText = (id: string, secret: string): string => {
  const body = `apt_${id}_${secret}`;
  return `${body}_${sumOf(body)}`;
};

/** The id in the text of a token; undefined if no token has this text. */
export const tokenIdIn = (token: string): string | undefined => {
  const id = form.exec(token)?.[1];
  return id !== undefined && sumOf(token.slice(0, -7)) === token.slice(-6) ? id : undefined;
};

/** The digest that is stored of a token. A token has 256 random bits, so nobody finds it by its digest. */
export const tokenHash = (token: string): string => hash('sha256', token, 'hex');

import { hash } from 'node:crypto';

/** Returns a UUID. The same text always gives the same UUID. */
export const derivedUuid = (text: string): string => {
  const digest = hash('sha256', text, 'hex');
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
};

/** Returns an id of 24 hex digits. The same text always gives the same id. */
export const derivedId = (text: string): string => hash('sha256', text, 'hex').slice(0, 24);

import { hash, randomBytes } from 'node:crypto';

/** Makes the function that gives keyed digests of credentials. Its key is lost with the process. */
export const keyedDigest = (): ((credential: string) => string) => {
  // A hash of key and text mostly needs HMAC: otherwise a digest can be continued to that of a longer text, without the
  // key. SHA-512/256 needs none, because its digest is only a part of the state that this would take.
  const key = randomBytes(32).toString('hex');
  return (credential) => hash('sha512-256', key + credential, 'base64url');
};

import { createPublicKey, verify } from 'node:crypto';

/** Whether a signature is by an Ed25519 key: both in base64. False for what is no key or no signature. */
export const isSignedBy = (key: string, text: string, signature: string): boolean => {
  try {
    const x = Buffer.from(key, 'base64').toString('base64url');
    const known = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), known, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
};

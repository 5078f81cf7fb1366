import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';

/** A key that signs. `key` is the raw public key in base64, as events have it. */
export type SigningKey = { readonly key: string; readonly sign: (text: string) => string };

/** The key that signs, and earlier ones that are at hand and can vouch for it. */
export type SigningKeys = { readonly own: SigningKey; readonly earlier: readonly SigningKey[] };

const rawOf = (key: KeyObject): string => {
  const { x = '' } = (key.type === 'public' ? key : createPublicKey(key)).export({ format: 'jwk' });
  return Buffer.from(x, 'base64url').toString('base64');
};

const signingKey = (pem: string): SigningKey => {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('it is no Ed25519 key');
  return { key: rawOf(key), sign: (text) => sign(null, Buffer.from(text), key).toString('base64') };
};

const block = /-----BEGIN [A-Z ]+-----[\s\S]*?-----END [A-Z ]+-----/g;

/** The private keys in a PEM text. The first one signs. Throws an Error that quotes nothing of the text. */
export const keysInPem = (text: string): readonly SigningKey[] => {
  const blocks = text.match(block) ?? [];
  if (blocks.length === 0) throw new Error('has no private key in PEM');
  try {
    return blocks.map(signingKey);
  } catch (cause) {
    throw new Error('has a private key that is not an Ed25519 key in PEM without a password', { cause });
  }
};

/** A new key as PEM. */
export const newKey = (): string =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey;

/** The text that a signature of a digest is over. */
export const digestText = (events: number, digest: string): string =>
  `automation-platform digest 1\n${events}\n${digest}`;

/** The text that the signatures of a change of keys are over. `old` is '' where the old key was not at hand. */
export const keyChangeText = (old: string, changed: string): string => `automation-platform key 1\n${old}\n${changed}`;

/** True if a signature is by a key: both in base64. False for what is no key or no signature. */
export const isSignedBy = (key: string, text: string, signature: string): boolean => {
  try {
    const x = Buffer.from(key, 'base64').toString('base64url');
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
};

/** The fingerprint that people compare instead of a key. */
export const fingerprintOf = (key: string): string => `SHA256:${hash('sha256', Buffer.from(key, 'base64'), 'base64')}`;

/** The raw public key, in base64, of a text: the key itself, or PEM of a public or private key. */
export const publicKeyIn = (keyText: string): string => {
  if (Buffer.from(keyText, 'base64').length === 32 && !keyText.includes('-')) return keyText.trim();
  try {
    const key = createPublicKey(keyText);
    if (key.asymmetricKeyType === 'ed25519') return rawOf(key);
  } catch {
    // It is no PEM.
  }
  throw new Error('is neither an Ed25519 key in PEM, nor a raw public key in base64, nor a file with one');
};

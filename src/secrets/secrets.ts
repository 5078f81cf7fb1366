import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, brotliDecompress, brotliDecompressSync, constants } from 'node:zlib';
import { RequestError } from '../domain/engine/requestError.ts';
import type { Sealed } from '../domain/engine/sealed.ts';
import { makeKeyFile, textIn } from '../store/keyFile.ts';

const compress = promisify(brotliCompress);
const decompress = promisify(brotliDecompress);
/** The best quality takes thirty times as long, and saves a tenth. */
const quality = 6;

/** Texts up to this length, and their packed forms, are done at once: the way to another thread takes longer. */
const [short, shortPacked] = [16 * 1024, 2 * 1024];

const pack = (text: string): Buffer | Promise<Buffer> => {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  };
  return text.length <= short ? brotliCompressSync(text, { params }) : compress(text, { params });
};
const unpack = async (packed: Buffer): Promise<string> =>
  (packed.length <= shortPacked ? brotliDecompressSync(packed) : await decompress(packed)).toString();

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;
const leastCharacters = 16;

const derived = (key: Uint8Array, use: string): KeyObject =>
  createSecretKey(new Uint8Array(hkdfSync('sha256', key, '', `automation-platform ${use}`, 32)));

const hmac = (key: KeyObject, text: string): string => createHmac('sha256', key).update(text).digest('base64url');

/** Seals secrets and makes keyed digests. Each purpose has a key of its own, derived from `key` (32 bytes). */
export const secrets = ({ key }: { readonly key: Uint8Array }) => {
  const [sealing, tagging, digesting] = [derived(key, 'seal'), derived(key, 'tag'), derived(key, 'digest')];
  const seal = (secret: Buffer, tagged: string): Sealed => {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv(algorithm, sealing, iv);
    const text = Buffer.concat([iv, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return { $sealed: text.toString('base64url'), tag: hmac(tagging, tagged) };
  };
  const unseal = ({ $sealed }: Sealed): Buffer => {
    const text = Buffer.from($sealed, 'base64url');
    try {
      const decipher = createDecipheriv(algorithm, sealing, text.subarray(0, ivBytes), { authTagLength: tagBytes });
      decipher.setAuthTag(text.subarray(-tagBytes));
      return Buffer.concat([decipher.update(text.subarray(ivBytes, -tagBytes)), decipher.final()]);
    } catch (cause) {
      throw new RequestError(
        'unprocessable',
        'A stored secret cannot be opened: it was sealed with another key. Set it again',
        { cause },
      );
    }
  };
  return {
    /**
     * Seals a secret for events and documents. The sealed text differs each time; the tag of a secret is always the
     * same.
     */
    seal: (secret: string): Sealed => seal(Buffer.from(secret), secret),
    /** Opens a sealed secret. Throws `unprocessable` if another key sealed it, or if it was tampered with. */
    unseal: (sealed: Sealed): string => unseal(sealed).toString(),
    /** Seals a long text, compressed before. */
    sealPacked: async (text: string): Promise<Sealed> => seal(await pack(text), text),
    /** Opens what `sealPacked` has sealed. Throws as `unseal` does. */
    unsealPacked: async (sealed: Sealed): Promise<string> => unpack(unseal(sealed)),
    /** Keyed digest, base64url. Equal texts have equal digests. Without the key nobody can test guesses. */
    digest: (text: string): string => hmac(digesting, text),
  };
};

export type Secrets = ReturnType<typeof secrets>;

const keyBytes = 32;

/**
 * The key of a setting: `base64:` and the content of a key file, or a key derived from at least 16 characters. Throws
 * an Error for other texts.
 */
export const keyOf = (setting: string): Uint8Array => {
  if (setting.startsWith('base64:')) {
    const key = Buffer.from(setting.slice('base64:'.length), 'base64');
    if (key.length !== keyBytes) throw new Error(`must have ${keyBytes} bytes after base64:, as a secret.key has them`);
    return key;
  }
  if ([...setting].length < leastCharacters) throw new Error(`must have at least ${leastCharacters} characters`);
  return new Uint8Array(hkdfSync('sha256', setting, '', 'automation-platform key', keyBytes));
};

const keyIn = (text: string, file: string): Uint8Array => {
  const key = Buffer.from(text, 'base64');
  if (key.length !== keyBytes) throw new Error(`SECRET_KEY is not set, and ${file} is not a key file of this service`);
  return key;
};

/** The key of the setting, else the key in the file; undefined if there is neither. */
export const givenKey = ({
  fromSetting,
  file,
}: {
  readonly fromSetting: string | undefined;
  readonly file: string;
}): Uint8Array | undefined => {
  if (fromSetting !== undefined) return keyOf(fromSetting);
  const text = textIn(file);
  return text === undefined ? undefined : keyIn(text, file);
};

/**
 * A check value of a key, which a log may contain. Two keys have the same check only if they are the same, and the
 * check does not reveal the key.
 */
export const checkOf = (key: Uint8Array): string => hmac(derived(key, 'check'), 'key of the log');

/**
 * Makes the key file (mode 0600) with a random key. The file appears complete or not at all. If two processes do so at
 * once, both use the key of the first.
 */
export const makeKey = (file: string): Uint8Array =>
  keyIn(makeKeyFile(file, `${randomBytes(keyBytes).toString('base64')}\n`), file);

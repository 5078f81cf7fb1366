import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { fairQueue } from './concurrency/fairQueue.ts';
import { RequestError } from './domain/engine/requestError.ts';

/** Parameters of scrypt: cost (2^ln), block size, parallelism. */
type Cost = { readonly ln: number; readonly r: number; readonly p: number };

const cost: Cost = { ln: 14, r: 8, p: 5 };
const saltBytes = 16;
const hashBytes = 32;
const atOnce = 2;
const mostWaiting = 1_000;
const mostBytes = 1024;
/** No address: whose turn it is when a password is set. */
const newPasswords = '';

// UTF-8 has no such byte.
const endMark = Buffer.from([0xff]);

/**
 * What is hashed of a password. Passwords that look the same are the same, however they were typed. scrypt fills short
 * ones up with NULs: a password that ends in one would be the same as without it, if its end were not marked.
 */
const plain = (password: string): Buffer => {
  const bytes = Buffer.from(password.normalize('NFC'));
  return bytes.at(-1) === 0 ? Buffer.concat([bytes, endMark]) : bytes;
};

const derive = (password: string, salt: Buffer, { ln, r, p }: Cost, length: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(plain(password), salt, length, { N: 2 ** ln, r, p, maxmem: 256 * 2 ** ln * r }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });

const written = ({ ln, r, p }: Cost, salt: Buffer, hash: Buffer): string =>
  `$scrypt$ln=${ln},r=${r},p=${p}$${salt.toString('base64')}$${hash.toString('base64')}`;

const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$/;

/**
 * Hashes passwords with scrypt (N=2^14, r=8, p=5), off the event loop, two at a time. Logins take turns by the address
 * that they come from; new passwords have a turn together. When too many wait: `limited`. A hash is one text with its
 * parameters and salt.
 */
export const passwords = () => {
  const full = () =>
    new RequestError('limited', 'Too many passwords to check at once; try again', { retryAfterSeconds: 5 });
  const { fairly } = fairQueue({ atOnce, mostWaiting, full });

  // Whoever asks for an account that is not there waits as long as for one that is.
  const nobody = written(cost, randomBytes(saltBytes), randomBytes(hashBytes));

  return {
    /** `invalid` above 1,024 bytes. */
    hashPassword: async (password: string): Promise<string> => {
      if (Buffer.byteLength(password) > mostBytes)
        throw new RequestError('invalid', `A password has at most ${mostBytes} bytes`, { path: '/password' });
      const salt = randomBytes(saltBytes);
      return written(cost, salt, await fairly(newPasswords, () => derive(password, salt, cost, hashBytes)));
    },
    /**
     * Whether it is the password of the hash; `from` says whose turn it takes. Without a hash: false, after the same
     * time.
     */
    verifyPassword: async (password: string, hashed: string | undefined, from: string): Promise<boolean> => {
      const [, ln, r, p, salt, hash] = form.exec(hashed ?? nobody) ?? [];
      if (salt === undefined || hash === undefined) throw new Error('Not a password hash');
      const known = Buffer.from(hash, 'base64');
      const costThen = { ln: Number(ln), r: Number(r), p: Number(p) };
      const found = await fairly(from, () => derive(password, Buffer.from(salt, 'base64'), costThen, known.length));
      return timingSafeEqual(found, known) && hashed !== undefined;
    },
  };
};

export type Passwords = ReturnType<typeof passwords>;

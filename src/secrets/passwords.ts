import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { fairQueue } from '@automation-platform/concurrency';
import { RequestError } from '../domain/engine/requestError.ts';

/** Parameters of scrypt: cost (2^ln), block size, parallelism. */
type Cost = { readonly ln: number; readonly r: number; readonly p: number };

const cost: Cost = { ln: 14, r: 8, p: 5 };
const saltBytes = 16;
const hashBytes = 32;
const atOnce = 2;
const mostWaiting = 1_000;
const mostBytes = 1024;
/** The key in the queue for new passwords. It is no address. */
const newPasswords = '';

// This byte never occurs in UTF-8.
const endMark = Buffer.from([0xff]);

/**
 * The bytes of a password that are hashed. Passwords that look the same give the same bytes, however they were typed.
 * scrypt pads short passwords with NULs, so a password that ends in a NUL gets a mark at its end. Without the mark it
 * would equal the password without the NUL.
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
 * Hashes passwords with scrypt (N=2^14, r=8, p=5), off the event loop, two at a time. Logins take turns by address; all
 * new passwords share one turn. Throws `limited` when too many wait. A hash is one text with its parameters and salt.
 */
export const passwords = () => {
  const full = () =>
    new RequestError('limited', 'Too many passwords to check at once; try again', { retryAfterSeconds: 5 });
  const { fairly } = fairQueue({ atOnce, mostWaiting, full });

  // For an unknown account this hash is checked, so that the answer takes as long as for a known one.
  const nobody = written(cost, randomBytes(saltBytes), randomBytes(hashBytes));

  return {
    /** Hashes a new password; throws `invalid` above 1,024 bytes. */
    hashPassword: async (password: string): Promise<string> => {
      if (Buffer.byteLength(password) > mostBytes)
        throw new RequestError('invalid', `A password has at most ${mostBytes} bytes`, { path: '/password' });
      const salt = randomBytes(saltBytes);
      return written(cost, salt, await fairly(newPasswords, () => derive(password, salt, cost, hashBytes)));
    },
    /**
     * True if the password matches the hash. `from` is the address whose turn it takes. Without a hash it gives false,
     * after the same time.
     */
    verifyPassword: async (password: string, hashed: string | undefined, from: string): Promise<boolean> => {
      const [, ln, r, p, salt, hash] = form.exec(hashed ?? nobody) ?? [];
      if (salt === undefined || hash === undefined) throw new Error('Not a password hash');
      const storedHash = Buffer.from(hash, 'base64');
      const costThen = { ln: Number(ln), r: Number(r), p: Number(p) };
      const found = await fairly(from, () =>
        derive(password, Buffer.from(salt, 'base64'), costThen, storedHash.length),
      );
      return timingSafeEqual(found, storedHash) && hashed !== undefined;
    },
  };
};

export type Passwords = ReturnType<typeof passwords>;

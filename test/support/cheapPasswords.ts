import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/*
 * scrypt at the cost of the platform's passwords costs next to nothing, in tests and in the processes that they start:
 * every service has a first account, and every test logs in. Hashes at other costs are those of scrypt.
 */
const real = { N: 2 ** 14, p: 5 };
const { scrypt } = crypto;

type Derived = (error: Error | null, key: Buffer) => void;

let isCheap = true;

/** Does something with scrypt as it is, for hashes that the platform itself has made. */
export const withRealPasswords = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  isCheap = false;
  return work().finally(() => {
    isCheap = true;
  });
};

/** The options of the calls of scrypt in this process. */
export const costs: ScryptOptions[] = [];

const cheap = (password: BinaryLike, salt: BinaryLike, length: number, options: ScryptOptions, derived: Derived) => {
  costs.push(options);
  const isOurs = isCheap && options.N === real.N && options.p === real.p;
  scrypt(password, salt, length, isOurs ? { N: 2, r: 1, p: 1 } : options, derived);
};

crypto.scrypt = cheap as typeof scrypt;
syncBuiltinESMExports();

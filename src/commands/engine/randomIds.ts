import { randomFillSync } from 'node:crypto';

const idBytes = 12;
// One call of the system for many ids: a call for each costs as much as all else that makes an id.
const pool = Buffer.allocUnsafeSlow(idBytes * 128);
let next = pool.length;

/** A new id: 24 hexadecimal digits. */
export const randomId = (): string => {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const id = pool.toString('hex', next, next + idBytes);
  next += idBytes;
  return id;
};

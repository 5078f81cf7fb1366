import { blockSize } from './sorted.ts';

/** One bit for each item of a block. V8 keeps 64 bytes in its own heap, where they are cheap to make and drop. */
export type Bits = Int32Array;

const words = blockSize / 32;

export const noBits = (): Bits => new Int32Array(words);

/** Bits of which the first `count` are set. */
export const firstBits = (count: number): Bits => {
  const bits = noBits().fill(-1, 0, count >>> 5);
  if (count % 32 > 0) bits[count >>> 5] = (1 << (count % 32)) - 1;
  return bits;
};

export const setBit = (bits: Bits, at: number): void => {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
};
export const hasBit = (bits: Bits, at: number): boolean => (((bits[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1;

/** Sets in `bits` all bits that are set in `more`. */
export const addBits = (bits: Bits, more: Bits): Bits => {
  for (let word = 0; word < words; word++) bits[word] = (bits[word] ?? 0) | (more[word] ?? 0);
  return bits;
};
/** Clears in `bits` all bits that are not set in `kept`. */
export const keepBits = (bits: Bits, kept: Bits): Bits => {
  for (let word = 0; word < words; word++) bits[word] = (bits[word] ?? 0) & (kept[word] ?? 0);
  return bits;
};
/** Clears in `bits` all bits that are set in `dropped`. */
export const dropBits = (bits: Bits, dropped: Bits): Bits => {
  for (let word = 0; word < words; word++) bits[word] = (bits[word] ?? 0) & ~(dropped[word] ?? 0);
  return bits;
};

/** How many bits are set. */
export const countBits = (bits: Bits): number => {
  let count = 0;
  for (let word = 0; word < words; word++) {
    let left = bits[word] ?? 0;
    left -= (left >>> 1) & 0x55555555;
    left = (left & 0x33333333) + ((left >>> 2) & 0x33333333);
    count += Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return count;
};

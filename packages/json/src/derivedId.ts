/*
 * Ids for parts of imported documents that have none, or none of this service's form. The same document gets the same
 * ids each time, so that its second import is no change. The hash is quick and no proof of anything.
 */

/** The id of a text: 24 hexadecimal digits. */
export const derivedId = (text: string): string => seeds.map((seed) => hashed(text, seed)).join('');

const seeds = [0x811c9dc5, 0x1b873593, 0x85ebca6b];

const hashed = (text: string, seed: number): string => {
  let sum = seed;
  for (let i = 0; i < text.length; i++) {
    sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
    sum ^= sum >>> 15;
  }
  sum = Math.imul(sum ^ (sum >>> 16), 0x7feb352d);
  sum = Math.imul(sum ^ (sum >>> 15), 0x846ca68b);
  return ((sum ^ (sum >>> 16)) >>> 0).toString(16).padStart(8, '0');
};

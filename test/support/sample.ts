/** Says which of many faults this run tries: FAULT_SEED, which CI takes from the commit. */
export const seed = Number(process.env.FAULT_SEED ?? 1) >>> 0;

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
export const numbers = (from: number) => (): number => {
  from = (from + 0x6d2b79f5) | 0;
  let mixed = Math.imul(from ^ (from >>> 15), 1 | from);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

/** So many of the items, in their order; all of them in `npm run soak`, or `inSoak` many. */
export const sampled = <T>(items: readonly T[], few: number, inSoak = Infinity): readonly T[] => {
  const most = process.env.SOAK_ROUNDS === undefined ? few : inSoak;
  if (items.length <= most) return items;
  const next = numbers(seed);
  const drawn = items
    .map((item, at) => ({ item, at, lot: next() }))
    .sort((a, b) => a.lot - b.lot)
    .slice(0, most);
  return drawn.sort((a, b) => a.at - b.at).map(({ item }) => item);
};

import type { GoldenLine, Section } from './golden.ts';
import { type DeviceSection, lowerBound } from './sections.ts';

/** A golden line and the places of the device's lines that it fits. */
export type Placed = { readonly line: GoldenLine; readonly places: readonly number[] };

/** `missing`: the golden line is written more often than the device has it. */
export type Standing = 'inPlace' | 'outOfPlace' | 'missing';

const takesPart = ({ line: { mode, anywhere } }: Placed): boolean => mode === 'required' && !anywhere;

/**
 * The ranks of the device's lines that the order is about, by place: all but those that fit only lines which take no
 * part in it.
 */
const ranksOf = ({ written }: DeviceSection, fits: readonly Placed[]): Int32Array => {
  const ranks = new Int32Array((written.at(-1) ?? -1) + 1);
  const elsewhere = new Uint8Array(ranks.length);
  for (const one of fits) if (!takesPart(one)) for (const place of one.places) elsewhere[place] = 1;
  for (const one of fits) if (takesPart(one)) for (const place of one.places) elsewhere[place] = 0;
  let rank = 0;
  for (const place of written) if (!elsewhere[place]) ranks[place] = rank++;
  return ranks;
};

/**
 * How the required lines of an ordered section stand, as often as they are written; lines without an entry are not
 * there, or take no part. Strict: the n-th of them is to be the n-th line of the device's section. Loose: each is to
 * stand after the last one that was in place.
 */
export const standings = (
  strict: boolean,
  { written }: Section,
  device: DeviceSection,
  fits: ReadonlyMap<string, Placed>,
): ReadonlyMap<string, readonly Standing[]> => {
  const ranks = ranksOf(device, [...fits.values()]);
  const found = new Map<string, { readonly ranks: readonly number[]; readonly stand: Standing[] }>();
  // The rank at which the next line is to stand, or that it is to reach.
  let next = 0;
  for (const text of written) {
    const one = fits.get(text);
    if (!one || !takesPart(one) || one.places.length === 0) continue;
    const line = found.get(text) ?? {
      ranks: one.places.map((place) => ranks[place] ?? 0).sort((a, b) => a - b),
      stand: [],
    };
    found.set(text, line);
    if (line.stand.length >= line.ranks.length) {
      line.stand.push('missing');
      continue;
    }
    const rank = line.ranks[lowerBound(line.ranks, next)];
    const isInPlace = strict ? rank === next : rank !== undefined;
    line.stand.push(isInPlace ? 'inPlace' : 'outOfPlace');
    if (strict) next++;
    else if (rank !== undefined) next = rank + 1;
  }
  return new Map([...found].map(([text, { stand }]) => [text, stand]));
};

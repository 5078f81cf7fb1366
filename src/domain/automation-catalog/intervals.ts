import { longest, unitLength } from '../operations-manager/repetition.ts';

const numbers = new Map(
  ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'].map((word, i) => [
    word,
    i + 1,
  ]),
);
numbers.set('a', 1).set('an', 1);

const lengths = new Map<string, number>(
  Object.entries({ sec: unitLength.second, min: unitLength.minute, hr: unitLength.hour, ...unitLength }),
);

/** The number that a word means; undefined if it means none. */
const numberOf = (word: string): number | undefined => (/^\d+(\.\d+)?$/.test(word) ? Number(word) : numbers.get(word));

/**
 * The milliseconds of a sum such as "3 hours and 15 minutes". A single number is in milliseconds. NaN if the text has
 * another form.
 */
const sumOf = (text: string): number => {
  const words = text
    .toLowerCase()
    .replaceAll(',', ' ')
    .split(/\s+/)
    .filter((word) => word !== '' && word !== 'and');
  const [first, ...others] = words;
  const alone = first !== undefined && others.length === 0 ? numberOf(first) : undefined;
  if (alone !== undefined) return alone;
  let [sum, quantity] = [0, undefined as number | undefined];
  for (const word of words) {
    const length = lengths.get(word) ?? lengths.get(word.replace(/s$/, ''));
    if (length !== undefined) [sum, quantity] = [sum + Math.round((quantity ?? 1) * length), undefined];
    else if (quantity === undefined && numberOf(word) !== undefined) quantity = numberOf(word);
    else return NaN;
  }
  return quantity === undefined ? sum : NaN;
};

/**
 * An interval in milliseconds, from a number or a text such as "1 day", "an hour" or "3 hours and 15 minutes".
 * Undefined for an interval without a fixed length (cron, months), with a part of a minute (90 seconds), or longer than
 * 5,200 weeks.
 */
export const intervalOf = (interval: number | string): number | undefined => {
  const milliseconds = typeof interval === 'number' ? interval : sumOf(interval);
  return milliseconds > 0 && milliseconds <= longest && milliseconds % unitLength.minute === 0
    ? milliseconds
    : undefined;
};

/** The interval as a number of the largest unit that divides it. */
export const inUnits = (
  milliseconds: number,
): { readonly repeatUnit: 'minute' | 'hour' | 'day' | 'week'; readonly repeatFrequency: number } => {
  const repeatUnit =
    (['week', 'day', 'hour'] as const).find((unit) => milliseconds % unitLength[unit] === 0) ?? 'minute';
  return { repeatUnit, repeatFrequency: milliseconds / unitLength[repeatUnit] };
};

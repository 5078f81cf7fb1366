import { RequestError } from '../engine/requestError.ts';

/** The comparators. `==` is the same as `=`. */
export const comparators = ['=', '==', '!=', '<', '<=', '>', '>='] as const;
export type Comparator = (typeof comparators)[number];

const longest = 1000;
// Digits within a text compare as numbers: 17.9.4 < 17.12.1, Gi0/2 < Gi0/10.
const natural = new Intl.Collator('en', { numeric: true });

const integer = /^[+-]?\d+$/;
const decimal = /^[+-]?\d+(\.\d+)?$/;
const grouped = /^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$/;

/** A number without its thousands separators. Other texts stay as they are. */
const plain = (text: string): string => (grouped.test(text) ? text.replaceAll(',', '') : text);

const order = (first: string, right: string): number => {
  if (first.length > longest || right.length > longest)
    throw new RequestError('unprocessable', `Values of more than ${longest} characters are not put in order`);
  if (integer.test(first) && integer.test(right))
    return Number(BigInt(first) > BigInt(right)) - Number(BigInt(first) < BigInt(right));
  const numbers = [first, right].filter((text) => decimal.test(text)).length;
  if (numbers === 2) return Number(first) - Number(right);
  if (numbers === 1 && !(/^\d/.test(first) && /^\d/.test(right)))
    throw new RequestError(
      'unprocessable',
      `${JSON.stringify(first)} and ${JSON.stringify(right)} cannot be put in order: only one is a number`,
    );
  return natural.compare(first, right);
};

/**
 * True if the comparison holds. Values are equal if they are the same text or the same integer. Integers of any size,
 * decimals and other texts have an order; digits within a text compare as numbers. A number and a text have no order:
 * throws `unprocessable`.
 */
export const compare = (a: string, comparator: Comparator, b: string): boolean => {
  const [left, right] = [plain(a), plain(b)];
  const equal = left === right || (integer.test(left) && integer.test(right) && order(left, right) === 0);
  switch (comparator) {
    case '=':
    case '==':
      return equal;
    case '!=':
      return !equal;
    case '<':
      return order(left, right) < 0;
    case '<=':
      return equal || order(left, right) <= 0;
    case '>':
      return order(left, right) > 0;
    case '>=':
      return equal || order(left, right) >= 0;
  }
};

/** True if `part` is at most `percentage` percent of `whole`. */
export const withinPercentage = (whole: string, part: string, percentage: number): boolean => {
  const [all, some] = [plain(whole), plain(part)];
  if (!decimal.test(all) || !decimal.test(some) || Number(all) === 0)
    throw new RequestError(
      'unprocessable',
      `${JSON.stringify(some)} is no part of ${JSON.stringify(all)} that a percentage can be told of`,
    );
  return (Number(some) / Number(all)) * 100 <= percentage;
};

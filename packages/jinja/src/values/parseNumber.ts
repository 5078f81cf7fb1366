import { valueError } from '../errors.ts';
import { textRepr } from './print.ts';
import { isSpace, strip } from './text.ts';

const mostDigits = 4300;
const floatForm =
  /^[-+]?(?:(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[-+]?\d+(?:_\d+)*)?|inf(?:inity)?|nan)$/i;

/** float(text) */
export const toFloatOf = (text: string): number => {
  const trimmed = strip(text, isSpace);
  if (!floatForm.test(trimmed)) throw valueError(`could not convert string to float: ${textRepr(text)}`);
  const lower = trimmed.toLowerCase();
  if (lower.endsWith('nan')) return NaN;
  if (lower.includes('n')) return lower.startsWith('-') ? -Infinity : Infinity;
  return Number(trimmed.replaceAll('_', ''));
};

const prefixes: ReadonlyMap<string, number> = new Map([
  ['0b', 2],
  ['0o', 8],
  ['0x', 16],
]);

/** The bases that JavaScript can read, with their prefixes. */
const prefixOf: ReadonlyMap<number, string> = new Map([
  [2, '0b'],
  [8, '0o'],
  [10, ''],
  [16, '0x'],
]);

const fromDigits = (digits: string, radix: number): bigint => {
  const prefix = prefixOf.get(radix);
  if (prefix !== undefined) return BigInt(prefix + digits);
  return [...digits].reduce((sum, digit) => sum * BigInt(radix) + BigInt(parseInt(digit, 36)), 0n);
};

/** int(text, base) */
export const toIntOf = (text: string, base: number): bigint => {
  const wrong = () => valueError(`invalid literal for int() with base ${base}: ${textRepr(text)}`);
  if (base !== 0 && (base < 2 || base > 36)) throw valueError('int() base must be >= 2 and <= 36, or 0');
  const trimmed = strip(text, isSpace).toLowerCase();
  const negative = trimmed.startsWith('-');
  let digits = /^[-+]/.test(trimmed) ? trimmed.slice(1) : trimmed;
  const prefixed = prefixes.get(digits.slice(0, 2));
  let radix = base;
  if (prefixed !== undefined && (base === prefixed || base === 0)) {
    radix = prefixed;
    digits = digits.slice(digits[2] === '_' ? 3 : 2);
  } else if (base === 0) {
    if (/^0[0_]*[1-9]/.test(digits)) throw wrong();
    radix = 10;
  }
  if (!/^[0-9a-z]+(?:_[0-9a-z]+)*$/.test(digits)) throw wrong();
  digits = digits.replaceAll('_', '');
  const power = radix === 2 || radix === 4 || radix === 8 || radix === 16 || radix === 32;
  if (!power && digits.length > mostDigits)
    throw valueError(
      `Exceeds the limit (${mostDigits} digits) for integer string conversion: value has ${digits.length} digits`,
    );
  if (power && digits.length > 200_000) throw valueError('int() of more than 200000 digits');
  if ([...digits].some((digit) => parseInt(digit, 36) >= radix)) throw wrong();
  const value = fromDigits(digits, radix);
  return negative ? -value : value;
};

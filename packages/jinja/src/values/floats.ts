/** Rounds a fraction of positive integers to an integer, half to even. */
const rounded = (numerator: bigint, denominator: bigint): bigint => {
  const quotient = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  return twice > denominator || (twice === denominator && quotient % 2n === 1n) ? quotient + 1n : quotient;
};

const bits = new DataView(new ArrayBuffer(8));

/** The exact value of a finite float >= 0 as a fraction. */
export const fractionOf = (value: number): readonly [numerator: bigint, denominator: bigint] => {
  bits.setFloat64(0, value);
  const all = bits.getBigUint64(0);
  const exponent = Number((all >> 52n) & 0x7ffn);
  const mantissa = (all & 0xfffffffffffffn) + (exponent === 0 ? 0n : 1n << 52n);
  const power = Math.max(exponent, 1) - 1075;
  return power >= 0 ? [mantissa << BigInt(power), 1n] : [mantissa, 1n << BigInt(-power)];
};

/**
 * A finite float >= 0, exactly rounded to a number of digits after the point. With negative `digits` it is rounded to
 * tens, hundreds and so on.
 */
export const fixed = (value: number, digits: number): string => {
  const [numerator, denominator] = fractionOf(value);
  if (digits <= 0) return String(rounded(numerator, denominator * 10n ** BigInt(-digits)) * 10n ** BigInt(-digits));
  const text = String(rounded(numerator * 10n ** BigInt(digits), denominator)).padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
};

/** The first `count` significant digits of a finite float >= 0, and the power of ten of the first digit. */
export const significant = (value: number, count: number): readonly [digits: string, exponent: number] => {
  if (value === 0) return ['0'.repeat(count), 0];
  const [numerator, denominator] = fractionOf(value);
  let exponent = Number(value.toExponential().split('e')[1]);
  for (;;) {
    const shift = count - 1 - exponent;
    const digits = String(
      shift >= 0
        ? rounded(numerator * 10n ** BigInt(shift), denominator)
        : rounded(numerator, denominator * 10n ** BigInt(-shift)),
    );
    if (digits.length === count) return [digits, exponent];
    exponent++;
  }
};

/** inf and nan, which are the same in all formats. */
export const notFinite = (value: number): string => {
  if (Number.isNaN(value)) return 'nan';
  return value > 0 ? 'inf' : '-inf';
};

/** An exponent as Python and C write it: at least two digits. */
export const exponentText = (exponent: number): string =>
  `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;

/** repr(float): the shortest digits that read back as the same number. */
export const floatRepr = (value: number): string => {
  if (!Number.isFinite(value)) return notFinite(value);
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const sign = value < 0 ? '-' : '';
  const [mantissa, power] = Math.abs(value).toExponential().split('e') as [string, string];
  const digits = mantissa.replace('.', '');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) return `${sign}${mantissa}e${exponentText(exponent)}`;
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
};

/** round(value, digits) of a float. */
export const roundFloat = (value: number, digits: number): number => {
  if (!Number.isFinite(value) || digits > 330) return value;
  if (digits < -310) return value * 0;
  const result = Number(fixed(Math.abs(value), digits));
  return value < 0 || Object.is(value, -0) ? -result : result;
};

/** The float nearest to the quotient of two ints. The divisor must not be 0. */
export const quotient = (a: bigint, b: bigint): number => {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isSafeInteger(x) && Number.isSafeInteger(y)) return x / y;
  const negative = a < 0n !== b < 0n;
  const [n, d] = [a < 0n ? -a : a, b < 0n ? -b : b];
  const shift = BigInt(66 - (n.toString(16).length - d.toString(16).length) * 4);
  const [top, bottom] = shift >= 0n ? [n << shift, d] : [n, d << -shift];
  // The last bit shows whether there is a remainder, so that rounding to 53 bits is right.
  const result = Number(((top / bottom) << 1n) | (top % bottom === 0n ? 0n : 1n)) * 2 ** -(Number(shift) + 1);
  return negative ? -result : result;
};

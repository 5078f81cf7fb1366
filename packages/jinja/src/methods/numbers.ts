import { bind } from '../values/arguments.ts';
import { fractionOf } from '../values/floats.ts';
import { callable, numberOf, type Run, tuple, type Value } from '../values/values.ts';

const methods: ReadonlyMap<string, (value: bigint | number) => Value | undefined> = new Map<
  string,
  (value: bigint | number) => Value | undefined
>([
  [
    'bit_length',
    (value) => {
      if (typeof value !== 'bigint') return undefined;
      if (value === 0n) return 0n;
      return BigInt((value < 0n ? -value : value).toString(2).length);
    },
  ],
  [
    'bit_count',
    (value) =>
      typeof value === 'bigint'
        ? BigInt((value < 0n ? -value : value).toString(2).replaceAll('0', '').length)
        : undefined,
  ],
  ['conjugate', (value) => value],
  ['is_integer', (value) => (typeof value === 'number' ? Number.isInteger(value) : undefined)],
  [
    'as_integer_ratio',
    (value) => {
      if (typeof value === 'bigint') return tuple([value, 1n]);
      if (!Number.isFinite(value)) return undefined;
      let [top, bottom] = fractionOf(Math.abs(value));
      while (bottom > 1n && top % 2n === 0n) [top, bottom] = [top / 2n, bottom / 2n];
      return tuple([value < 0 ? -top : top, bottom]);
    },
  ],
]);

/** Attributes and methods of int and float; undefined if there is none of this name. */
export const numberAttribute = (value: Value, name: string): Value | undefined => {
  const number = numberOf(value);
  if (number === undefined) return undefined;
  if (name === 'real') return number;
  if (name === 'imag') return typeof number === 'bigint' ? 0n : 0;
  if (typeof number === 'bigint' && name === 'numerator') return number;
  if (typeof number === 'bigint' && name === 'denominator') return 1n;
  const result = methods.get(name)?.(number);
  if (result === undefined) return undefined;
  return callable('builtin_function_or_method', `<built-in method ${name}>`, (_run: Run, args, kwargs) => {
    bind(name, [], args, kwargs);
    return result;
  });
};

import { canonical } from '@automation-platform/json';
import type { Ajv } from 'ajv';

type Spend = (steps: number) => void;

/**
 * Makes a validator compare values as JSON. ajv's own comparison calls members of values, so it throws if a value has a
 * member `toString` or `valueOf`. This one also accepts an empty `enum`, finds equal items in linear time, and divides
 * decimals exactly.
 */
export const compareAsJson = (ajv: Ajv, spend: Spend = () => undefined): void => {
  for (const keyword of ['const', 'enum', 'uniqueItems', 'multipleOf']) ajv.removeKeyword(keyword);
  ajv.addKeyword({
    keyword: 'const',
    compile: (value: unknown) => among([value], { keyword: 'const', params: { allowedValue: value } }, spend),
  });
  ajv.addKeyword({
    keyword: 'enum',
    schemaType: 'array',
    compile: (values: readonly unknown[]) =>
      among(values, { keyword: 'enum', params: { allowedValues: values } }, spend),
  });
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    error: { message: 'must not have the same item twice' },
    validate: (unique: boolean, items: readonly unknown[]) => !unique || areUnique(items, spend),
  });
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    error: { message: ({ schema }) => `must be multiple of ${schema}` },
    validate: (factor: number, value: number) => isMultiple(value, factor),
  });
};

type Fault = { readonly keyword: string; readonly params: object };
type Check = ((value: unknown) => boolean) & { errors?: Fault[] };

/** A check whether a value is one of the values; the fault is reported if it is not. */
const among = (values: readonly unknown[], { keyword, params }: Fault, spend: Spend): Check => {
  const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
  const scalars = new Set(values.filter((value) => !isObject(value)));
  const texts = new Set(values.filter(isObject).map(canonical));
  const check: Check = (value) => {
    if (!isObject(value)) return scalars.has(value) || fault();
    if (texts.size === 0) return fault();
    const text = canonical(value);
    spend(text.length >> 3);
    return texts.has(text) || fault();
  };
  const fault = (): false => {
    // A new object each time: ajv writes into it.
    check.errors = [{ keyword, params }];
    return false;
  };
  return check;
};

const areUnique = (items: readonly unknown[], spend: Spend): boolean => {
  const texts = new Set<string>();
  for (const item of items) {
    const text = canonical(item);
    spend(4 + (text.length >> 3));
    if (texts.size === texts.add(text).size) return false;
  }
  return true;
};

/** True if a number is a multiple of another one, computed with decimals: 19.99 is a multiple of 0.01. */
const isMultiple = (value: number, factor: number): boolean => {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(factor)) return value % factor === 0;
  const [dividend, divisor] = [decimalOf(value), decimalOf(factor)];
  const exponent = Math.min(dividend.exponent, divisor.exponent);
  const digitsOf = ({ digits, exponent: own }: Decimal): bigint => digits * 10n ** BigInt(own - exponent);
  return digitsOf(dividend) % digitsOf(divisor) === 0n;
};

type Decimal = { readonly digits: bigint; readonly exponent: number };

/** The number is digits * 10^exponent. */
const decimalOf = (value: number): Decimal => {
  const [number = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = number.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
};

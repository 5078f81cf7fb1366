import { PythonError, typeError, valueError } from '../errors.ts';
import { needInt, unusable } from '../values/arguments.ts';
import { getKey } from '../values/dicts.ts';
import { notFinite } from '../values/floats.ts';
import { intText, repr, str } from '../values/print.ts';
import { lengthOf, repeat, sliceText } from '../values/text.ts';
import {
  intOf,
  isDict,
  isTuple,
  isUndefined,
  numberOf,
  type Run,
  textOf,
  typeName,
  type Value,
} from '../values/values.ts';
import { checkedPrecision, floatForm, toFloat } from './spec.ts';

const conversion = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?(.)?/gsu;

type Conversion = { readonly flags: string; readonly precision: number | undefined; readonly form: string };

const signOf = (negative: boolean, flags: string): string => {
  if (negative) return '-';
  if (flags.includes('+')) return '+';
  return flags.includes(' ') ? ' ' : '';
};

type Parts = readonly [lead: string, body: string];

const floatParts = (value: Value, { flags, precision, form }: Conversion): Parts => {
  const number = numberOf(value);
  if (number === undefined) throw unusable(value, `must be real number, not ${typeName(value)}`);
  const float = toFloat(number);
  const lead = signOf(float < 0 || Object.is(float, -0), flags);
  const lower = form.toLowerCase();
  const body = Number.isFinite(float)
    ? floatForm(Math.abs(float), lower, precision ?? 6, flags.includes('#'))
    : notFinite(Math.abs(float));
  return [lead, form === lower ? body : body.toUpperCase()];
};

const prefixes: ReadonlyMap<string, string> = new Map([
  ['o', '0o'],
  ['x', '0x'],
  ['X', '0X'],
]);

const digitsOf = (size: bigint, form: string): string => {
  if (form === 'x' || form === 'X') return size.toString(16);
  return form === 'o' ? size.toString(8) : intText(size);
};

const intParts = (value: Value, { flags, precision, form }: Conversion): Parts => {
  const number = numberOf(value);
  const exact = 'xXo'.includes(form);
  if (number === undefined || (exact && typeof number === 'number'))
    throw typeError(`%${form} format: ${exact ? 'an integer' : 'a real number'} is required, not ${typeName(value)}`);
  if (Number.isNaN(number)) throw valueError('cannot convert float NaN to integer');
  if (typeof number === 'number' && !Number.isFinite(number))
    throw new PythonError('OverflowError', 'cannot convert float infinity to integer');
  const int = typeof number === 'bigint' ? number : BigInt(Math.trunc(number));
  const size = int < 0n ? -int : int;
  const digits = digitsOf(size, form).padStart(precision ?? 0, '0');
  const prefix = flags.includes('#') ? (prefixes.get(form) ?? '') : '';
  return [signOf(int < 0n, flags) + prefix, form === 'X' ? digits.toUpperCase() : digits];
};

const characterOf = (value: Value): string => {
  const text = textOf(value);
  const int = intOf(value);
  if (int === undefined) {
    if (text === undefined || lengthOf(text) !== 1) throw typeError('%c requires int or char');
    return text;
  }
  if (int < 0n || int > 0x10ffffn) throw new PythonError('OverflowError', '%c arg not in range(0x110000)');
  return String.fromCodePoint(Number(int));
};

/** Turns the text of a %s into the text that is printed. A safe format escapes it. */
type Shown = (text: string, value: Value) => string;

const partsOf = (run: Run, value: Value, conversion: Conversion, show: Shown): Parts => {
  const { form, precision } = conversion;
  switch (form) {
    case 's':
    case 'r':
    case 'a': {
      const text = form === 's' ? show(str(run, value), value) : show(repr(run, value), repr(run, value));
      return ['', precision === undefined ? text : sliceText(text, 0, precision)];
    }
    case 'c':
      return ['', characterOf(value)];
    case 'i':
    case 'u':
      return intParts(value, { ...conversion, form: 'd' });
    default:
      return 'eEfFgG'.includes(form) ? floatParts(value, conversion) : intParts(value, conversion);
  }
};

const padded = (run: Run, [lead, body]: Parts, width: bigint, { flags, form }: Conversion): string => {
  const missing = (width < 0n ? -width : width) - BigInt(lengthOf(lead) + lengthOf(body));
  if (missing <= 0n) return lead + body;
  // A negative width means the same as the flag `-`.
  if (flags.includes('-') || width < 0n) return lead + body + repeat(run, ' ', missing);
  const zeros = flags.includes('0') && !'srac'.includes(form);
  return zeros ? lead + repeat(run, '0', missing) + body : repeat(run, ' ', missing) + lead + body;
};

/** The parts of one conversion as written in the format. `*` takes the width or precision from the values. */
type Written = {
  readonly whole: string;
  readonly key: string | undefined;
  readonly flags: string;
  readonly width: string | undefined;
  readonly precision: string | undefined;
  readonly form: string | undefined;
};

const precisionOf = ({ whole, precision }: Written, next: () => Value): number | undefined => {
  if (precision === undefined) return /\.[hlL]?.$/su.test(whole) ? 0 : undefined;
  return checkedPrecision(Math.max(0, Number(precision === '*' ? needInt(next()) : precision)));
};

const widthOf = ({ width }: Written, next: () => Value): bigint => {
  if (width === undefined) return 0n;
  return width === '*' ? needInt(next()) : BigInt(width);
};

/** format % values. `show` turns the text of a %s into the text that is printed. */
export const percentFormat = (run: Run, format: string, values: Value, show: Shown = (text) => text): string => {
  const args = isTuple(values) ? values.items : [values];
  const mapping = isDict(values) ? values : undefined;
  let used = 0;
  const next = (): Value => {
    const value = args[used++];
    if (value === undefined) throw typeError('not enough arguments for format string');
    return value;
  };
  const byKey = (key: string): Value => {
    if (!mapping) throw typeError('format requires a mapping');
    const value = getKey(mapping, key);
    if (value === undefined) throw new PythonError('KeyError', `'${key}'`);
    return value;
  };
  const convert = (written: Written): string => {
    run.budget.step();
    const { whole, key, flags, form } = written;
    if (whole === '%%') return '%';
    if (form === undefined) throw valueError('incomplete format');
    if (!'diouxXeEfFgGcrsa%'.includes(form))
      throw valueError(`unsupported format character '${form}' (0x${form.codePointAt(0)?.toString(16)})`);
    const keyed = key === undefined ? undefined : byKey(key);
    const width = widthOf(written, next);
    const precision = precisionOf(written, next);
    if (form === '%') return '%';
    const value = keyed === undefined ? next() : keyed;
    const conversion: Conversion = { flags, precision, form };
    return padded(run, partsOf(run, value, conversion, show), width, conversion);
  };
  run.budget.make(format.length);
  const text = format.replace(
    conversion,
    (whole, key?: string, flags = '', width?: string, precision?: string, form?: string) =>
      convert({ whole, key, flags, width, precision, form }),
  );
  run.budget.make(text.length);
  // Python does not complain of unused values that could be mappings (a list, an Undefined).
  if (!mapping && used < args.length && !Array.isArray(values) && !isUndefined(values))
    throw typeError('not all arguments converted during string formatting');
  return text;
};

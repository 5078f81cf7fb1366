import { PythonError, typeError, valueError } from '../errors.ts';
import { needInt, unusable } from '../values/arguments.ts';
import { getKey } from '../values/dicts.ts';
import { notFinite } from '../values/floats.ts';
import { intText, repr, str } from '../values/print.ts';
import { lengthOf, repeat, sliceText } from '../values/text.ts';
import {
  type Run,
  type Value,
  intOf,
  isDict,
  isTuple,
  isUndefined,
  numberOf,
  textOf,
  typeName,
} from '../values/values.ts';
import { checkedPrecision, floatForm, toFloat } from './spec.ts';

const conversion = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?(.)?/gsu;

type Conversion = { readonly flags: string; readonly precision: number | undefined; readonly form: string };

const numberText = (value: Value, { flags, precision, form }: Conversion): readonly [lead: string, body: string] => {
  const sign = (negative: boolean): string =>
    negative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  const number = numberOf(value);
  if ('eEfFgG'.includes(form)) {
    if (number === undefined) throw unusable(value, `must be real number, not ${typeName(value)}`);
    const float = toFloat(number);
    const lead = sign(float < 0 || Object.is(float, -0));
    const lower = form.toLowerCase();
    const body = Number.isFinite(float)
      ? floatForm(Math.abs(float), lower, precision ?? 6, flags.includes('#'))
      : notFinite(Math.abs(float));
    return [lead, form === lower ? body : body.toUpperCase()];
  }
  if (number === undefined || ('xXo'.includes(form) && typeof number === 'number'))
    throw typeError(
      `%${form} format: ${'xXo'.includes(form) ? 'an integer' : 'a real number'} is required, not ${typeName(value)}`,
    );
  if (typeof number === 'number' && !Number.isFinite(number))
    throw new PythonError(
      Number.isNaN(number) ? 'ValueError' : 'OverflowError',
      `cannot convert float ${Number.isNaN(number) ? 'NaN' : 'infinity'} to integer`,
    );
  const int = typeof number === 'bigint' ? number : BigInt(Math.trunc(number));
  const size = int < 0n ? -int : int;
  const digits = (
    form === 'x' || form === 'X' ? size.toString(16) : form === 'o' ? size.toString(8) : intText(size)
  ).padStart(precision ?? 0, '0');
  const prefix = flags.includes('#') ? (form === 'o' ? '0o' : form === 'x' ? '0x' : form === 'X' ? '0X' : '') : '';
  return [sign(int < 0n) + prefix, form === 'X' ? digits.toUpperCase() : digits];
};

/** format % values. `shown` turns what %s prints into text (a safe format escapes it). */
export const percentFormat = (
  run: Run,
  format: string,
  values: Value,
  shown: (text: string, value: Value) => string = (text) => text,
): string => {
  const args = isTuple(values) ? values.items : [values];
  const mapping = isDict(values) ? values : undefined;
  let used = 0;
  const next = (): Value => {
    if (used >= args.length) throw typeError('not enough arguments for format string');
    return args[used++]!;
  };
  const convert = (
    whole: string,
    key: string | undefined,
    flags: string,
    width: string | undefined,
    precisionGiven: string | undefined,
    form: string | undefined,
  ): string => {
    run.budget.step();
    if (form === '%' && whole === '%%') return '%';
    if (form === undefined) throw valueError('incomplete format');
    if (!'diouxXeEfFgGcrsa%'.includes(form))
      throw valueError(`unsupported format character '${form}' (0x${form.codePointAt(0)!.toString(16)})`);
    let value: Value | undefined;
    if (key !== undefined) {
      if (!mapping) throw typeError('format requires a mapping');
      value = getKey(mapping, key);
      if (value === undefined) throw new PythonError('KeyError', `'${key}'`);
    }
    let wide = width === undefined ? 0n : width === '*' ? needInt(next()) : BigInt(width);
    let left = flags.includes('-');
    if (wide < 0n) [wide, left] = [-wide, true];
    const precision =
      precisionGiven === undefined
        ? /\.[hlL]?.$/su.test(whole)
          ? 0
          : undefined
        : checkedPrecision(Math.max(0, Number(precisionGiven === '*' ? needInt(next()) : precisionGiven)));
    if (form === '%') return '%';
    if (value === undefined) value = next();
    let lead = '';
    let body: string;
    if (form === 's' || form === 'r' || form === 'a') {
      const text = form === 's' ? shown(str(run, value), value) : shown(repr(run, value), repr(run, value));
      body = precision === undefined ? text : sliceText(text, 0, precision);
    } else if (form === 'c') {
      const text = textOf(value);
      const int = intOf(value);
      if (int === undefined && (text === undefined || lengthOf(text) !== 1)) throw typeError('%c requires int or char');
      if (int !== undefined && (int < 0n || int > 0x10ffffn))
        throw new PythonError('OverflowError', '%c arg not in range(0x110000)');
      body = text ?? String.fromCodePoint(Number(int));
    } else {
      [lead, body] = numberText(value, { flags, precision, form: form === 'i' || form === 'u' ? 'd' : form });
    }
    const missing = wide - BigInt(lengthOf(lead) + lengthOf(body));
    if (missing <= 0n) return lead + body;
    if (left) return lead + body + repeat(run, ' ', missing);
    return flags.includes('0') && !'srac'.includes(form)
      ? lead + repeat(run, '0', missing) + body
      : repeat(run, ' ', missing) + lead + body;
  };
  run.budget.make(format.length);
  const text = format.replace(conversion, convert as (whole: string) => string);
  run.budget.make(text.length);
  // Python lets values that could be mappings (a list, an Undefined) go unused.
  if (!mapping && used < args.length && !Array.isArray(values) && !isUndefined(values))
    throw typeError('not all arguments converted during string formatting');
  return text;
};

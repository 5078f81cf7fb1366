import { PythonError, typeError, valueError } from '../errors.ts';
import { exponentText, fixed, floatRepr, notFinite, significant } from '../values/floats.ts';
import { intText, str } from '../values/print.ts';
import { lengthOf, repeat, sliceText } from '../values/text.ts';
import { type Run, type Value, isMarkup, isUndefined, numberOf, typeName } from '../values/values.ts';

const mostPrecision = 1000;

/** A precision that costs nothing worth mentioning. */
export const checkedPrecision = (precision: number): number => {
  if (precision > mostPrecision) throw valueError(`precision too big: at most ${mostPrecision}`);
  return precision;
};

const stripZeros = (text: string): string => (text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text);

/** A finite float >= 0 in the forms e, f and g (lower case); `alternate` keeps the point and zeros. */
export const floatForm = (value: number, form: string, precision: number, alternate: boolean): string => {
  if (form === 'f') return fixed(value, precision) + (alternate && precision === 0 ? '.' : '');
  const scientific = (count: number): string => {
    const [digits, exponent] = significant(value, count);
    const mantissa = count > 1 ? `${digits[0]}.${digits.slice(1)}` : digits + (alternate ? '.' : '');
    return `${mantissa}e${exponentText(exponent)}`;
  };
  if (form === 'e') return scientific(precision + 1);
  const count = Math.max(precision, 1);
  const exponent = significant(value, count)[1];
  if (exponent < -4 || exponent >= count) {
    const [mantissa, power] = scientific(count).split('e') as [string, string];
    return `${alternate ? mantissa : stripZeros(mantissa)}e${power}`;
  }
  const text = fixed(value, count - 1 - exponent);
  return alternate ? text : stripZeros(text);
};

/** The float that a number is; ints too large raise as in Python. */
export const toFloat = (value: bigint | number): number => {
  const float = Number(value);
  if (typeof value === 'bigint' && !Number.isFinite(float))
    throw new PythonError('OverflowError', 'int too large to convert to float');
  return float;
};

const group = (digits: string, separator: string, size: number): string => {
  const [whole, ...rest] = digits.split(/(?=[.e%])/);
  let grouped = whole!;
  if (separator !== '')
    for (let at = grouped.length - size; at > 0; at -= size)
      grouped = grouped.slice(0, at) + separator + grouped.slice(at);
  return [grouped, ...rest].join('');
};

const specForm = /^(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;

const intForms: ReadonlyMap<string, readonly [radix: number, prefix: string]> = new Map([
  ['b', [2, '0b']],
  ['o', [8, '0o']],
  ['x', [16, '0x']],
  ['X', [16, '0X']],
  ['d', [10, '']],
  ['n', [10, '']],
]);

/** format(value, spec) */
export const formatValue = (run: Run, value: Value, spec: string): string => {
  const number = numberOf(value);
  if (spec === '') return str(run, value);
  if (number === undefined && typeof value !== 'string' && !isMarkup(value))
    throw typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  if (isUndefined(value)) throw typeError('unsupported format string passed to Undefined.__format__');
  const parts = specForm.exec(spec);
  if (!parts) throw valueError(`Invalid format specifier${number === undefined ? '' : ` '${spec}'`}`);
  const [, fillGiven, alignGiven, sign, , alternate, zero, width, separator, precisionGiven, form] = parts;
  const align = alignGiven ?? (zero ? '=' : undefined);
  const fill = fillGiven ?? (zero ? '0' : ' ');
  const precision = precisionGiven === undefined ? undefined : checkedPrecision(Number(precisionGiven));
  const wrongForm = () => valueError(`Unknown format code '${form}' for object of type '${typeName(value)}'`);

  let lead = '';
  let body: string;
  if (number === undefined) {
    if (form !== undefined && form !== 's') throw wrongForm();
    if (sign !== undefined) throw valueError('Sign not allowed in string format specifier');
    if (alternate) throw valueError('Alternate form (#) not allowed in string format specifier');
    if (separator) throw valueError(`Cannot specify '${separator}' with 's'.`);
    if (alignGiven === '=') throw valueError("'=' alignment not allowed in string format specifier");
    const text = str(run, value);
    body = precision === undefined ? text : sliceText(text, 0, precision);
  } else {
    if (typeof value === 'boolean' && form === undefined && precision === undefined)
      return formatValue(run, number, spec.endsWith('d') ? spec : `${spec}d`);
    const negative = typeof number === 'bigint' ? number < 0n : number < 0 || Object.is(number, -0);
    lead = negative ? '-' : sign === '+' || sign === ' ' ? sign : '';
    const isInt = typeof number === 'bigint' && (form === undefined || form === 'c' || intForms.has(form));
    if (isInt) {
      if (precision !== undefined) throw valueError('Precision not allowed in integer format specifier');
      if (form === 'c') {
        if (number < 0n || number > 0x10ffffn) throw new PythonError('OverflowError', '%c arg not in range(0x110000)');
        lead = '';
        body = String.fromCodePoint(Number(number));
      } else {
        const [radix, prefix] = intForms.get(form ?? 'd')!;
        if (separator === ',' && radix !== 10) throw valueError(`Cannot specify ',' with '${form}'.`);
        const size = negative ? -number : number;
        const digits = radix === 10 ? intText(size) : size.toString(radix);
        if (alternate) lead += prefix;
        body = group(form === 'X' ? digits.toUpperCase() : digits, separator ?? '', radix === 10 ? 3 : 4);
      }
    } else {
      if (form !== undefined && !'eEfFgGn%'.includes(form)) throw wrongForm();
      const float = Math.abs(toFloat(number));
      const lower = form?.toLowerCase();
      if (!Number.isFinite(float)) body = notFinite(float) + (form === '%' ? '%' : '');
      else if (lower === undefined && precision === undefined) body = floatRepr(float);
      else if (lower === undefined) {
        // Like g, but with a digit after the point, and with an exponent one digit earlier.
        const count = Math.max(precision!, 1);
        body =
          significant(float, count)[1] >= count - 1 ? withExponent(float, count) : floatForm(float, 'g', count, false);
        if (!/[.e]/.test(body)) body += '.0';
      } else if (lower === '%') body = `${floatForm(float * 100, 'f', precision ?? 6, Boolean(alternate))}%`;
      else body = floatForm(float, lower === 'n' ? 'g' : lower, precision ?? 6, Boolean(alternate));
      if (form !== undefined && 'EFG'.includes(form)) body = body.toUpperCase();
      body = group(body, separator ?? '', 3);
    }
  }

  if (width === undefined) return lead + body;
  const target = BigInt(width);
  const missing = target - BigInt(lengthOf(lead) + lengthOf(body));
  if (missing <= 0n) return lead + body;
  if (align === '=') {
    if (fill === '0' && separator) {
      // Zeros are grouped too.
      run.budget.make(target);
      let padded = body;
      while (lengthOf(lead) + lengthOf(padded) < Number(target)) {
        const digits = `0${padded.replaceAll(separator, '')}`;
        padded = group(digits, separator, form && 'boxX'.includes(form) ? 4 : 3);
      }
      return lead + padded;
    }
    return lead + repeat(run, fill, missing) + body;
  }
  const text = lead + body;
  switch (align ?? (number === undefined ? '<' : '>')) {
    case '<':
      return text + repeat(run, fill, missing);
    case '>':
      return repeat(run, fill, missing) + text;
    default:
      return repeat(run, fill, missing / 2n) + text + repeat(run, fill, missing - missing / 2n);
  }
};

const withExponent = (value: number, count: number): string => {
  const [digits, exponent] = significant(value, count);
  const rest = digits.slice(1).replace(/0+$/, '');
  return `${digits[0]}${rest === '' ? '' : `.${rest}`}e${exponentText(exponent)}`;
};

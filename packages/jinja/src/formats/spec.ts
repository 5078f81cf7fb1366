import { PythonError, typeError, valueError } from '../errors.ts';
import { exponentText, fixed, floatRepr, notFinite, significant } from '../values/floats.ts';
import { intText, str } from '../values/print.ts';
import { lengthOf, repeat, sliceText } from '../values/text.ts';
import { isMarkup, numberOf, type Run, typeName, type Value } from '../values/values.ts';

const mostPrecision = 1000;

/** Throws when a precision would cost too much time. */
export const checkedPrecision = (precision: number): number => {
  if (precision > mostPrecision) throw valueError(`precision too big: at most ${mostPrecision}`);
  return precision;
};

const stripZeros = (text: string): string => (text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text);

/** Formats a finite float >= 0 in the forms e, f and g (lower case). `alternate` keeps the point and the zeros. */
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

/** Converts a number to a float. An int that is too large raises an error as in Python. */
export const toFloat = (value: bigint | number): number => {
  const float = Number(value);
  if (typeof value === 'bigint' && !Number.isFinite(float))
    throw new PythonError('OverflowError', 'int too large to convert to float');
  return float;
};

const group = (digits: string, separator: string, size: number): string => {
  const [whole = '', ...rest] = digits.split(/(?=[.e%])/);
  let grouped = whole;
  if (separator !== '')
    for (let at = grouped.length - size; at > 0; at -= size)
      grouped = grouped.slice(0, at) + separator + grouped.slice(at);
  return [grouped, ...rest].join('');
};

const specForm = /^(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;

type IntForm = { readonly radix: number; readonly prefix: string };

const decimal: IntForm = { radix: 10, prefix: '' };

const intForms: ReadonlyMap<string, IntForm> = new Map([
  ['b', { radix: 2, prefix: '0b' }],
  ['o', { radix: 8, prefix: '0o' }],
  ['x', { radix: 16, prefix: '0x' }],
  ['X', { radix: 16, prefix: '0X' }],
  ['d', decimal],
  ['n', decimal],
]);

/** The parts of a format specifier. */
type Spec = {
  /** `<`, `>`, `^` or `=`, as written or because of a leading zero. */
  readonly align: string | undefined;
  /** True if `=` is written, and does not just follow from a leading zero. */
  readonly alignsWithin: boolean;
  readonly fill: string;
  readonly sign: string | undefined;
  readonly alternate: boolean;
  readonly width: bigint | undefined;
  readonly separator: string;
  readonly precision: number | undefined;
  readonly form: string | undefined;
};

const parseSpec = (spec: string, wrong: () => PythonError): Spec => {
  const parts = specForm.exec(spec);
  if (!parts) throw wrong();
  const [, fill, align, sign, , alternate, zero, width, separator = '', precision, form] = parts;
  return {
    align: align ?? (zero ? '=' : undefined),
    alignsWithin: align === '=',
    fill: fill ?? (zero ? '0' : ' '),
    sign,
    alternate: Boolean(alternate),
    width: width === undefined ? undefined : BigInt(width),
    separator,
    precision: precision === undefined ? undefined : checkedPrecision(Number(precision)),
    form,
  };
};

/** A number in two parts: `lead` is the sign and prefix, `body` the digits. */
type Parts = { readonly lead: string; readonly body: string };

const textBody = (run: Run, value: Value, spec: Spec): string => {
  if (spec.sign !== undefined) throw valueError('Sign not allowed in string format specifier');
  if (spec.alternate) throw valueError('Alternate form (#) not allowed in string format specifier');
  if (spec.separator) throw valueError(`Cannot specify '${spec.separator}' with 's'.`);
  if (spec.alignsWithin) throw valueError("'=' alignment not allowed in string format specifier");
  const text = str(run, value);
  return spec.precision === undefined ? text : sliceText(text, 0, spec.precision);
};

const intParts = (number: bigint, lead: string, spec: Spec): Parts => {
  const { form, separator } = spec;
  if (spec.precision !== undefined) throw valueError('Precision not allowed in integer format specifier');
  if (form === 'c') {
    if (number < 0n || number > 0x10ffffn) throw new PythonError('OverflowError', '%c arg not in range(0x110000)');
    return { lead: '', body: String.fromCodePoint(Number(number)) };
  }
  const { radix, prefix } = intForms.get(form ?? 'd') ?? decimal;
  if (separator === ',' && radix !== 10) throw valueError(`Cannot specify ',' with '${form}'.`);
  const size = number < 0n ? -number : number;
  const digits = radix === 10 ? intText(size) : size.toString(radix);
  const body = group(form === 'X' ? digits.toUpperCase() : digits, separator, radix === 10 ? 3 : 4);
  return { lead: spec.alternate ? lead + prefix : lead, body };
};

/**
 * Formats a float when the specifier has no form. The result is like g, but has a digit after the point, and uses an
 * exponent one digit earlier.
 */
const plainFloat = (float: number, precision: number | undefined): string => {
  if (precision === undefined) return floatRepr(float);
  const count = Math.max(precision, 1);
  const exponent = significant(float, count)[1];
  const text = exponent >= count - 1 ? withExponent(float, count) : floatForm(float, 'g', count, false);
  return /[.e]/.test(text) ? text : `${text}.0`;
};

/** Formats a float >= 0, without grouping. */
const floatBody = (float: number, { form, precision, alternate }: Spec): string => {
  if (!Number.isFinite(float)) return notFinite(float) + (form === '%' ? '%' : '');
  if (form === undefined) return plainFloat(float, precision);
  if (form === '%') return `${floatForm(float * 100, 'f', precision ?? 6, alternate)}%`;
  const lower = form.toLowerCase();
  return floatForm(float, lower === 'n' ? 'g' : lower, precision ?? 6, alternate);
};

const signOf = (negative: boolean, sign: string | undefined): string => {
  if (negative) return '-';
  return sign === '+' || sign === ' ' ? sign : '';
};

const isNegative = (number: bigint | number): boolean =>
  typeof number === 'bigint' ? number < 0n : number < 0 || Object.is(number, -0);

const numberParts = (number: bigint | number, spec: Spec, wrongForm: () => PythonError): Parts => {
  const { form } = spec;
  const lead = signOf(isNegative(number), spec.sign);
  if (typeof number === 'bigint' && (form === undefined || form === 'c' || intForms.has(form)))
    return intParts(number, lead, spec);
  if (form !== undefined && !'eEfFgGn%'.includes(form)) throw wrongForm();
  const body = floatBody(Math.abs(toFloat(number)), spec);
  const cased = form !== undefined && 'EFG'.includes(form) ? body.toUpperCase() : body;
  return { lead, body: group(cased, spec.separator, 3) };
};

/** Adds zeros between the sign and the digits, and groups them like the digits. */
const zeroPadded = (run: Run, { lead, body }: Parts, width: bigint, { separator, form }: Spec): string => {
  run.budget.make(width);
  let padded = body;
  while (lengthOf(lead) + lengthOf(padded) < Number(width)) {
    const digits = `0${padded.replaceAll(separator, '')}`;
    padded = group(digits, separator, form && 'boxX'.includes(form) ? 4 : 3);
  }
  return lead + padded;
};

const aligned = (run: Run, parts: Parts, spec: Spec, otherwise: '<' | '>'): string => {
  const { width, fill } = spec;
  const text = parts.lead + parts.body;
  if (width === undefined) return text;
  const missing = width - BigInt(lengthOf(parts.lead) + lengthOf(parts.body));
  if (missing <= 0n) return text;
  switch (spec.align ?? otherwise) {
    case '=':
      if (fill === '0' && spec.separator) return zeroPadded(run, parts, width, spec);
      return parts.lead + repeat(run, fill, missing) + parts.body;
    case '<':
      return text + repeat(run, fill, missing);
    case '>':
      return repeat(run, fill, missing) + text;
    default:
      return repeat(run, fill, missing / 2n) + text + repeat(run, fill, missing - missing / 2n);
  }
};

/** format(value, spec) */
export const formatValue = (run: Run, value: Value, specText: string): string => {
  if (specText === '') return str(run, value);
  const number = numberOf(value);
  if (number === undefined && typeof value !== 'string' && !isMarkup(value))
    throw typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  const spec = parseSpec(specText, () =>
    valueError(`Invalid format specifier${number === undefined ? '' : ` '${specText}'`}`),
  );
  const wrongForm = () => valueError(`Unknown format code '${spec.form}' for object of type '${typeName(value)}'`);
  if (number === undefined) {
    if (spec.form !== undefined && spec.form !== 's') throw wrongForm();
    return aligned(run, { lead: '', body: textBody(run, value, spec) }, spec, '<');
  }
  // A bool with a specifier that has no form is formatted as an int.
  if (typeof value === 'boolean' && spec.form === undefined && spec.precision === undefined)
    return formatValue(run, number, `${specText}d`);
  return aligned(run, numberParts(number, spec, wrongForm), spec, '>');
};

const withExponent = (value: number, count: number): string => {
  const [digits, exponent] = significant(value, count);
  const rest = digits.slice(1).replace(/0+$/, '');
  return `${digits[0]}${rest === '' ? '' : `.${rest}`}e${exponentText(exponent)}`;
};

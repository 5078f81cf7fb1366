import { PythonError } from '../errors.ts';
import { percentFormat } from '../formats/percent.ts';
import { toFloat } from '../formats/spec.ts';
import { unusable } from './arguments.ts';
import { quotient } from './floats.ts';
import { escaped, str } from './print.ts';
import { like, repeat } from './text.ts';
import {
  intOf,
  isMarkup,
  isTuple,
  isUndefined,
  markup,
  numberOf,
  type Run,
  textOf,
  tuple,
  typeName,
  type Value,
} from './values.ts';

export type Operator = '+' | '-' | '*' | '/' | '//' | '%' | '**';

const unsupported = (operator: Operator, a: Value, b: Value): PythonError =>
  unusable(
    isUndefined(a) ? a : b,
    `unsupported operand type(s) for ${operator}: '${typeName(a)}' and '${typeName(b)}'`,
  );

const zero = (message: string): PythonError => new PythonError('ZeroDivisionError', message);

/** About how many bits an int has. Above 64 bits the result is at most four too large. */
const bitsOf = (value: bigint): number =>
  value < 1n << 64n && value > -(1n << 64n) ? 64 : value.toString(16).length * 4;

const floorDivide = (a: bigint, b: bigint): bigint => {
  const result = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? result - 1n : result;
};

const modulo = (a: number, b: number): number => {
  const rest = a % b;
  if (rest === 0) return b < 0 ? -0 : 0;
  return rest < 0 !== b < 0 ? rest + b : rest;
};

const power = (run: Run, a: bigint, b: bigint): Value => {
  if (b < 0n) {
    if (a === 0n) throw zero('0.0 cannot be raised to a negative power');
    return floatPower(toFloat(a), toFloat(b));
  }
  if (a === 0n || a === 1n || b === 0n) return b === 0n ? 1n : a;
  if (a === -1n) return b % 2n === 0n ? 1n : a;
  run.budget.bits(BigInt((a < 0n ? -a : a).toString(2).length) * b);
  return a ** b;
};

const floatPower = (a: number, b: number): number => {
  if (a === 0 && b < 0) throw zero('0.0 cannot be raised to a negative power');
  if (a < 0 && Number.isFinite(a) && Number.isFinite(b) && !Number.isInteger(b))
    throw new PythonError(
      'ValueError',
      'a negative number to a broken power is complex, which this engine does not have',
    );
  const result = a === 1 || (a === -1 && !Number.isFinite(b) && !Number.isNaN(b)) ? 1 : a ** b;
  if (!Number.isFinite(result) && Number.isFinite(a) && Number.isFinite(b))
    throw new PythonError('OverflowError', "(34, 'Numerical result out of range')");
  return result;
};

const ints = (run: Run, operator: Operator, a: bigint, b: bigint): Value => {
  switch (operator) {
    case '+':
      run.budget.bits(Math.max(bitsOf(a), bitsOf(b)));
      return a + b;
    case '-':
      run.budget.bits(Math.max(bitsOf(a), bitsOf(b)));
      return a - b;
    case '*':
      run.budget.bits(bitsOf(a) + bitsOf(b));
      return a * b;
    case '/':
      if (b === 0n) throw zero('division by zero');
      return toFloatResult(quotient(a, b));
    case '//':
      if (b === 0n) throw zero('integer division or modulo by zero');
      run.budget.bits(bitsOf(a));
      return floorDivide(a, b);
    case '%':
      if (b === 0n) throw zero('integer modulo by zero');
      run.budget.bits(bitsOf(a));
      return a - floorDivide(a, b) * b;
    case '**':
      return power(run, a, b);
  }
};

const toFloatResult = (value: number): number => {
  if (!Number.isFinite(value)) throw new PythonError('OverflowError', 'integer division result too large for a float');
  return value;
};

const floorFloats = (a: number, b: number): number => {
  const whole = (a - modulo(a, b)) / b;
  if (!Number.isFinite(whole)) return whole;
  if (whole === 0) return a / b < 0 || Object.is(a / b, -0) ? -0 : 0;
  const floor = Math.floor(whole);
  return whole - floor > 0.5 ? floor + 1 : floor;
};

const moduloFloats = (a: number, b: number): number => {
  const byInfinity = Number.isFinite(a) && !Number.isFinite(b) && !Number.isNaN(b);
  if (!byInfinity) return modulo(a, b);
  return a === 0 || a < 0 === b < 0 ? a : b;
};

const floats = (operator: Operator, a: number, b: number): number => {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      if (b === 0) throw zero('float division by zero');
      return a / b;
    case '//':
      if (b === 0) throw zero('float floor division by zero');
      return floorFloats(a, b);
    case '%':
      if (b === 0) throw zero('float modulo');
      return moduloFloats(a, b);
    case '**':
      return floatPower(a, b);
  }
};

const add = (run: Run, a: Value, b: Value): Value | undefined => {
  const [s, t] = [textOf(a), textOf(b)];
  if (s !== undefined && t !== undefined) {
    run.budget.make(s.length + t.length);
    return isMarkup(a) || isMarkup(b) ? markup(escaped(run, a).text + escaped(run, b).text) : s + t;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    run.budget.make(a.length + b.length);
    return [...a, ...b];
  }
  if (isTuple(a) && isTuple(b)) {
    run.budget.make(a.items.length + b.items.length);
    return tuple([...a.items, ...b.items]);
  }
  return undefined;
};

const repeated = (run: Run, sequence: Value, times: Value): Value | undefined => {
  const count = intOf(times);
  if (count === undefined) return undefined;
  const text = textOf(sequence);
  if (text !== undefined) return like(sequence, repeat(run, text, count));
  if (!Array.isArray(sequence) && !isTuple(sequence)) return undefined;
  const items = Array.isArray(sequence) ? sequence : sequence.items;
  const all: Value[] = [];
  if (count > 0n) {
    run.budget.make(BigInt(items.length) * count);
    for (let i = 0; i < Number(count) && items.length > 0; i++) for (const item of items) all.push(item);
  }
  return Array.isArray(sequence) ? all : tuple(all);
};

/** `format % values`, where the format is a str. */
const formatted = (run: Run, format: Value, values: Value): Value | undefined => {
  const text = textOf(format);
  if (text === undefined) return undefined;
  if (!isMarkup(format)) return percentFormat(run, text, values);
  const escapeValue = (text: string, value: Value): string => escaped(run, isMarkup(value) ? value : text).text;
  return markup(percentFormat(run, text, values, escapeValue));
};

/** The result for operands that are not both numbers; undefined where Python raises a TypeError. */
const operateOnOthers = (run: Run, operator: Operator, a: Value, b: Value): Value | undefined => {
  switch (operator) {
    case '+':
      return add(run, a, b);
    case '*':
      return repeated(run, a, b) ?? repeated(run, b, a);
    case '%':
      return formatted(run, a, b);
    default:
      return undefined;
  }
};

/** a operator b */
export const operate = (run: Run, operator: Operator, a: Value, b: Value): Value => {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== undefined && y !== undefined)
    return typeof x === 'bigint' && typeof y === 'bigint'
      ? ints(run, operator, x, y)
      : floats(operator, toFloat(x), toFloat(y));
  const result = operateOnOthers(run, operator, a, b);
  if (result === undefined) throw unsupported(operator, a, b);
  return result;
};

/** -value and +value */
export const signed = (sign: '-' | '+', value: Value): Value => {
  const number = numberOf(value);
  if (number === undefined) throw unusable(value, `bad operand type for unary ${sign}: '${typeName(value)}'`);
  return sign === '-' ? -number : number;
};

/** a ~ b ~ c: joins the values as text. The result is safe if escaping is on and one of the values is safe. */
export const concatenated = (run: Run, values: readonly Value[]): Value => {
  const safe = run.escaping && values.some(isMarkup);
  const text = values.map((value) => (safe ? escaped(run, value).text : str(run, value))).join('');
  run.budget.make(text.length);
  return safe ? markup(text) : text;
};

import { type Budget, fail } from '../budget.ts';
import { type Method, method } from '../signatures.ts';
import { primitiveOf } from '../values.ts';

/** JavaScript's `+`: texts are joined. */
const sum = (a: unknown, b: unknown, budget: Budget): string | number => {
  const [first, second] = [primitiveOf(a, budget, false), primitiveOf(b, budget, false)];
  if (typeof first !== 'string' && typeof second !== 'string') return Number(first) + Number(second);
  budget.make(String(first).length + String(second).length);
  return `${first}${second}`;
};

const operator = (run: (a: number, b: number) => number): Method =>
  method('a: number, b: number -> number', (_, a: number, b: number) => run(a, b));

const ofOne = (run: (a: number) => number): Method => method('number: number -> number', (_, a: number) => run(a));

const digits = (value: number | undefined, least: number, most: number): number | undefined =>
  value !== undefined && !(value >= least && value <= most) ? fail(`It must be ${least} to ${most}`) : value;

const tests = (run: (value: unknown) => boolean): Method =>
  method('value: value -> boolean', (_, value: unknown) => run(value));

export const numbers: Readonly<Record<string, Method>> = {
  'Math.abs': ofOne(Math.abs),
  'Math.add': method('a: value, b: value -> number or text', ({ budget }, a, b) => sum(a, b, budget)),
  'Math.cbrt': ofOne(Math.cbrt),
  'Math.ceil': ofOne(Math.ceil),
  'Math.divide': operator((a, b) => a / b),
  'Math.exponentiation': operator((a, b) => a ** b),
  'Math.floor': ofOne(Math.floor),
  'Math.log': ofOne(Math.log),
  'Math.log10': ofOne(Math.log10),
  'Math.log2': ofOne(Math.log2),
  'Math.max': method('...numbers: number -> number', (_, ...all: number[]) => Math.max(...all)),
  'Math.min': method('...numbers: number -> number', (_, ...all: number[]) => Math.min(...all)),
  'Math.multiply': operator((a, b) => a * b),
  'Math.pow': operator((a, b) => a ** b),
  'Math.random': method(' -> number', ({ random }) => random()),
  'Math.remainder': operator((a, b) => a % b),
  'Math.round': ofOne(Math.round),
  'Math.sign': ofOne(Math.sign),
  'Math.sqrt': ofOne(Math.sqrt),
  'Math.subtract': operator((a, b) => a - b),
  'Math.trunc': ofOne(Math.trunc),
  'Number.isFinite': tests(Number.isFinite),
  'Number.isInteger': tests(Number.isInteger),
  'Number.isNaN': tests(Number.isNaN),
  'Number.parseFloat': method('text: text -> number', (_, text: string) => Number.parseFloat(text)),
  'Number.parseInt': method('text: text, radix?: number -> number', (_, text: string, radix) =>
    Number.parseInt(text, radix),
  ),
  'Number.toFixed': method('number: number, digits?: number -> text', (_, one: number, count = 0) =>
    one.toFixed(digits(count, 0, 100)),
  ),
  'Number.toPrecision': method('number: number, digits?: number -> text', (_, one: number, count) =>
    one.toPrecision(digits(count, 1, 100)),
  ),
  'Number.toString': method('number: number, radix?: number -> text', (_, one: number, radix) =>
    one.toString(digits(radix, 2, 36)),
  ),
};

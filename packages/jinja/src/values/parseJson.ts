import { limitError, PythonError } from '../errors.ts';
import { newDict, setKey } from './dicts.ts';
import type { Run, Value } from './values.ts';

const deepest = 200;
const mostDigits = 4300;

/** A text that is being read. */
type Reading = { readonly run: Run; readonly text: string; at: number };

const wrong = ({ at }: Reading, what: string): PythonError => new PythonError('JSONDecodeError', `${what}: char ${at}`);

/** Reads the text that a sticky pattern matches at the current index, and moves past it. Undefined without a match. */
const take = (reading: Reading, pattern: RegExp): string | undefined => {
  pattern.lastIndex = reading.at;
  const [found] = pattern.exec(reading.text) ?? [];
  if (found !== undefined) reading.at += found.length;
  return found;
};

const space = (reading: Reading): string | undefined => take(reading, /[ \t\n\r]*/y);

const words: ReadonlyMap<string, Value> = new Map<string, Value>([
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);

const numberOf = (written: string): Value => {
  if (/[.eE]/.test(written)) return Number(written);
  if (written.replace('-', '').length > mostDigits)
    throw new PythonError('ValueError', `Exceeds the limit (${mostDigits} digits) for integer string conversion`);
  return BigInt(written);
};

const text = (reading: Reading): string | undefined => {
  const from = reading.at;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none within strings
  const written = take(reading, /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y);
  if (written === undefined) return undefined;
  reading.run.budget.make(reading.at - from);
  return JSON.parse(written) as string;
};

/** Reads items with commas between them, up to the closing bracket. `one` reads an item. */
const listed = (reading: Reading, close: string, one: () => void): void => {
  reading.at++;
  space(reading);
  if (reading.text[reading.at] === close) {
    reading.at++;
    return;
  }
  for (;;) {
    one();
    space(reading);
    const next = reading.text[reading.at];
    if (next !== ',' && next !== close) throw wrong(reading, "Expecting ',' delimiter");
    reading.at++;
    if (next === close) return;
    space(reading);
  }
};

const member = (reading: Reading, depth: number): readonly [string, Value] => {
  const name = text(reading);
  if (name === undefined) throw wrong(reading, 'Expecting property name enclosed in double quotes');
  space(reading);
  if (reading.text[reading.at] !== ':') throw wrong(reading, "Expecting ':' delimiter");
  reading.at++;
  return [name, value(reading, depth)];
};

const value = (reading: Reading, depth: number): Value => {
  if (depth > deepest) throw limitError(`JSON nested deeper than ${deepest} levels is not read here`);
  reading.run.budget.step();
  reading.run.budget.make(1);
  space(reading);
  const first = reading.text[reading.at];
  if (first === '[') {
    const items: Value[] = [];
    listed(reading, ']', () => items.push(value(reading, depth + 1)));
    return items;
  }
  if (first === '{') {
    const dict = newDict();
    listed(reading, '}', () => {
      const [name, item] = member(reading, depth + 1);
      setKey(dict, name, item);
    });
    return dict;
  }
  const string = first === '"' ? text(reading) : undefined;
  if (string !== undefined) return string;
  const word = take(reading, /null|true|false|NaN|-?Infinity/y);
  if (word !== undefined) return words.get(word) ?? null;
  const number = take(reading, /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y);
  if (number === undefined) throw wrong(reading, 'Expecting value');
  return numberOf(number);
};

/** json.loads(text) */
export const parseJson = (run: Run, text: string): Value => {
  const reading = { run, text, at: 0 };
  const read = value(reading, 0);
  space(reading);
  if (reading.at < text.length) throw wrong(reading, 'Extra data');
  return read;
};

import { limitError, typeError, valueError } from '../errors.ts';
import { needInt } from '../values/arguments.ts';
import { sorted } from '../values/compare.ts';
import { floatRepr } from '../values/floats.ts';
import { itemAt } from '../values/iterate.ts';
import { intText } from '../values/print.ts';
import { repeat } from '../values/text.ts';
import { isDict, isTuple, type Run, type Tuple, textOf, tuple, typeName, type Value } from '../values/values.ts';

const deepest = 200;

const ascii = (text: string): string =>
  JSON.stringify(text).replace(/[\x7f-\uffff]/g, (unit) =>
    unit === '\x7f' ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const floatJson = (value: number): string => {
  if (Number.isFinite(value)) return floatRepr(value);
  return Number.isNaN(value) ? 'NaN' : String(value);
};

const scalar = (value: Value): string | undefined => {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return intText(value);
  return typeof value === 'number' ? floatJson(value) : undefined;
};

/** The style of JSON text. `unit` is the indentation of one level; without it the text has one line. */
export type JsonStyle = {
  readonly unit?: string | undefined;
  readonly separators?: readonly [item: string, key: string] | undefined;
  readonly sorted?: boolean;
  readonly ascii?: boolean;
};

/** A value that is being written. `around` are the containers around the current place. */
type Writing = { readonly run: Run; readonly style: JsonStyle; readonly around: Value[] };

const quoted = ({ style }: Writing, text: string): string =>
  style.ascii === false ? JSON.stringify(text) : ascii(text);

type Brackets = readonly [open: string, close: string];

const block = (writing: Writing, [open, close]: Brackets, container: Value, parts: (() => string)[]): string => {
  const { run, style, around } = writing;
  const { unit, separators: [between] = [unit === undefined ? ', ' : ','] } = style;
  if (around.includes(container)) throw valueError('Circular reference detected');
  if (around.length >= deepest) throw limitError(`A value nested deeper than ${deepest} levels cannot be JSON here`);
  if (parts.length === 0) return open + close;
  const newline = (): string => (unit === undefined ? '' : `\n${repeat(run, unit, around.length)}`);
  around.push(container);
  const line = newline();
  const texts = parts.map((part) => {
    const text = part();
    run.budget.step();
    run.budget.make(text.length + line.length + 2);
    return text;
  });
  around.pop();
  const separator = between + line;
  return open + line + texts.join(separator) + newline() + close;
};

const member = (writing: Writing, key: Value, value: Value): string => {
  const name = textOf(key) ?? scalar(key);
  if (name === undefined) throw typeError(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
  const [, colon] = writing.style.separators ?? ['', ': '];
  return quoted(writing, name) + colon + write(writing, value);
};

const write = (writing: Writing, value: Value): string => {
  const text = textOf(value);
  if (text !== undefined) return quoted(writing, text);
  const simple = scalar(value);
  if (simple !== undefined) return simple;
  if (Array.isArray(value) || isTuple(value)) {
    const items = Array.isArray(value) ? value : value.items;
    const parts = items.map((item) => () => write(writing, item));
    return block(writing, ['[', ']'], value, parts);
  }
  if (!isDict(value)) throw typeError(`Object of type ${typeName(value)} is not JSON serializable`);
  const inOrder = [...value.entries.values()].map((pair) => tuple(pair));
  const pairs =
    writing.style.sorted === false ? inOrder : sorted(writing.run, inOrder, (pair) => itemAt((pair as Tuple).items, 0));
  const parts = pairs.map((pair) => () => {
    const { items } = pair as Tuple;
    return member(writing, itemAt(items, 0), itemAt(items, 1));
  });
  return block(writing, ['{', '}'], value, parts);
};

/** json.dumps(value) */
export const dumpJson = (run: Run, value: Value, style: JsonStyle): string => write({ run, style, around: [] }, value);

/** The indentation of one level from the argument `indent`: a text, or a number of spaces. */
export const unitOf = (run: Run, indent: Value): string | undefined =>
  indent === null ? undefined : (textOf(indent) ?? repeat(run, ' ', needInt(indent)));

/** json.dumps(value, sort_keys=True, indent=indent), with the characters of HTML's markup as \u escapes. */
export const toJson = (run: Run, value: Value, indent: Value): string => {
  const text = dumpJson(run, value, { unit: unitOf(run, indent) });
  return text.replace(/[<>&']/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
};

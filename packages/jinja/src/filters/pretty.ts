import { isRaised } from '../errors.ts';
import { ordered } from '../values/compare.ts';
import { newDict } from '../values/dicts.ts';
import { repr } from '../values/print.ts';
import { isSpace, lengthOf, splitLines } from '../values/text.ts';
import { isDict, isTuple, type Run, tuple, type Value } from '../values/values.ts';

const pageWidth = 80;
const deepest = 100;

/** Sorts pairs by their keys. Keys without an order are sorted by type, which is close to Python. */
const inOrder = (run: Run, pairs: readonly (readonly [Value, Value])[]): (readonly [Value, Value])[] => {
  const before = (a: Value, b: Value): boolean => {
    try {
      return ordered(run, '<', a, b);
    } catch (error) {
      if (!isRaised(error, 'TypeError')) throw error;
      return typeof a < typeof b;
    }
  };
  return [...pairs].sort(([a], [b]) => {
    if (before(a, b)) return -1;
    return before(b, a) ? 1 : 0;
  });
};

const sortedWithin = (run: Run, value: Value, depth = 0): Value => {
  if (depth > deepest) return value;
  if (Array.isArray(value)) return value.map((item) => sortedWithin(run, item, depth + 1));
  if (isTuple(value)) return tuple(value.items.map((item) => sortedWithin(run, item, depth + 1)));
  if (isDict(value))
    return newDict(
      inOrder(run, [...value.entries.values()]).map(([key, member]) => [key, sortedWithin(run, member, depth + 1)]),
    );
  return value;
};

/** Splits a long text into several literals, at line ends and spaces. */
const textLines = (run: Run, text: string, width: number, allowance: number): string[] => {
  const chunks: string[] = [];
  const lines = splitLines(text, true);
  lines.forEach((line, i) => {
    const lastLine = i === lines.length - 1;
    const lineText = repr(run, line);
    if (lengthOf(lineText) <= width - (lastLine ? allowance : 0)) {
      chunks.push(lineText);
      return;
    }
    const parts: string[] = [];
    for (let from = 0; from < line.length; ) {
      let to = from;
      while (to < line.length && !isSpace(line.charAt(to))) to++;
      while (to < line.length && isSpace(line.charAt(to))) to++;
      parts.push(line.slice(from, to));
      from = to;
    }
    let current = '';
    parts.forEach((part, j) => {
      run.budget.step(1 + (current.length >> 4));
      const most = width - (lastLine && j === parts.length - 1 ? allowance : 0);
      if (lengthOf(repr(run, current + part)) > most) {
        if (current !== '') chunks.push(repr(run, current));
        current = part;
      } else {
        current += part;
      }
    });
    if (current !== '') chunks.push(repr(run, current));
  });
  return chunks;
};

/** pprint.pformat(value) */
export const pretty = (run: Run, input: Value): string => {
  const write = (value: Value, indent: number, allowance: number, level: number): string => {
    const valueText = repr(run, value);
    if (lengthOf(valueText) <= pageWidth - indent - allowance || level > deepest) return valueText;
    const lines = (parts: readonly string[]): string => parts.join(`,\n${' '.repeat(indent + 1)}`);
    const items = (all: readonly Value[], close: number): string =>
      lines(all.map((item, i) => write(item, indent + 1, i === all.length - 1 ? allowance + close : 1, level + 1)));
    if (Array.isArray(value)) return `[${items(value, 1)}]`;
    if (isTuple(value)) {
      const close = value.items.length === 1 ? ',)' : ')';
      return `(${items(value.items, close.length)}${close}`;
    }
    if (isDict(value)) {
      const pairs = [...value.entries.values()];
      return `{${lines(
        pairs.map(([key, member], i) => {
          const name = repr(run, key);
          const behind = i === pairs.length - 1 ? allowance + 1 : 1;
          return `${name}: ${write(member, indent + lengthOf(name) + 3, behind, level + 1)}`;
        }),
      )}}`;
    }
    if (typeof value !== 'string') return valueText;
    const [at, after] = level === 1 ? [indent + 1, allowance + 1] : [indent, allowance];
    const chunks = textLines(run, value, pageWidth - at, after);
    if (chunks.length === 1) return valueText;
    const joined = chunks.join(`\n${' '.repeat(at)}`);
    return level === 1 ? `(${joined})` : joined;
  };
  return write(sortedWithin(run, input), 0, 0, 1);
};

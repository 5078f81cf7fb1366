import { valueError } from '../errors.ts';
import { isSpace, lengthOf, sliceText, strip } from '../values/text.ts';
import type { Run } from '../values/values.ts';

const blank = /[\t\n\v\f\r ]/;
const letter = /[\p{L}_]/u;
const word = /[\p{L}\p{N}_!"'&.,?]/u;
const wordCharacter = /[\p{L}\p{N}_]/u;

/**
 * The indexes in a word where a line may break: after a hyphen between letters, and before and after a dash of two or
 * more hyphens.
 */
const hyphenBreaks = (text: string): number[] => {
  const is = (pattern: RegExp, at: number): boolean => at >= 0 && at < text.length && pattern.test(text.charAt(at));
  const breaks: number[] = [];
  let start = 0;
  const add = (at: number): void => {
    breaks.push(at);
    start = at;
  };
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== '-') continue;
    let end = i;
    while (text[end] === '-') end++;
    if (end - i >= 2 && is(word, i - 1) && is(wordCharacter, end)) {
      if (i > start) add(i);
      add(end);
    } else if (end - i === 1) {
      const before = is(letter, i - 1) && is(letter, i - 2);
      const after = is(letter, end) && (is(letter, end + 1) || (text[end + 1] === '-' && is(letter, end + 2)));
      const single = is(letter, i - 1) && text[i - 2] === '-' && is(letter, i - 3);
      if ((before || single) && after) add(end);
    }
    i = end - 1;
  }
  return breaks.filter((at) => at > 0 && at < text.length);
};

/** Splits a text into words, parts of words and the spaces between them. */
const pieces = (text: string, breakOnHyphens: boolean): string[] => {
  const found: string[] = [];
  for (let from = 0; from < text.length; ) {
    const space = blank.test(text.charAt(from));
    let to = from + 1;
    while (to < text.length && blank.test(text.charAt(to)) === space) to++;
    const part = text.slice(from, to);
    let last = 0;
    if (!space && breakOnHyphens) {
      for (const at of hyphenBreaks(part)) {
        found.push(part.slice(last, at));
        last = at;
      }
    }
    found.push(part.slice(last));
    from = to;
  }
  return found;
};

type Options = { readonly width: number; readonly breakLong: boolean; readonly breakOnHyphens: boolean };

/** Wraps a line into several lines, as Python's textwrap does. */
export const wrapped = (run: Run, text: string, { width, breakLong, breakOnHyphens }: Options): string[] => {
  if (width <= 0) throw valueError(`invalid width ${width} (must be > 0)`);
  run.budget.make(text.length);
  const rest = pieces(text, breakOnHyphens).reverse();
  const lines: string[] = [];
  const isBlank = (piece: string | undefined): boolean => piece !== undefined && strip(piece, isSpace) === '';
  while (rest.length > 0) {
    if (lines.length > 0 && isBlank(rest.at(-1))) rest.pop();
    const line: string[] = [];
    let length = 0;
    for (let piece = rest.at(-1); piece !== undefined && length + lengthOf(piece) <= width; piece = rest.at(-1)) {
      run.budget.step();
      length += lengthOf(piece);
      line.push(piece);
      rest.pop();
    }
    const long = rest.at(-1);
    if (long !== undefined && lengthOf(long) > width) {
      run.budget.step(1 + (long.length >> 8));
      if (breakLong) {
        let end = width - length;
        const hyphen = breakOnHyphens ? sliceText(long, 0, end).lastIndexOf('-') : -1;
        if (hyphen > 0 && /[^-]/.test(long.slice(0, hyphen))) end = hyphen + 1;
        line.push(sliceText(long, 0, end));
        rest[rest.length - 1] = sliceText(long, end, Infinity);
      } else if (line.length === 0) {
        line.push(long);
        rest.pop();
      }
    }
    if (isBlank(line.at(-1))) line.pop();
    if (line.length > 0) lines.push(line.join(''));
  }
  return lines;
};

import { isMarkup, markup, type Run, type Value } from './values.ts';

const wide = /[\ud800-\udfff]/;

/** Characters as Python counts them: code points. Undefined when every character is one UTF-16 unit. */
const pointsOf = (text: string): string[] | undefined => (wide.test(text) ? Array.from(text) : undefined);

export const lengthOf = (text: string): number => pointsOf(text)?.length ?? text.length;

/** The characters from `from` up to `to`, both in code points and within the text. */
export const sliceText = (text: string, from: number, to: number): string =>
  pointsOf(text)?.slice(from, to).join('') ?? text.slice(from, to);

/** A text as a list of its characters. */
export const characters = (run: Run, text: string): string[] => {
  run.budget.make(text.length);
  return Array.from(text);
};

/** Converts an index in UTF-16 units to one in code points. */
export const pointIndex = (text: string, unit: number): number =>
  unit < 0 || !wide.test(text) ? unit : lengthOf(text.slice(0, unit));

const space = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** True if a character is white space in Python. */
export const isSpace = (character: string): boolean => space.test(character);

/** Removes characters for which `drop` is true from the ends. */
export const strip = (text: string, drop: (character: string) => boolean, atLeft = true, right = true): string => {
  const points = Array.from(text);
  let from = 0;
  let to = points.length;
  if (atLeft) while (from < to && drop(points[from] ?? '')) from++;
  if (right) while (to > from && drop(points[to - 1] ?? '')) to--;
  return from === 0 && to === points.length ? text : points.slice(from, to).join('');
};

/** str.split() without a separator. It splits at most `most` times, or without limit if `most` is negative. */
export const splitSpace = (text: string, most = -1): string[] => {
  const parts: string[] = [];
  let i = 0;
  for (;;) {
    while (i < text.length && isSpace(text.charAt(i))) i++;
    if (i >= text.length) return parts;
    if (parts.length === most) return [...parts, strip(text.slice(i), isSpace, false)];
    const from = i;
    while (i < text.length && !isSpace(text.charAt(i))) i++;
    parts.push(text.slice(from, i));
  }
};

/** str.splitlines() */
export const splitLines = (text: string, keep = false): string[] => {
  const lines: string[] = [];
  let from = 0;
  for (const { index, 0: end } of text.matchAll(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/g)) {
    lines.push(text.slice(from, keep ? index + end.length : index));
    from = index + end.length;
  }
  if (from < text.length) lines.push(text.slice(from));
  return lines;
};

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ["'", '&#39;'],
  ['"', '&#34;'],
]);

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>'"]/g, (character) => entities.get(character) ?? character);

/** A str with this text. It is safe if the model is safe. */
export const like = (model: Value, text: string): Value => (isMarkup(model) ? markup(text) : text);

/** Repeats a text, and counts the result in the budget. */
export const repeat = (run: Run, text: string, times: number | bigint): string => {
  if (times <= 0 || text === '') return '';
  run.budget.make(BigInt(text.length) * BigInt(times));
  return text.repeat(Number(times));
};

type Padding = {
  readonly width: bigint;
  readonly fill: string;
  /** How much of the padding goes to the left of the text. */
  readonly left: (padding: number) => number;
};

/** str.center, ljust, rjust */
export const pad = (run: Run, text: string, { width, fill, left }: Padding): string => {
  const padding = width - BigInt(lengthOf(text));
  if (padding <= 0n) return text;
  run.budget.make(width);
  const before = left(Number(padding));
  return fill.repeat(before) + text + fill.repeat(Number(padding) - before);
};

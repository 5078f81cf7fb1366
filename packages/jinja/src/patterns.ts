import { RE2JS } from 're2js';
import { limitError, PythonError } from './errors.ts';
import type { Run } from './values/values.ts';

const mostCharacters = 1000;
const mostInstructions = 5000;
/** Instructions times characters of one search. */
const mostWork = 400_000_000;

const badPattern = (why: string): PythonError => new PythonError('error', `regular expression: ${why}`);
const cannot = (what: string): PythonError =>
  badPattern(`${what} cannot be matched in linear time, and is not supported`);

const spaces =
  '\\t-\\r\\x1c-\\x20\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}';
const noSpaces =
  '\\x00-\\x08\\x0e-\\x1b\\x21-\\x{84}\\x{86}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{10ffff}';
const noWords =
  '\\p{M}\\p{S}\\p{Z}\\p{C}\\p{Pd}\\p{Ps}\\p{Pe}\\p{Pi}\\p{Pf}\\p{Po}\\x{203f}\\x{2040}\\x{2054}' +
  '\\x{fe33}\\x{fe34}\\x{fe4d}-\\x{fe4f}\\x{ff3f}';

/** The characters of Python's classes, as parts of a class: letters and digits of all scripts. */
const classes: Readonly<Record<string, string>> = {
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  w: '\\p{L}\\p{N}_',
  W: noWords,
  s: spaces,
  S: noSpaces,
};

const letters: Readonly<Record<string, string>> = { a: '\\x07', f: '\\f', n: '\\n', r: '\\r', t: '\\t', v: '\\v' };

const character = (code: number): string => {
  if (code > 0x10ffff) throw badPattern('a character beyond U+10FFFF');
  return `\\x{${code.toString(16)}}`;
};

/** An escape of Python in the syntax of RE2, within a class or not. */
const inRe2 = (written: string, inClass: boolean): string => {
  const letter = written.charAt(1);
  const members = classes[letter];
  if (members !== undefined) return inClass ? members : `[${members}]`;
  if (/^[xuU]/.test(letter)) return character(Number.parseInt(written.slice(2), 16));
  if (/^\d/.test(letter)) {
    if (letter === '0' || /^[0-3][0-7]{2}$/.test(written.slice(1)) || inClass)
      return character(Number.parseInt(written.slice(1), 8));
    throw cannot(`the reference ${written}`);
  }
  const letterPattern = letters[letter];
  if (letterPattern !== undefined) return letterPattern;
  if (inClass && letter === 'b') return '\\x08';
  if (!inClass && ['A', 'b', 'B'].includes(letter)) return written;
  if (!inClass && letter === 'Z') return '\\z';
  if (/[A-Za-z]/.test(letter)) throw badPattern(`bad escape ${written}`);
  return character(letter.codePointAt(0) ?? 0);
};

const oneEscape = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|0[0-7]{0,2}|[1-7][0-7]{2}|[1-9]\d?|[^xuU\d])/uy;

/** Flags that the beginning of a pattern sets. */
const globalFlags = /^\(\?([aimsux]+)\)/;

// A group that only RE2 or only Python has, and how Python's are called.
const groups: readonly (readonly [RegExp, string])[] = [
  [/\(\?<?[=!]/y, 'a lookahead or lookbehind'],
  [/\(\?P=/y, 'a reference to a group'],
  [/\(\?>/y, 'an atomic group'],
  [/\(\?\(/y, 'a condition'],
];

const at = (pattern: RegExp, text: string, index: number): string | undefined => {
  pattern.lastIndex = index;
  return pattern.exec(text)?.[0];
};

const escapeAt = (source: string, index: number): string => {
  const written = at(oneEscape, source, index);
  if (written === undefined) throw badPattern(`bad escape at ${index}`);
  return written;
};

/** A class: `[` means itself there, and so does `]` at its beginning. */
const classAt = (source: string, from: number): readonly [written: string, end: number] => {
  let index = from + 1;
  let result = '[';
  if (source[index] === '^') [result, index] = ['[^', index + 1];
  for (let first = true; first || source[index] !== ']'; first = false) {
    if (index >= source.length) throw badPattern('unterminated character set');
    if (source[index] === '\\') {
      const written = escapeAt(source, index);
      result += inRe2(written, true);
      index += written.length;
    } else {
      const one = String.fromCodePoint(source.codePointAt(index) ?? 0);
      result += /[[\]^&~]/.test(one) ? `\\${one}`.replace('\\&', '&').replace('\\~', '~') : one;
      index += one.length;
    }
  }
  return [`${result}]`, index + 1];
};

/** The beginning of a group. */
const groupAt = (source: string, index: number): readonly [written: string, end: number] => {
  for (const [form, what] of groups) if (at(form, source, index) !== undefined) throw cannot(what);
  const comment = at(/\(\?#[^)]*\)/y, source, index);
  if (comment !== undefined) return ['', index + comment.length];
  const opened = at(/\((?:\?(?:P<[A-Za-z_]\w*>|[ims]*(?:-[ims]+)?:))?/y, source, index) ?? '';
  if (opened === '(' && source[index + 1] === '?') throw badPattern(`unknown extension at ${index}`);
  return [opened, index + opened.length];
};

type Translated = { readonly text: string; readonly flags: string };

/** A pattern of Python in the syntax of RE2. `end` is what `$` means. */
const translated = (source: string, end: string): Translated => {
  const [opening = '', flags = ''] = globalFlags.exec(source) ?? [];
  if (/[ax]/.test(flags)) throw badPattern(`the flags ${flags} are not supported`);
  let text = '';
  for (let index = opening.length; index < source.length; ) {
    const one = source[index];
    if (one === '\\') {
      const written = escapeAt(source, index);
      text += inRe2(written, false);
      index += written.length;
    } else if (one === '[' || one === '(') {
      const [written, next] = one === '[' ? classAt(source, index) : groupAt(source, index);
      text += written;
      index = next;
    } else {
      const upTo = at(/\{,\d+\}/y, source, index);
      if (upTo !== undefined) text += upTo.replace('{', '{0');
      else text += one === '$' ? end : one;
      index += upTo?.length ?? 1;
    }
    if (at(/(?:[*+?]|\{\d*,?\d*\})\+/y, source, index - 1) !== undefined && /[*+?}]/.test(one ?? ''))
      throw cannot('a possessive repetition');
  }
  return { text, flags };
};

/** A part that is repeated makes a program larger as often: its size is known before it is compiled. RE2 bounds nested ones. */
const repetitions = (source: string): number =>
  [...source.matchAll(/\{(\d*)(?:,(\d*))?\}/g)].reduce(
    (sum, [, least, most]) => sum + Math.max(Number(least), Number(most ?? 0)),
    1,
  );

export type PatternFlags = { readonly ignoreCase: boolean; readonly multiline: boolean };

/** A pattern that is compiled for one text: `$` depends on whether a line ends the text. */
type Pattern = { readonly expression: RE2JS; readonly instructions: number };

const compile = (source: string, end: string, { ignoreCase, multiline }: PatternFlags): Pattern => {
  if (source.length > mostCharacters) throw limitError(`A pattern may have ${mostCharacters} characters`);
  const { text, flags } = translated(source, end);
  if (repetitions(source) * source.length > 10 * mostInstructions)
    throw limitError('The regular expression is too large');
  const all =
    (ignoreCase || flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0) |
    (multiline || flags.includes('m') ? RE2JS.MULTILINE : 0) |
    (flags.includes('s') ? RE2JS.DOTALL : 0);
  try {
    const expression = RE2JS.compile(text, all);
    const instructions = expression.programSize();
    if (instructions > mostInstructions) throw limitError('The regular expression is too large');
    return { expression, instructions };
  } catch (error) {
    if (error instanceof PythonError) throw error;
    throw badPattern((error as Error).message);
  }
};

const compiled = new WeakMap<Run['budget'], Map<string, Pattern>>();

/** The pattern of Python for one text. Throws for what cannot be matched in linear time. */
const patternFor = (run: Run, source: string, flags: PatternFlags, text: string): Pattern => {
  // Python's `$` also matches before a newline at the end. RE2 has that only for every line.
  const lines = flags.multiline || globalFlags.exec(source)?.[1]?.includes('m') === true;
  const oneLine = !lines && text.endsWith('\n') && text.indexOf('\n') === text.length - 1;
  const end = oneLine ? '(?m:$)' : '$';
  const patternsOfRun = compiled.get(run.budget) ?? new Map<string, Pattern>();
  compiled.set(run.budget, patternsOfRun);
  const key = `${end} ${flags.ignoreCase} ${flags.multiline} ${source}`;
  const found = patternsOfRun.get(key);
  if (found) return found;
  run.budget.step(100 + source.length * 10);
  const pattern = compile(source, end, flags);
  run.budget.step(pattern.instructions);
  if (patternsOfRun.size < 100) patternsOfRun.set(key, pattern);
  return pattern;
};

/** A match: where it is, and its groups; undefined for one that took no part. */
export type Match = {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | undefined)[];
  readonly names: Readonly<Record<string, number>>;
};

/** The pattern of Python for one text that is not too long for it. */
const patternOn = (run: Run, source: string, flags: PatternFlags, text: string): Pattern => {
  const pattern = patternFor(run, source, flags, text);
  if (pattern.instructions * text.length > mostWork)
    throw limitError('The text is too long for this regular expression');
  return pattern;
};

/** Where a match may be: anywhere, at the beginning, or over the whole text. */
export const hows = ['search', 'match', 'fullmatch'] as const;
export type How = (typeof hows)[number];

/** True if Python's re finds a match. */
export const hasMatch = (
  run: Run,
  source: string,
  flags: PatternFlags,
  [text, how]: readonly [text: string, how: How],
): boolean => {
  const { expression, instructions } = patternOn(run, source, flags, text);
  run.budget.step(50 + Math.ceil((text.length * instructions) / 256));
  const matcher = expression.matcher(text);
  if (how === 'search') return matcher.find();
  return how === 'match' ? matcher.lookingAt() : matcher.matches();
};

/** All matches from left to right, as Python's finditer. */
export function* matches(run: Run, source: string, flags: PatternFlags, text: string): Generator<Match, void> {
  const { expression, instructions } = patternOn(run, source, flags, text);
  const matcher = expression.matcher(text);
  const count = matcher.groupCount();
  const names = expression.namedGroups() as Readonly<Record<string, number>>;
  let from = 0;
  while (from <= text.length) {
    run.budget.step(50);
    if (!matcher.find(from)) return;
    const [start, end] = [matcher.start(), matcher.end()];
    run.budget.step(1 + Math.ceil(((end - from) * instructions) / 256));
    const groups = Array.from({ length: count + 1 }, (_, i) => matcher.group(i) ?? undefined);
    run.budget.make(end - start + count);
    yield { start, end, groups, names };
    from = end > start ? end : end + ((text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1);
  }
}

/** How many groups a pattern has, and their names. */
export const groupsOf = (
  run: Run,
  source: string,
  flags: PatternFlags,
): { readonly count: number; readonly names: Readonly<Record<string, number>> } => {
  const { expression } = patternFor(run, source, flags, '');
  return {
    count: expression.matcher('').groupCount(),
    names: expression.namedGroups() as Readonly<Record<string, number>>,
  };
};

export const patternError = badPattern;

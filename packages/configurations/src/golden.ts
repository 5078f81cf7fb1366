import { derivedId } from '@automation-platform/json';
import type { Rules } from './lexing.ts';
import type { Lines } from './lines.ts';
import type { Mask } from './masking.ts';
import { type Bounds, readLines } from './readLines.ts';
import type { Mode, Ordering, Severity } from './tags.ts';
import { TextFault } from './textFault.ts';
import { cuttings, endOfExpression, escaped, withoutMarks, wordsOf } from './words.ts';

/** True if a text matches, in linear time. */
type Test = (text: string) => boolean;

/** Makes a test of a regular expression. Throws for one that cannot be matched in linear time. */
export type Compile = (expression: string) => Test;

/** A word of a golden line. `rest`: an expression that is the whole word, so at the end it may match all words left. */
export type Word =
  | { readonly type: 'literal'; readonly value: string }
  | { readonly type: 'regex'; readonly value: string; readonly rest: boolean; readonly test: Test };

export type GoldenLine = {
  /** The words as they are written, with one blank between them. */
  readonly text: string;
  readonly words: readonly Word[];
  readonly mode: Mode;
  readonly severity: Severity;
  /** True if a tag of mode or severity stands before the line. */
  readonly tagged: boolean;
  readonly ordering: Ordering;
  /** True if the line takes no part in the order of its section. */
  readonly anywhere: boolean;
  readonly section: Section;
};

/** Golden lines of one section: each once, and their texts as often as they are written. */
export type Section = { readonly lines: ReadonlyMap<string, GoldenLine>; readonly written: readonly string[] };

export type Golden = { readonly section: Section; readonly paths: boolean };

/** The bounds of the text of a node. */
export const goldenBounds: Bounds = { bytes: 64 * 1024, lines: 5000 };
const mostExpressions = 200;
const mostCharacters = 1000;

/** Throws for an expression that is not closed, and for too many or too long ones. */
const refuseExpressions = (text: string): void => {
  let count = 0;
  for (const [i, line] of text.split(/\r\n?|\n/).entries())
    for (let open = line.indexOf('{/'); open >= 0; ) {
      const close = line.indexOf('/}', open + 2);
      if (close < 0) throw new TextFault('The expression that begins with {/ is not closed by /}', i + 1);
      if (close - open - 2 > mostCharacters)
        throw new TextFault(`An expression may have ${mostCharacters} characters`, i + 1);
      if (++count > mostExpressions) throw new TextFault(`A text may have ${mostExpressions} expressions`, i + 1);
      open = line.indexOf('{/', close + 2);
    }
};

/**
 * The expression that a word is, or undefined for a word without one. A word with further characters must fit whole.
 */
const expressionIn = (word: string): { readonly source: string; readonly rest: boolean } | undefined => {
  let open = word.indexOf('{/');
  if (open < 0) return undefined;
  if (open === 0 && endOfExpression(word, 0) === word.length) return { source: word.slice(2, -2).trim(), rest: true };
  let [source, at] = ['', 0];
  for (; open >= 0; open = word.indexOf('{/', at)) {
    const end = endOfExpression(word, open);
    source += `${escaped(word.slice(at, open))}(?:${word.slice(open + 2, end - 2).trim()})`;
    at = end;
  }
  return { source: `^(?:${source}${escaped(word.slice(at))})$`, rest: false };
};

const wordOf = (written: string, compile: Compile, line: number): Word => {
  const expression = expressionIn(withoutMarks(written));
  if (!expression) return { type: 'literal', value: written };
  const { source, rest } = expression;
  try {
    return { type: 'regex', value: source, rest, test: compile(source) };
  } catch (error) {
    throw new TextFault((error as Error).message, line);
  }
};

/** Two lines with the same words as one. An untagged later one leaves a required line as it is. */
const united = <S extends Section>(earlier: GoldenLine, later: GoldenLine, section: S) => {
  const { mode, severity, tagged } = !later.tagged && earlier.mode === 'required' ? earlier : later;
  const ordering = later.ordering === 'none' ? earlier.ordering : later.ordering;
  return { ...earlier, mode, severity, tagged, ordering, anywhere: earlier.anywhere || later.anywhere, section };
};

/** A section of a node, with the same section of a node below it. */
const inherited = (earlier: Section, later: Section): Section => {
  const lines = new Map(earlier.lines);
  for (const [text, line] of later.lines) {
    const there = lines.get(text);
    lines.set(text, there ? united(there, line, inherited(there.section, line.section)) : line);
  }
  return { lines, written: [...earlier.written, ...later.written.filter((text) => !earlier.lines.has(text))] };
};

type Says = Pick<GoldenLine, 'mode' | 'severity'>;
const byDefault: Says = { mode: 'required', severity: 'warning' };

type Growing = { readonly lines: Map<string, GoldenLine & { readonly section: Growing }>; readonly written: string[] };
const emptySection = (): Growing => ({ lines: new Map(), written: [] });

type Part = { readonly from: number; readonly to: number; readonly above: Says };

/** Adds the golden lines of a part of a text to a section. `above` is what the line says that they stand below. */
const addLines = (section: Growing, text: Lines, { from, to, above }: Part, compile: Compile): Growing => {
  for (let i = from; i < to; i = text.ends[i] ?? to) {
    const { mode, severity, ordering = 'none', anywhere = false } = text.tags[i] ?? {};
    const tagged = mode !== undefined || severity !== undefined;
    const says = tagged ? { mode: mode ?? byDefault.mode, severity: severity ?? byDefault.severity } : above;
    const written = wordsOf(text.texts[i] ?? '', cuttings.goldenLine);
    const key = written.join(' ');
    const there = section.lines.get(key);
    const words = there?.words ?? written.map((word) => wordOf(word, compile, text.numbers[i] ?? 1));
    const below = { from: i + 1, to: text.ends[i] ?? to, above: says };
    const own = addLines(there?.section ?? emptySection(), text, below, compile);
    const line = { text: key, words, ...says, tagged, ordering, anywhere, section: own };
    section.lines.set(key, there ? united(there, line, own) : line);
    section.written.push(key);
  }
  return section;
};

/** Reads the text of a node, after Jinja2. Throws `TextFault`. */
export const readGolden = (
  text: string,
  type: string,
  compile: Compile,
  { rules, bounds = goldenBounds }: { readonly rules?: Rules | undefined; readonly bounds?: Bounds } = {},
): Golden => {
  refuseExpressions(text);
  const lines = readLines(text, { type, rules, golden: true, bounds });
  const all = { from: 0, to: lines.texts.length, above: byDefault };
  return { section: addLines(emptySection(), lines, all, compile), paths: lines.paths };
};

const leaves = ({ lines }: Section, above: readonly GoldenLine[]): readonly GoldenLine[] =>
  [...lines.values()].flatMap((line) => {
    const path = [...above, line];
    if (line.section.lines.size > 0) return leaves(line.section, path);
    return { ...line, text: path.map(({ text }) => text).join(' '), words: path.flatMap(({ words }) => words) };
  });

/** The golden lines as paths: those that have no section, after the words of the lines that they stand below. */
export const goldenPaths = ({ section, paths }: Golden): Golden => {
  if (paths) return { section, paths };
  const lines = new Map(leaves(section, []).map((line) => [line.text, line]));
  return { section: { lines, written: [...lines.keys()] }, paths: true };
};

/** The texts of the nodes from the root down to one, as one text: a device in that node is checked against it. */
export const mergeGoldens = (goldens: readonly Golden[]): Golden => {
  const paths = goldens.some((golden) => golden.paths);
  const alike = paths ? goldens.map(goldenPaths) : goldens;
  return { section: alike.map(({ section }) => section).reduce(inherited, emptySection()), paths };
};

/** A golden line in reports and specifications. */
export type SpecLine = {
  readonly id: string;
  readonly words: readonly { readonly type: Word['type']; readonly value: string }[];
  readonly lines: readonly SpecLine[];
  readonly evalMode: Mode;
  readonly severity: Severity;
  readonly ordering: Ordering;
  readonly fixMode: 'manual';
  readonly membership: 'default';
};

/**
 * Shows a golden line. Its id follows from what is shown of it and of the lines that it stands below, so it is the
 * same in each report, and says nothing of secrets.
 */
export const specLine = (line: GoldenLine, above: readonly GoldenLine[], mask: Mask): Omit<SpecLine, 'lines'> => {
  const words = mask(line.words.map(({ value }) => value));
  const path = above.map(({ words }) => mask(words.map(({ value }) => value)).join(' '));
  return {
    id: derivedId([...path, words.join(' ')].join('\n')),
    words: line.words.map(({ type }, i) => ({ type, value: words[i] ?? '' })),
    evalMode: line.mode,
    severity: line.severity,
    ordering: line.ordering,
    fixMode: 'manual',
    membership: 'default',
  };
};

/** The golden lines of a section with their own sections, as specifications show them. */
export const specLines = ({ lines }: Section, mask: Mask, above: readonly GoldenLine[] = []): readonly SpecLine[] =>
  [...lines.values()].map((line) => ({
    ...specLine(line, above, mask),
    lines: specLines(line.section, mask, [...above, line]),
  }));

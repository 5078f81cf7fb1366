import { own } from '@automation-platform/json';
import { deviceTypeOf } from './deviceTypes.ts';
import type { Section } from './golden.ts';
import type { Lines } from './lines.ts';
import { withoutMarks, wordsOf } from './words.ts';

/** A line to write, with those of its section. */
export type Written = { readonly text: string; readonly lines: readonly Written[] };

/** The lines of a configuration, nested. */
export const nestedLines = (all: Lines, from = 0, to = all.texts.length): readonly Written[] => {
  const { texts, ends } = all;
  const lines: Written[] = [];
  for (let i = from; i < to; i = ends[i] ?? to)
    lines.push({ text: texts[i] ?? '', lines: nestedLines(all, i + 1, ends[i] ?? to) });
  return lines;
};

/** The lines that must be there, and those that they stand below. */
export const requiredLines = ({ lines }: Section): readonly Written[] =>
  [...lines.values()].flatMap(({ mode, text, section }) => {
    const below = mode === 'disallowed' ? [] : requiredLines(section);
    return mode === 'required' || below.length > 0 ? [{ text, lines: below }] : [];
  });

const delimiters = ['^C', ...'#@%$~&|=+'];

/** A line as a device writes it: the text of a banner stands between delimiters, on lines of its own. */
const asWritten = (text: string): string => {
  const plain = withoutMarks(text);
  // Words of other lines have marks where rules found blanks in them.
  if (plain.length === text.length || !/^(?:banner|vacant-message)\b/.test(text)) return plain;
  const delimiter = delimiters.find((one) => !plain.includes(one)) ?? '\x03';
  return text.replace(/\0/g, () => delimiter);
};

type Form = { readonly type: string; readonly paths: boolean };

/** Writes lines in the form of a device type; `paths`: each is a whole path. */
export const writeLines = (lines: readonly Written[], { type, paths }: Form): string => {
  if (paths) return lines.map(({ text }) => `set ${text}\n`).join('');
  const { form, lineEnds = false, ends = {} } = deviceTypeOf(type);
  const endOf = (text: string): string | undefined => own(ends, text.replace(/ .*$/s, ''));
  const step = form === 'braces' ? '    ' : ' ';
  const write = (section: readonly Written[], indent: string): string =>
    section
      .map(({ text, lines: below }) => {
        const line = `${indent}${asWritten(text)}`;
        const rest = write(below, indent + step);
        if (form !== 'braces') {
          const end = endOf(text);
          return `${line}\n${rest}${end === undefined ? '' : `${indent}${end}\n`}`;
        }
        if (below.length > 0) return `${line} {\n${rest}${indent}}\n`;
        return `${line}${lineEnds ? '' : ';'}\n`;
      })
      .join('');
  return write(lines, '');
};

/** A character in an expression that stands for itself. No two of them begin or end an expression. */
const literal = (character: string): string => {
  if (character === '\n') return '\\n';
  if (/[\\^[\]]/.test(character)) return `\\${character}`;
  return /[$.|?*+(){}/]/.test(character) ? `[${character}]` : character;
};

const expressionOf = (word: string): string => `{/^${[...withoutMarks(word)].map(literal).join('')}$/}`;

const tag = /^(?:\{[A-Za-z]+\/\}|<[A-Za-z]+\/>)/;

/** The golden line that a device's line fits: what would be a tag or an expression becomes one that stands for itself. */
const goldenText = (text: string): string => {
  if (!text.includes('{/') && !tag.test(text)) return text;
  return wordsOf(text)
    .map((word, i) => (i === 0 || word.includes('{/') ? expressionOf(word) : word))
    .join(' ');
};

/** Lines of a device as golden lines. */
export const goldenLines = (lines: readonly Written[]): readonly Written[] =>
  lines.map(({ text, lines: below }) => ({ text: goldenText(text), lines: goldenLines(below) }));

/** A text as Jinja2 that renders to it. */
export const asTemplate = (text: string): string => text.replace(/\{[{%#]/g, (open) => `{{ "${open}" }}`);

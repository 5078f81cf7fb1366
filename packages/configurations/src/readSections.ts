import type { Found } from './lines.ts';
import { noTags, tagsAt } from './tags.ts';
import { isBlank, oneWord } from './words.ts';

type Options = { readonly golden: boolean; readonly banners: boolean };

const head = /^(?:Building configuration\.\.\.|Current configuration\s*:|Using \d+ out of )/;
/** A date, such as `Tue Jan  3 12:00:00 UTC`. */
const date = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s+[A-Z][a-z]{2}\s+\d{1,2}\s+\d/;
const isHead = (text: string): boolean => head.test(text) || date.test(text);
const leaving = /^(?:exit|end|next|(?:exit|end)-\S+)$/;
const isDropped = (text: string): boolean =>
  text === '' || text.startsWith('!') || text.startsWith('#') || (/^[en]/.test(text) && leaving.test(text));

/** A line that several lines of the text make. `next` is the index of the line after them. */
type Joined = { readonly text: string; readonly next: number };

const banner = /^(banner\s+\S+|vacant-message)(?:\s+(\^C|[!-/:-@[-`{-~\x03]|[0-9A-Za-z](?=\s*$))(.*))?$/s;

/**
 * Reads banners. A text that does not end makes its first line an ordinary one. That a delimiter does not come any
 * more is found out once for each delimiter, so all banners of a text take linear time.
 */
const bannerReader = (lines: readonly string[]) => {
  const absent = new Set<string>();
  return (text: string, index: number): Joined | undefined => {
    if (!text.startsWith('banner ') && !text.startsWith('vacant-message')) return undefined;
    const [whole, begin = '', delimiter, rest = ''] = banner.exec(text) ?? [];
    if (whole === undefined) return undefined;
    const sameLine = delimiter === undefined ? -1 : rest.indexOf(delimiter);
    if (sameLine >= 0) return { text: lineOf(begin, [rest.slice(0, sameLine)]), next: index + 1 };
    const key = delimiter ?? 'EOF';
    if (absent.has(key)) return undefined;
    const isEnd = (line: string): boolean =>
      delimiter === undefined ? line.trim() === 'EOF' : line.includes(delimiter);
    for (let i = index + 1; i < lines.length; i++) {
      const line = lines[i] ?? '';
      if (!isEnd(line)) continue;
      const last = delimiter === undefined ? '' : line.slice(0, line.indexOf(delimiter));
      return { text: lineOf(begin, [rest, ...lines.slice(index + 1, i), last]), next: i + 1 };
    }
    absent.add(key);
    return undefined;
  };
};

const lineOf = (begin: string, banner: readonly string[]): string =>
  `${begin.replace(/\s+/g, ' ')} ${oneWord(banner.map((line) => line.trimEnd()).join('\n'))}`;

const digits = /^[\s0-9A-Fa-f]+$/;

/** A certificate: its digits up to `quit` are one word. */
const certificateAt = (lines: readonly string[], text: string, index: number): Joined | undefined => {
  if (!text.startsWith('certificate ')) return undefined;
  let next = index + 1;
  while (digits.test(lines[next] ?? '')) next++;
  if (next === index + 1 || lines[next]?.trim() !== 'quit') return undefined;
  const word = lines
    .slice(index + 1, next)
    .join('')
    .replace(/\s+/g, '');
  return { text: `${text} ${word}`, next: next + 1 };
};

/** Reads a text whose sections are made by indentation: a line is below the nearest one above that is less indented. */
export const readSections = (text: string, { golden, banners }: Options, add: (line: Found) => void): void => {
  const lines = text.split('\n');
  const bannerAt = bannerReader(lines);
  const indents: number[] = [];
  let inBody = false;
  for (let index = 0; index < lines.length; ) {
    const line = lines[index] ?? '';
    const number = index + 1;
    let indent = 0;
    while (isBlank(line, indent)) indent++;
    const { tags, end } = golden ? tagsAt(line, indent, number) : { tags: noTags, end: indent };
    const words = line.slice(end).trim();
    index = number;
    if (isDropped(words) || (!inBody && isHead(words))) continue;
    inBody = true;
    const joined = (banners && bannerAt(words, number - 1)) || certificateAt(lines, words, number - 1);
    if (joined) index = joined.next;
    while ((indents.at(-1) ?? -1) >= indent) indents.pop();
    add({ text: joined ? joined.text : words, level: indents.length, number, tags });
    indents.push(indent);
  }
};

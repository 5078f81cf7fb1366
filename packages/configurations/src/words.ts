/*
 * The words of a line. Blanks separate them. Text in double quotes that begin a word is one word, quotes included. So
 * is a text between two NULs: readers mark so what a device writes over several lines, such as the text of a banner.
 */

const mark = '\0';

/** Makes one word of a text that has blanks. */
export const oneWord = (text: string): string => mark + text + mark;

/** A word or a line as people see it. */
export const withoutMarks = (text: string): string => text.replaceAll(mark, '');

/** How a text is cut. `plain` finds the characters of a word; `golden`: expressions `{/re/}` are parts of words. */
export type Cutting = { readonly plain: RegExp; readonly golden: boolean };

export const cuttings = {
  line: { plain: /[^ \t\n]+/y, golden: false },
  goldenLine: { plain: /(?:[^ \t\n{]|\{(?!\/))+/y, golden: true },
  statement: { plain: /[^ \t\n{};]+/y, golden: false },
  goldenStatement: { plain: /[^ \t\n{};]+/y, golden: true },
} as const satisfies Record<string, Cutting>;

/** The index after the expression that opens at an index. That each one ends has been checked before. */
export const endOfExpression = (text: string, open: number): number => {
  const end = text.indexOf('/}', open + 2);
  return end < 0 ? text.length : end + 2;
};

const isEscaped = (text: string, at: number): boolean => {
  let from = at;
  while (text[from - 1] === '\\') from--;
  return (at - from) % 2 === 1;
};

/** The index after the quote that closes the one at an index; undefined if none does. */
const endOfQuote = (text: string, open: number, golden: boolean): number | undefined => {
  let at = open + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return undefined;
    const expression = golden ? text.indexOf('{/', at) : -1;
    if (expression >= 0 && expression < quote) at = endOfExpression(text, expression);
    else if (isEscaped(text, quote)) at = quote + 1;
    else return quote + 1;
  }
};

/** The index after the word that begins at an index. */
export const endOfWord = (text: string, from: number, { plain, golden }: Cutting): number => {
  let at = from;
  if (text[from] === mark) return text.indexOf(mark, from + 1) + 1 || text.length;
  if (text[from] === '"') at = endOfQuote(text, from, golden) ?? from + 1;
  for (;;) {
    plain.lastIndex = at;
    if (plain.test(text)) at = plain.lastIndex;
    if (!golden || !text.startsWith('{/', at)) return at;
    at = endOfExpression(text, at);
  }
};

/** The words of one line. */
export const wordsOf = (text: string, cutting: Cutting = cuttings.line): readonly string[] => {
  const simple = !text.includes('"') && !text.includes(mark) && !text.includes('\t') && !text.includes('  ');
  if (simple && !(cutting.golden && text.includes('{/'))) return text.split(' ');
  const words: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = isBlank(text, at) ? at : endOfWord(text, at, cutting);
    if (end > at) words.push(text.slice(at, end));
    at = Math.max(end, at + 1);
  }
  return words;
};

/** A line that no reader has marked, as long as it is: its own NULs are blanks. */
export const unmarked = (line: string): string => line.replaceAll(mark, ' ');

export const isBlank = (text: string, at: number): boolean => text[at] === ' ' || text[at] === '\t';

/** A line with one blank between words. */
export const spaced = (text: string): string =>
  text.includes('  ') || text.includes('\t') ? wordsOf(text).join(' ') : text;

/** A literal text as a part of an expression. */
export const escaped = (literal: string): string => literal.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');

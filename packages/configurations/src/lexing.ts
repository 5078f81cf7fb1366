import { noTags, type Tags, tagsAt } from './tags.ts';
import { endOfExpression, isBlank, oneWord, wordsOf } from './words.ts';

export type Statement = {
  readonly words: readonly string[];
  readonly number: number;
  readonly tags: Tags;
  /** True if a block follows, which ends at `close`. */
  readonly opens: boolean;
};

export type Take = { readonly statement: (statement: Statement) => void; readonly close: (number: number) => void };

/** The parts of a text that rules find. `end_line` ends a statement; a comment is left out. */
export const lexActions = ['end_line', 'word', 'comment', 'open_statement_block', 'close_statement_block'] as const;
type LexAction = (typeof lexActions)[number];

/** A regular expression, and the part of a text that it finds. */
export type LexRule = readonly [expression: string, action: LexAction];

/** How a text is read whose type has no form of its own: as one of the built-in type `template`, unless it has rules. */
export type Parser = { readonly template: string; readonly lexRules: readonly LexRule[] };

/** The length of what an expression finds at the beginning of a text; undefined: nothing. */
type Begins = (text: string) => number | undefined;

/** Rules that can be tried. */
export type Rules = readonly { readonly begins: Begins; readonly action: LexAction }[];

/** A rule sees this number of characters, so a text takes linear time. */
const mostCharacters = 4096;

type Token = { readonly end: number; readonly action: LexAction };

/** The part that begins at an index: by the first rule that fits; a word of one character, if that finds no more. */
const tokenAt = (rules: Rules, text: string, from: number, to: number): Token => {
  const visible = text.slice(from, Math.min(to, from + mostCharacters));
  for (const { begins, action } of rules) {
    const length = begins(visible);
    if (length === 0) break;
    if (length !== undefined) return { end: from + length, action };
  }
  return { end: from + ((text.codePointAt(from) ?? 0) > 0xffff ? 2 : 1), action: 'word' };
};

/** A word that stays one between blanks. */
const wordFrom = (text: string): string => {
  if (!/[\s"]/.test(text)) return text;
  const [first, ...others] = wordsOf(`${text} "`);
  return first === text && others.length === 1 ? text : oneWord(text);
};

/**
 * Cuts a text into statements by rules. Blanks and ends of lines that no rule finds separate words. In golden texts tags and
 * expressions are found before rules are tried, and an expression is a part of the words beside it.
 */
export const lexStatements = (text: string, rules: Rules, golden: boolean, { statement, close }: Take): void => {
  let [line, at] = [1, 0];
  let words: string[] = [];
  let [number, tags] = [1, noTags];
  // Where the last word ended, and whether that was an expression.
  let [lastEnd, wasExpression] = [-1, false];
  const end = (opens: boolean): void => {
    if (words.length > 0 || opens) statement({ words, number, tags, opens });
    words = [];
    tags = noTags;
    lastEnd = -1;
  };
  const addWord = (word: string, from: number, isExpression: boolean): void => {
    if (from === lastEnd && (isExpression || wasExpression)) words.push(`${words.pop() ?? ''}${word}`);
    else words.push(word);
    [lastEnd, wasExpression] = [from + word.length, isExpression];
  };
  let expression = golden ? text.indexOf('{/') : -1;
  while (at < text.length) {
    if (words.length === 0) number = line;
    if (golden && words.length === 0 && tags === noTags && (text[at] === '{' || text[at] === '<')) {
      ({ tags, end: at } = tagsAt(text, at, line));
      if (tags !== noTags) continue;
    }
    if (expression >= 0 && expression < at) expression = text.indexOf('{/', at);
    if (at === expression) {
      const next = endOfExpression(text, at);
      addWord(text.slice(at, next), at, true);
      at = next;
      continue;
    }
    const token = tokenAt(rules, text, at, expression < 0 ? text.length : expression);
    const characters = text.slice(at, token.end);
    const isBetween = characters.length === 1 && (isBlank(characters, 0) || characters === '\n');
    if (token.action === 'end_line') end(false);
    else if (token.action === 'open_statement_block') end(true);
    else if (token.action === 'close_statement_block') {
      end(false);
      close(line);
    } else if (token.action === 'word' && !isBetween) {
      const word = wordFrom(characters);
      addWord(word, at, false);
      lastEnd = token.end;
    }
    for (let next = characters.indexOf('\n'); next >= 0; next = characters.indexOf('\n', next + 1)) line++;
    at = token.end;
  }
  end(false);
};

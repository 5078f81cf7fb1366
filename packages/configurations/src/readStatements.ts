import { lexStatements, type Rules, type Statement, type Take } from './lexing.ts';
import type { Found } from './lines.ts';
import { noTags, tagsAt } from './tags.ts';
import { TextFault } from './textFault.ts';
import { cuttings, endOfWord, isBlank, wordsOf } from './words.ts';

/** `braces`: blocks in braces, and a semicolon ends a statement. `lineEnds`: the end of a line ends one, too. */
type Options = { readonly golden: boolean; readonly braces: boolean; readonly lineEnds: boolean };

const linesIn = (text: string, from: number, to: number): number => {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++;
  return count;
};

/** Where a comment at an index ends; undefined if there is none. */
const endOfComment = (text: string, at: number, { braces }: Options): number | undefined => {
  if (text[at] === '#') {
    const end = text.indexOf('\n', at);
    return end < 0 ? text.length : end;
  }
  const end = braces && text.startsWith('/*', at) ? text.indexOf('*/', at + 2) : -1;
  return end < 0 ? undefined : end + 2;
};

/** Cuts a text into statements. */
const cutStatements = (text: string, options: Options, { statement, close }: Take): void => {
  const { golden, braces, lineEnds } = options;
  const ofLines = golden ? cuttings.goldenLine : cuttings.line;
  const ofBraces = golden ? cuttings.goldenStatement : cuttings.statement;
  const cutting = braces ? ofBraces : ofLines;
  let [line, at] = [1, 0];
  let words: string[] = [];
  let number = 1;
  let tags = noTags;
  const end = (opens: boolean): void => {
    if (words.length > 0 || opens) statement({ words, number, tags, opens });
    words = [];
    tags = noTags;
  };
  while (at < text.length) {
    const one = text[at];
    if (words.length === 0) number = line;
    if (golden && words.length === 0 && tags === noTags && (one === '{' || one === '<')) {
      ({ tags, end: at } = tagsAt(text, at, line));
      if (tags !== noTags) continue;
    }
    const comment = words.length === 0 || braces ? endOfComment(text, at, options) : undefined;
    if (comment !== undefined) {
      line += linesIn(text, at, comment);
      at = comment;
    } else if (one === '\n') {
      if (lineEnds) end(false);
      line++;
      at++;
    } else if (isBlank(text, at)) at++;
    else if (braces && one === ';') {
      end(false);
      at++;
    } else if (braces && one === '{' && !(golden && text[at + 1] === '/')) {
      end(true);
      at++;
    } else if (braces && one === '}') {
      end(false);
      close(line);
      at++;
    } else {
      const next = Math.max(endOfWord(text, at, cutting), at + 1);
      words.push(text.slice(at, next));
      if (one === '"') line += linesIn(text, at, next);
      at = next;
    }
  }
  end(false);
};

/** The words of each statement that a list stands for: `x [ a b ]` is `x a` and `x b`. */
const listed = (words: readonly string[]): readonly (readonly string[])[] => {
  const open = words.indexOf('[');
  const close = words.indexOf(']', open);
  if (open < 0 || close <= open + 1) return [words];
  return words.slice(open + 1, close).map((item) => [...words.slice(0, open), item, ...words.slice(close + 1)]);
};

/** The words of a statement that is there; undefined for one that is not, because it is `inactive:`. */
const active = (words: readonly string[]): readonly string[] | undefined => {
  if (words[0] === 'protect:') return active(words.slice(1));
  return words[0] === 'inactive:' ? undefined : words;
};

/** Reads statements whose sections are blocks. `close` of what `cut` takes: throws for one that closes no block. */
const readBlocks = (cut: (take: Take) => void, statement: (statement: Statement, level: number) => void): void => {
  const open: number[] = [];
  cut({
    statement: (one) => {
      statement(one, open.length);
      if (one.opens) open.push(one.number);
    },
    close: (number) => {
      if (open.pop() === undefined) throw new TextFault('A brace closes no block', number);
    },
  });
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw new TextFault('The block that begins here is not closed', unclosed);
};

/** Reads a text whose sections are blocks in braces. */
export const readBraces = (text: string, options: Omit<Options, 'braces'>, add: (line: Found) => void): void => {
  // The level of the inactive block that is being read.
  let inactive = Infinity;
  readBlocks(
    (take) => cutStatements(text, { ...options, braces: true }, take),
    ({ words: written, number, tags, opens }, level) => {
      if (level < inactive) inactive = Infinity;
      const words = active(written);
      if (level < inactive && words)
        for (const one of opens ? [words] : listed(words)) add({ text: one.join(' '), level, number, tags });
      if (level < inactive && !words && opens) inactive = level + 1;
    },
  );
};

/** Reads a text that rules cut. */
export const readByRules = (text: string, rules: Rules, golden: boolean, add: (line: Found) => void): void =>
  readBlocks(
    (take) => lexStatements(text, rules, golden, take),
    ({ words, number, tags }, level) => add({ text: words.join(' '), level, number, tags }),
  );

const verbs = new Set(['set', 'deactivate', 'delete', 'activate']);

const setForm =
  /^(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(?:(?:\{[A-Za-z]+\/\}|<[A-Za-z]+\/>)[ \t]*)*(?:set|deactivate|delete|activate)[ \t]/;

/** The beginnings of a path, the path itself included. */
const beginnings = (path: string): readonly string[] => {
  const words = wordsOf(path);
  return words.map((_, i) => words.slice(0, i + 1).join(' '));
};

/**
 * Reads a text with one path on each line. `delete` takes away what was set before, `deactivate` what is set anywhere.
 * False if `strict`, and a line does not begin with a word of the set form.
 */
export const readPaths = (
  text: string,
  { golden, strict }: { readonly golden: boolean; readonly strict: boolean },
  add: (line: Found) => void,
): boolean => {
  if (strict && !setForm.test(text)) return false;
  const set: Omit<Found, 'level'>[] = [];
  /** For each path that is taken away, how many paths were set before. */
  const away = new Map<string, number>();
  let isSet = true;
  cutStatements(
    text,
    { golden, braces: false, lineEnds: true },
    {
      statement: ({ words, number, tags }) => {
        const [verb = ''] = words;
        const path = (verbs.has(verb) ? words.slice(1) : words).join(' ');
        isSet &&= verbs.has(verb);
        if (verb === 'deactivate') away.set(path, Infinity);
        else if (verb === 'delete') away.set(path, set.length);
        else if (verb === 'activate') away.delete(path);
        else if (path !== '') set.push({ text: path, number, tags });
      },
      close: () => undefined,
    },
  );
  if (strict && !isSet) return false;
  for (const [i, line] of set.entries())
    if (away.size === 0 || !beginnings(line.text).some((path) => (away.get(path) ?? -1) > i))
      add({ ...line, level: 0 });
  return true;
};

import { changedItems, piecesOf } from './changedItems.ts';
import { masking, mayBeMasked } from './masking.ts';
import { unmarked, wordsOf } from './words.ts';

/** The unit of a comparison. */
export const diffUnits = ['word', 'line', 'char'] as const;
export type DiffUnit = (typeof diffUnits)[number];

/** A part of two texts: 0 of both, -1 of the first alone, 1 of the second alone. */
export type DiffPart = readonly [of: 0 | 1 | -1, text: string];

/** A part of a text as it is compared, and as it is shown. */
type Token = { readonly key: string; readonly text: string };

const maskWords = masking([]);

/** The words of a line and the blanks between them. A word that is a secret is masked in the text. */
const wordTokens = (line: string): readonly Token[] => {
  const readable = unmarked(line);
  const words = wordsOf(readable);
  const masked = maskWords(words);
  const tokens: Token[] = [];
  let at = 0;
  for (const [i, word] of words.entries()) {
    if (word === '') continue;
    const start = readable.indexOf(word, at);
    if (start > at) tokens.push(plain(line.slice(at, start)));
    const own = line.slice(start, start + word.length);
    const text = masked[i] ?? word;
    // A word that is a secret here equals no word that is none elsewhere.
    tokens.push(text === word ? plain(own) : { key: `\0${own}`, text });
    at = start + word.length;
  }
  if (at < line.length) tokens.push(plain(line.slice(at)));
  return tokens;
};

const plain = (text: string): Token => ({ key: text, text });

/** A line with masked secrets. */
export const maskedLine = (line: string): string =>
  mayBeMasked(line)
    ? wordTokens(line)
        .map(({ text }) => text)
        .join('')
    : line;

/** The lines of a text, each with its end. */
const linesOf = (text: string): readonly string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

const isSecret = ({ key, text }: Token): boolean => key !== text;

const tokensOf: Readonly<Record<DiffUnit, (line: string) => readonly Token[]>> = {
  line: (line) => [{ key: line, text: maskedLine(line) }],
  word: (line) => [...wordTokens(line.replace(/\n$/, '')), ...(line.endsWith('\n') ? [plain('\n')] : [])],
  char: (line) => wordTokens(line).flatMap((token) => (isSecret(token) ? [token] : [...token.key].map(plain))),
};

/**
 * The parts of two texts, in order. Those of 0 and -1 joined are the first text, those of 0 and 1 the second, with masked
 * secrets: one that differs is a part of each text.
 */
export const diffTexts = (first: string, second: string, unit: DiffUnit): readonly DiffPart[] => {
  const [a, b] = [first, second].map((text) => linesOf(text).flatMap(tokensOf[unit])) as [Token[], Token[]];
  const keys = (tokens: readonly Token[]): readonly string[] => tokens.map(({ key }) => key);
  const textIn = (tokens: readonly Token[], [from, to]: readonly [number, number]): string =>
    tokens
      .slice(from, to)
      .map((token) => token.text)
      .join('');
  return piecesOf(changedItems(keys(a), keys(b))).flatMap((piece): DiffPart[] => {
    if (piece.equal) return [[0, textIn(a, piece.first)]];
    const both: DiffPart[] = [
      [-1, textIn(a, piece.first)],
      [1, textIn(b, piece.second)],
    ];
    return both.filter(([, text]) => text !== '');
  });
};

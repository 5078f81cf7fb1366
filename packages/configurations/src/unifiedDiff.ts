import { type Changed, changedItems, type Piece, piecesOf } from './changedItems.ts';
import { maskedLine } from './textDiff.ts';

/** The equal lines around changed ones. */
const context = 3;

/** A part of an equal piece, by the numbers of its lines. */
const part = ({ first: [x], second: [y] }: Piece, from: number, to: number): Piece => ({
  equal: true,
  first: [x + from, x + to],
  second: [y + from, y + to],
});

/** The changed pieces with the lines around them, together where they touch. */
const hunksOf = (pieces: readonly Piece[]): readonly (readonly Piece[])[] => {
  let hunk: Piece[] = [];
  const hunks = [hunk];
  for (const [i, piece] of pieces.entries()) {
    const length = piece.first[1] - piece.first[0];
    const after = i === 0 ? 0 : context;
    const before = i === pieces.length - 1 ? 0 : context;
    if (!piece.equal || length <= after + before) hunk.push(piece);
    else {
      hunk.push(part(piece, 0, after));
      hunk = [part(piece, length - before, length)];
      hunks.push(hunk);
    }
  }
  return hunks.filter((some) => some.some(({ equal }) => !equal));
};

const rangeOf = ([from, to]: readonly [number, number]): string =>
  `${to === from ? from : from + 1}${to - from === 1 ? '' : `,${to - from}`}`;

const linesIn = (text: string): readonly string[] => {
  const lines = text.replace(/\r\n/g, '\n').split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
};

const signed = (sign: string, lines: readonly string[], range: readonly [number, number]): readonly string[] =>
  lines.slice(...range).map((line) => sign + maskedLine(line));

/**
 * The lines that differ between two texts, in the form of `diff -u`, with masked secrets; empty if there are none. `changed`: the
 * lines that differ, if that is known.
 */
export const unifiedDiff = (before: string, after: string, changed?: Changed): string => {
  const [a, b] = [linesIn(before), linesIn(after)];
  // Carriage returns do not count here.
  const isKnown = changed !== undefined && !before.includes('\r') && !after.includes('\r');
  const inLines = isKnown
    ? { removed: changed.removed.subarray(0, a.length), added: changed.added.subarray(0, b.length) }
    : changedItems(a, b);
  const text = hunksOf(piecesOf(inLines)).flatMap((hunk) => {
    const [from, to] = [hunk.at(0), hunk.at(-1)] as [Piece, Piece]; // it has a changed piece
    return [
      `@@ -${rangeOf([from.first[0], to.first[1]])} +${rangeOf([from.second[0], to.second[1]])} @@`,
      ...hunk.flatMap(({ equal, first, second }) =>
        equal ? signed(' ', a, first) : [...signed('-', a, first), ...signed('+', b, second)],
      ),
    ];
  });
  return text.length === 0 ? '' : `--- before\n+++ after\n${text.join('\n')}\n`;
};

const mostDiff = 64 * 1024;

/** The whole lines of a diff that are shown: 64 KiB of them. */
export const shownDiff = (diff: string): string =>
  diff.length > mostDiff ? `${diff.slice(0, diff.lastIndexOf('\n', mostDiff))}\n` : diff;

import { changedItems, type Piece, piecesOf } from './changedItems.ts';
import { maskedLine } from './textDiff.ts';

/** The equal lines around changed ones. */
const context = 3;

type Hunk = { readonly first: readonly [number, number]; readonly second: readonly [number, number] };

/** The changed pieces with the lines around them, joined where they touch. */
const hunksOf = (pieces: readonly Piece[], last: number): readonly Hunk[] => {
  const hunks: Hunk[] = [];
  for (const { equal, first, second } of pieces) {
    if (equal) continue;
    const before = Math.min(context, first[0]);
    const after = Math.min(context, last - first[1]);
    const hunk: Hunk = {
      first: [first[0] - before, first[1] + after],
      second: [second[0] - before, second[1] + after],
    };
    const former = hunks.at(-1);
    if (!former || former.first[1] < hunk.first[0]) hunks.push(hunk);
    else
      hunks[hunks.length - 1] = { first: [former.first[0], hunk.first[1]], second: [former.second[0], hunk.second[1]] };
  }
  return hunks;
};

const rangeOf = ([from, to]: readonly [number, number]): string =>
  `${to === from ? from : from + 1}${to - from === 1 ? '' : `,${to - from}`}`;

const linesIn = (text: string): readonly string[] => {
  const lines = text.replace(/\r\n/g, '\n').split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
};

/** The lines that differ between two texts, in the form of `diff -u`, with masked secrets; empty if there are none. */
export const unifiedDiff = (before: string, after: string): string => {
  const [a, b] = [linesIn(before), linesIn(after)];
  const pieces = piecesOf(changedItems(a, b));
  const text = hunksOf(pieces, a.length).map(({ first, second }) => {
    const lines = [`@@ -${rangeOf(first)} +${rangeOf(second)} @@`];
    for (const piece of pieces) {
      const [from, to] = [Math.max(piece.first[0], first[0]), Math.min(piece.first[1], first[1])];
      if (piece.equal) {
        for (let i = from; i < to; i++) lines.push(` ${maskedLine(a[i] ?? '')}`);
        continue;
      }
      if (
        piece.first[0] < first[0] ||
        piece.first[1] > first[1] ||
        piece.second[0] < second[0] ||
        piece.second[1] > second[1]
      )
        continue;
      for (const line of a.slice(...piece.first)) lines.push(`-${maskedLine(line)}`);
      for (const line of b.slice(...piece.second)) lines.push(`+${maskedLine(line)}`);
    }
    return lines.join('\n');
  });
  return text.length === 0 ? '' : `--- before\n+++ after\n${text.join('\n')}\n`;
};

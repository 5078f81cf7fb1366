import { type Changed, changedItems, piecesOf } from './changedItems.ts';

/** The lines of a text by those of another one: a pair copies lines of that one (from, how many), a text has its own. */
export type StoredDifference = readonly (readonly [from: number, count: number] | string)[];

const lineEnd = '\n';

/** The lines of two texts that differ. */
export const changedLines = (before: string, after: string): Changed =>
  changedItems(before.split(lineEnd), after.split(lineEnd));

/** Makes a text from another one. */
export const storedDifference = (
  before: string,
  after: string,
  changed: Changed = changedLines(before, after),
): StoredDifference => {
  const lines = after.split(lineEnd);
  return piecesOf(changed).flatMap(({ equal, first: [from, to], second }): StoredDifference => {
    if (equal) return [[from, to - from] as const];
    const own = lines.slice(...second);
    return own.length > 0 ? [own.join(lineEnd)] : [];
  });
};

/** The text that a difference makes from the text before. */
export const textAfter = (before: string, difference: StoredDifference): string => {
  const former = before.split(lineEnd);
  return difference
    .map((part) => (typeof part === 'string' ? part : former.slice(part[0], part[0] + part[1]).join(lineEnd)))
    .join(lineEnd);
};

/** A text without the lines that always change: times and counters. */
export const lasting = (text: string, volatile: readonly RegExp[]): string =>
  text
    .split(/\r?\n/)
    .filter((line) => !volatile.some((form) => form.test(line.trim())))
    .join(lineEnd);

/**
 * True if the texts differ in more than lines that always change. Lines that both have cancel out: mostly the few changed ones
 * tell.
 */
export const isChange = (
  before: string,
  after: string,
  volatile: readonly RegExp[],
  { removed, added }: Changed = changedLines(before, after),
): boolean => {
  const lastingOf = (text: string, changed: Uint8Array): string => {
    const lines = text.split(lineEnd).filter((_, i) => changed[i]);
    return lasting(`${lines.join(lineEnd)}${lineEnd}`, volatile)
      .split(lineEnd)
      .sort()
      .join(lineEnd);
  };
  return (
    lastingOf(before, removed) !== lastingOf(after, added) || lasting(before, volatile) !== lasting(after, volatile)
  );
};

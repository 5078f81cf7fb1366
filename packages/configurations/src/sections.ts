import type { Lines } from './lines.ts';

/** The lines of a configuration that one section has, as their places in the columns. */
export type DeviceSection = {
  /** In the order in which they are written. */
  readonly written: readonly number[];
  /** The places of equal lines, by their text. */
  readonly byText: ReadonlyMap<string, readonly number[]>;
  /** The texts that begin with these words, or consist of them; all for no words. */
  readonly beginning: (words: string) => readonly string[];
};

/** The first index in a sorted list whose item is not less. */
export const lowerBound = <T extends string | number>(sorted: readonly T[], item: T): number => {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sorted[middle] as T) < item) from = middle + 1;
    else to = middle;
  }
  return from;
};

/** The section below equal lines, or that of the whole configuration. An index is made when it is first needed. */
export const deviceSection = ({ texts, ends }: Lines, above?: readonly number[]): DeviceSection => {
  const written: number[] = [];
  const byText = new Map<string, number[]>();
  const parts = above ? above.map((i) => [i + 1, ends[i] ?? 0] as const) : [[0, texts.length] as const];
  for (const [from, to] of parts)
    for (let i = from; i < to; i = ends[i] ?? to) {
      written.push(i);
      const text = texts[i] ?? '';
      const equal = byText.get(text);
      if (equal) equal.push(i);
      else byText.set(text, [i]);
    }
  let sorted: readonly string[] | undefined;
  return {
    written,
    byText,
    beginning: (words) => {
      if (words === '') return [...byText.keys()];
      sorted ??= [...byText.keys()].sort();
      // '!' follows the blank: these are all texts that go on after the words.
      const longer = sorted.slice(lowerBound(sorted, `${words} `), lowerBound(sorted, `${words}!`));
      return byText.has(words) ? [words, ...longer] : longer;
    },
  };
};

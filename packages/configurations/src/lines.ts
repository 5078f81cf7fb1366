import type { Tags } from './tags.ts';
import { TextFault } from './textFault.ts';

const mostLevels = 64;

/**
 * The lines of a text in the order in which they are written, a section after its line. Columns take less memory than
 * objects: a configuration may have 200,000 lines.
 */
export type Lines = {
  readonly texts: readonly string[];
  /** For each line, the index after the last line of its section. */
  readonly ends: readonly number[];
  /** For each line, its number in the text. */
  readonly numbers: readonly number[];
  /** For each line of a golden text, its tags; empty for configurations. */
  readonly tags: readonly Tags[];
  /** True if each line is a whole path, without sections. */
  readonly paths: boolean;
};

/** A line that a reader has found. `level` counts the lines that it stands below. */
export type Found = { readonly text: string; readonly level: number; readonly number: number; readonly tags: Tags };

export type Columns = { readonly add: (line: Found) => void; readonly lines: () => Lines };

export const columns = (golden: boolean, most: number): Columns => {
  const texts: string[] = [];
  const ends: number[] = [];
  const numbers: number[] = [];
  const tags: Tags[] = [];
  const open: number[] = [];
  const close = (level: number): void => {
    while (open.length > level) ends[open.pop() ?? 0] = texts.length;
  };
  return {
    add: (line) => {
      if (line.level >= mostLevels) throw new TextFault(`More than ${mostLevels} levels`, line.number);
      if (texts.length >= most) throw new TextFault(`More than ${most} lines`, line.number);
      close(line.level);
      open.push(texts.length);
      texts.push(line.text);
      ends.push(0);
      numbers.push(line.number);
      if (golden) tags.push(line.tags);
    },
    lines: () => {
      close(0);
      return { texts, ends, numbers, tags, paths: false };
    },
  };
};

/** The lines of a configuration as paths: those that have no section, after the lines that they stand below. */
export const leavesOf = ({ texts, ends, numbers }: Lines): Lines => {
  const leaves: number[] = [];
  const paths: string[] = [];
  const above: { readonly end: number; readonly path: string }[] = [];
  for (const [i, text] of texts.entries()) {
    while ((above.at(-1)?.end ?? Infinity) <= i) above.pop();
    const path = `${above.at(-1)?.path ?? ''}${text}`;
    const end = ends[i] ?? 0;
    if (end > i + 1) above.push({ end, path: `${path} ` });
    else {
      leaves.push(i);
      paths.push(path);
    }
  }
  return {
    texts: paths,
    ends: paths.map((_, i) => i + 1),
    numbers: leaves.map((i) => numbers[i] ?? 1),
    tags: [],
    paths: true,
  };
};

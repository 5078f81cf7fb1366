import type { DeviceType } from '../types/type.ts';
import { shownSections } from './prediction.ts';
import { placeOf, type Section } from './sections.ts';

const firstOf = (forms: DeviceType['undoneBy'], line: string): string | undefined => {
  const [form, by] = forms?.find(([one]) => one.test(line)) ?? [];
  return form === undefined || by === undefined ? undefined : line.replace(form, by);
};

/** The lines of a section, and the line that leaves it. */
const within = (line: string, lines: readonly string[], { closes }: DeviceType): readonly string[] => {
  const close = firstOf(closes, line);
  return [line, ...lines.map((one) => ` ${one}`), ...(close === undefined || lines.length === 0 ? [] : [close])];
};

const added = ({ line, within: below }: Section, type: DeviceType): readonly string[] =>
  within(
    line,
    below.flatMap((one) => added(one, type)),
    type,
  );

/** The lines that remove a line; all within it, where it cannot be removed itself. */
const removed = ({ line, within: below }: Section, type: DeviceType): readonly string[] => {
  const undo = firstOf(type.undoneBy, line);
  if (undo !== undefined) return [undo];
  const lines = below.flatMap((one) => removed(one, type));
  return lines.length > 0 ? within(line, lines, type) : [];
};

const between = (from: readonly Section[], to: readonly Section[], type: DeviceType): readonly string[] => {
  const before = new Map(from.map((one) => [one.line, one]));
  const lasting = new Set(to.map(({ line }) => line));
  // A line of which there is one alone goes as the next one comes.
  const replaced = new Set(to.map(({ line }) => placeOf(line)));
  const surplus = from.filter(({ line }) => !lasting.has(line) && !replaced.has(placeOf(line)));
  return [
    ...surplus.flatMap((one) => removed(one, type)),
    ...to.flatMap((one) => {
      const former = before.get(one.line);
      if (!former) return added(one, type);
      const lines = between(former.within, one.within, type);
      return lines.length > 0 ? within(one.line, lines, type) : [];
    }),
  ];
};

const leavesOf = (sections: readonly Section[], above = ''): readonly string[] =>
  sections.flatMap(({ line, within: below }) =>
    below.length > 0 ? leavesOf(below, `${above}${line} `) : [`${above}${line}`],
  );

/** The paths of a configuration in braces, or of one that has each on a line. */
export const pathsOf = (text: string, type: DeviceType): ReadonlySet<string> => {
  if (type.form === 'sections') return new Set(leavesOf(shownSections(text, type)));
  return new Set(text.split('\n').flatMap((line) => /^\s*set (.+?)\s*$/.exec(line)?.[1] ?? []));
};

/**
 * The lines that lead from one configuration of a device to another one; undefined for a type whose lines are undone in other
 * words. Throws `TextFault` for a text that is no configuration.
 */
export const linesTo = (from: string, to: string, type: DeviceType): readonly string[] | undefined => {
  if (!type.undoneBy) return undefined;
  if (type.verb === undefined) return between(shownSections(from, type), shownSections(to, type), type);
  const [before, after] = [pathsOf(from, type), pathsOf(to, type)];
  return [
    ...[...before].filter((path) => !after.has(path)).map((path) => `delete ${path}`),
    ...[...after].filter((path) => !before.has(path)).map((path) => `set ${path}`),
  ];
};

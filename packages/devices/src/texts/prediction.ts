import {
  lasting,
  nestedLines,
  readConfiguration,
  unifiedDiff,
  type Written,
} from '@automation-platform/configurations';
import type { DeviceType } from '../types/type.ts';
import { cliLines } from './cliLines.ts';
import { ciscoWords, merge, parse, type Section, written } from './sections.ts';

/** A prediction of a change: the lines that would differ, as `diff -u` shows them, and why it may be wrong. */
export type Predicted = { readonly diff: string; readonly warnings: readonly string[] };

const sectionsOf = (lines: readonly Written[]): readonly Section[] =>
  lines.map(({ text, lines: within }) => ({ line: text, within: sectionsOf(within) }));

/** The lines of a configuration as a device shows it. Throws `TextFault` for what is none. */
export const shownSections = (text: string, type: DeviceType): readonly Section[] =>
  sectionsOf(nestedLines(readConfiguration(lasting(text, type.volatile ?? []), type.name)));

/** The lines that are sent, as sections. Words of the top level are those that the device shows there. */
const sentSections = (config: string, running: readonly Section[], type: DeviceType): readonly Section[] => {
  const isComment = (line: string): boolean => type.comment.test(line.trimStart());
  if (type.form !== 'sections') {
    const lines = cliLines(config).filter((line) => !isComment(line));
    return lines.map((line) => ({ line: line.trim().replace(/[ \t]+/g, ' '), within: [] }));
  }
  const words = new Map(ciscoWords);
  for (const { line, within } of running) {
    const word = line.replace(/ .*$/s, '');
    words.set(word, words.get(word) === true || within.length > 0);
  }
  const { sections, refused } = parse(
    config
      .split('\n')
      .filter((line) => !isComment(line))
      .join('\n'),
    { words },
  );
  return [...sections, ...refused.map(({ text }) => ({ line: text, within: [] }))];
};

/** Predicts what a configuration changes where the device cannot say so. Throws `TextFault` for a text that is none. */
export const predictChange = (current: string, config: string, type: DeviceType, replaces: boolean): Predicted => {
  const running = shownSections(current, type);
  const after = replaces
    ? shownSections(config, type)
    : merge(running, sentSections(config, running, type), type.undo ?? []);
  return {
    diff: unifiedDiff(written(running), written(after)),
    warnings: ['Predicted by merging: the device itself was not asked, and may refuse lines or write them otherwise'],
  };
};

import type { GoldenLine, Word } from './golden.ts';
import type { DeviceSection } from './sections.ts';
import { withoutMarks, wordsOf } from './words.ts';

const fitsWord = (word: Word, text: string): boolean =>
  word.type === 'literal' ? word.value === text : word.test(withoutMarks(text));

/** True if a golden line fits the words of a device's line; in paths, if it fits its beginning. */
const fitsWords = ({ words }: GoldenLine, device: readonly string[], paths: boolean): boolean => {
  if (device.length < words.length) return false;
  const end = words.length - 1;
  if (!words.every((word, i) => i === end || fitsWord(word, device[i] ?? ''))) return false;
  const last = words[end];
  if (!last) return false;
  if ((paths || device.length === words.length) && fitsWord(last, device[end] ?? '')) return true;
  return (
    device.length > words.length && last.type === 'regex' && last.rest && fitsWord(last, device.slice(end).join(' '))
  );
};

const literalBeginning = (words: readonly Word[]): string => {
  const first = words.findIndex(({ type }) => type === 'regex');
  return (first < 0 ? words : words.slice(0, first)).map(({ value }) => value).join(' ');
};

/**
 * The places of the device's lines that a golden line fits: equal lines together, in the order in which they are
 * written.
 */
export const fittingLines = (
  line: GoldenLine,
  section: DeviceSection,
  paths: boolean,
): readonly (readonly number[])[] => {
  const literal = line.words.every(({ type }) => type === 'literal');
  if (literal && !paths) {
    const equal = section.byText.get(line.text);
    return equal ? [equal] : [];
  }
  const candidates = section.beginning(literalBeginning(line.words));
  const texts = literal ? candidates : candidates.filter((text) => fitsWords(line, wordsOf(text), paths));
  return texts.map((text) => section.byText.get(text) ?? []).sort(([a = 0], [b = 0]) => a - b);
};

import { masking, unmarked, wordsOf } from '@automation-platform/configurations';
import { redacted } from '@automation-platform/json';

const shortestSecret = 4;

/** Masks the secrets in what is quoted of a configuration, and what devices say of them. */
export const maskingOf = (lines: readonly string[]) => {
  const byWord = masking([]);
  const secrets = lines.flatMap((line) => {
    const words = wordsOf(unmarked(line).trim());
    const masked = byWord(words);
    return words.filter((word, i) => masked[i] !== word);
  });
  const mask = masking(secrets);
  const text = (quoted: string): string =>
    quoted
      .split('\n')
      .map((line) => {
        const words = wordsOf(unmarked(line).trim());
        const masked = mask(words);
        return words.every((word, i) => word === masked[i]) ? line : masked.join(' ');
      })
      .join('\n');
  return {
    text,
    /** Words of the device itself, of which only the secrets that it repeats are masked. */
    words: (words: string): string =>
      redacted(
        words,
        secrets.filter(({ length }) => length >= shortestSecret),
      ),
  };
};

import { deviceTypes, generic } from '../types/table.ts';
import type { DeviceType } from '../types/type.ts';

/** Words of an adapter's devices beside those of the table of types: parts of lines, in any case. */
type KnownAnswers = { readonly refusals?: readonly string[]; readonly harmless?: readonly string[] };

/** The answer of a device to a line: the line by which it refuses it, and lines that no pattern knows. */
export type Judged = { readonly refusal: string | undefined; readonly unrecognized: readonly string[] };

const has = (line: string, parts: readonly string[] = []): boolean =>
  parts.some((part) => line.toLowerCase().includes(part.toLowerCase()));

/** True if the line is a question of the type, alone or with its answer. */
const isQuestion = (line: string, { questions }: DeviceType): boolean =>
  questions.some(
    ({ asks, answer }) =>
      asks.test(line) || (line.endsWith(answer) && asks.test(line.slice(0, line.length - answer.length).trimEnd())),
  );

/** Judges what a device of the type says to a line. An adapter's own words go before those of the type. */
export const judge = (printed: string, patterns: KnownAnswers, type: DeviceType = generic): Judged => {
  const lines = printed.split('\n').map((line) => line.trim());
  const isHarmless = (line: string): boolean =>
    !/[^\s^]/.test(line) ||
    has(line, patterns.harmless) ||
    type.harmless.some((form) => form.test(line)) ||
    isQuestion(line, type);
  const isRefusal = (line: string): boolean =>
    has(line, patterns.refusals) || type.refusals.some((form) => form.test(line));
  const refusalLines = lines.filter((line) => has(line, patterns.refusals) || !isHarmless(line));
  return { refusal: refusalLines.find(isRefusal), unrecognized: refusalLines };
};

/** More than three lines with words. */
const isLong = /^(?:\s*\S[^\n]*(?:\n|$)){4}/;

/** The line by which a device refuses to show something; undefined if it shows it. */
export const refusalIn = (printed: string, patterns: KnownAnswers, type?: DeviceType): string | undefined => {
  return isLong.test(printed) ? undefined : judge(printed, patterns, type).refusal;
};

const begins = (line: string, words = '\n'): boolean =>
  `${line.trim().toLowerCase().replace(/\s+/g, ' ')} `.startsWith(`${words} `);

/** The ways of a type to take candidates: those of all types where it has none of its own. */
const candidatesOf = ({ candidate }: DeviceType) =>
  candidate ? [candidate] : deviceTypes.flatMap((type) => type.candidate ?? []);

/** True for a commit that the device takes back by itself, unless it is confirmed in time. */
export const isProvisional = (line: string, type: DeviceType = generic): boolean => {
  const candidates = candidatesOf(type);
  // Where a plain commit confirms, the longer words are the ones that count.
  const isOther = (words: string): boolean =>
    candidates
      .flatMap(({ confirm, cancel }) => [confirm, cancel])
      .some((other) => other !== undefined && other.length > words.length && begins(line, other));
  return candidates.some(({ confirmed }) => {
    // `commit confirmed`, `commit timer`, `commit-confirm`: its first words, without the time.
    const [words] = /^\S+(?: [a-z]+)?(?= )/.exec(confirmed ?? '') ?? [];
    return words !== undefined && begins(line, words) && !isOther(words);
  });
};

/** True for a line that makes a candidate the running configuration. */
export const isCommit = (line: string, type: DeviceType = generic): boolean =>
  !candidatesOf(type).some(({ check }) => begins(line, check)) &&
  (candidatesOf(type).some(({ commit }) => begins(line, commit)) || isProvisional(line, type));

const commitPrompt = /^RP\/\d+\/\w+\/CPU\d+:/;

/** True if a device of an unknown type shows that it takes lines into a candidate. */
export const showsCandidate = (prompt: string, line: string): boolean =>
  commitPrompt.test(prompt) || /^\[edit\b.*\]$/m.test(line);

import { lasting, masking, readConfiguration, TextFault, wordsOf } from '@automation-platform/configurations';
import type { DeviceType } from '../types/type.ts';

/** Lines that a configuration shows, lines that it does not, and lines of which it cannot be said. */
export type ReadBack = {
  readonly present: readonly string[];
  readonly missing: readonly string[];
  readonly open: readonly string[];
};

/** Lines that only lead from one mode to another, or are commands of their own. */
const leading = /^(?:exit(?:-\S+)?|end|quit|next|return|abort|top|up|commit\b.*|write\b.*|save)$/;
/** Lines that do something which no line shows. */
const doing =
  /^(?:do|default|crypto key|clear|copy|run|rename|insert|move|annotate|deactivate|activate|rollback|load)\b/;
const relative = /^edit\b/;

const mostWarnings = 20;

const mask = masking([]);
/** A line with one blank between words, which have no quotes around them. */
const spacedWords = (line: string): string =>
  /['"\t\0]| {2}/.test(line)
    ? wordsOf(line.trim())
        .map((word) => word.replace(/^['"]|['"]$/g, ''))
        .join(' ')
    : line.trim();

/** The words of a line before its first secret, which devices show in other forms; undefined for other lines. */
const beforeSecret = (words: readonly string[]): string | undefined => {
  const masked = mask(words);
  let at = words.findIndex((word, i) => masked[i] !== word);
  if (at < 0) return undefined;
  while (at > 1 && /^\d{1,3}$/.test(words[at - 1] ?? '')) at--;
  return words.slice(0, at).join(' ');
};

/** The lines that a configuration shows, each after those that it stands below. */
type Paths = {
  readonly has: (path: string) => boolean;
  /** True if a line begins with these words. */
  readonly begins: (path: string) => boolean;
  /** True if a line has all words, wherever they stand after its menu. */
  readonly hasWords: (words: readonly string[]) => boolean;
};

const pathsOf = (lines: readonly string[]): Paths => {
  const all = new Set(lines);
  let beginnings: Set<string> | undefined;
  const begins = (path: string): boolean => {
    if (!beginnings) {
      beginnings = new Set();
      for (const line of lines)
        for (let at = line.indexOf(' '); at > 0; at = line.indexOf(' ', at + 1)) beginnings.add(line.slice(0, at));
    }
    return beginnings.has(path);
  };
  return {
    has: (path) => all.has(path),
    begins: (path) => all.has(path) || begins(path),
    hasWords: (words) =>
      lines.some((line) => {
        const there = new Set(line.split(' '));
        return words.every((word) => there.has(word));
      }),
  };
};

/** The lines of a configuration in sections or in braces. */
const sectionPaths = (text: string, type: DeviceType): readonly string[] => {
  const { texts, ends, paths } = readConfiguration(text, type.name);
  const above: { readonly end: number; readonly path: string }[] = [];
  return texts.map((line, i) => {
    while ((above.at(-1)?.end ?? Infinity) <= i) above.pop();
    const own = spacedWords(line);
    const path = above.length > 0 ? `${above.at(-1)?.path} ${own}` : own;
    if (!paths && (ends[i] ?? 0) > i + 1) above.push({ end: ends[i] ?? 0, path });
    return path;
  });
};

/** The lines of a configuration that has each one whole, below its menu if it has menus. */
const wholeLines = (text: string, { form, verb = /^$/ }: DeviceType): readonly string[] => {
  let menu = '';
  return text
    .replace(/\\\r?\n\s*/g, '')
    .split('\n')
    .flatMap((raw) => {
      const line = spacedWords(raw).replace(verb, '');
      if (line === '' || line.startsWith('#') || line.startsWith('!')) return [];
      if (form === 'menus' && line.startsWith('/') && !/ (?:add|set) /.test(line)) {
        menu = line;
        return [];
      }
      return [form === 'menus' && !line.startsWith('/') ? `${menu} ${line}` : line];
    });
};

/**
 * Looks for the lines that were sent in the configuration that the device shows: undone ones must be absent. A line is
 * looked for below the lines that were found before it, since not everybody indents. Returns undefined for a text that
 * is no configuration.
 */
export const readBack = (lines: readonly string[], text: string, type: DeviceType): ReadBack | undefined => {
  let paths: Paths;
  try {
    paths = pathsOf(type.form === 'sections' ? sectionPaths(text, type) : wholeLines(text, type));
  } catch (error) {
    if (error instanceof TextFault) return undefined;
    throw error;
  }
  const [present, missing, open]: [string[], string[], string[]] = [[], [], []];
  let below: readonly string[] = [];
  for (const raw of lines) {
    const line = spacedWords(raw);
    if (line === '' || leading.test(line) || type.comment.test(line)) continue;
    if (doing.test(line) || (type.verb && relative.test(line)) || raw.includes('\n')) {
      open.push(raw);
      continue;
    }
    const found = placeOf(line, { below, paths, type });
    if (found === 'missing') missing.push(raw);
    else if (found === 'open') open.push(raw);
    else {
      present.push(raw);
      below = found ?? below;
    }
  }
  return { present, missing, open };
};

/**
 * Compares the whole configuration that was sent with the one that the device shows: lines that only this one has are missing as
 * absent ones. Returns undefined for a text that is no configuration.
 */
export const readBackWhole = (config: string, text: string, type: DeviceType): ReadBack | undefined => {
  const linesOf = (whole: string): ReadonlySet<string> => {
    const lasts = lasting(whole, type.volatile ?? []);
    return new Set(type.form === 'sections' ? sectionPaths(lasts, type) : wholeLines(lasts, type));
  };
  try {
    const [expected, running] = [linesOf(config), linesOf(text)];
    const present = [...expected].filter((line) => running.has(line));
    const missing = [...expected].filter((line) => !running.has(line));
    const surplus = [...running].filter((line) => !expected.has(line)).map((line) => `no ${line}`);
    return { present, missing: [...missing, ...surplus], open: [] };
  } catch (error) {
    if (error instanceof TextFault) return undefined;
    throw error;
  }
};

type Place = { readonly below: readonly string[]; readonly paths: Paths; readonly type: DeviceType };

/** The lines that the line after this one may stand below; undefined if they stay the same. */
const placeOf = (line: string, { below, paths, type }: Place): readonly string[] | 'missing' | 'open' | undefined => {
  const plain = type.verb ? line.replace(type.verb, '') : line;
  if (type.form === 'menus') {
    if (/\b(?:remove|unset|disable|enable|move)\b/.test(plain) || /\[/.test(plain)) return 'open';
    return paths.hasWords(plain.split(' ')) ? undefined : 'missing';
  }
  const levels = below.map((_, i) => below.slice(0, below.length - i));
  const within = [...levels, []].map((level) => ({ level, path: (path: string) => [...level, path].join(' ') }));
  const secret = beforeSecret(wordsOf(plain));
  for (const { level, path } of within) {
    if (secret === undefined ? !paths.has(path(plain)) : !paths.begins(path(secret))) continue;
    return type.form === 'sections' ? [...level, plain] : level;
  }
  const [form, was] = type.undo?.find(([form]) => form.test(plain)) ?? [];
  if (form === undefined || was === undefined) return 'missing';
  const undone = plain.replace(form, was);
  return within.some(({ path }) => paths.begins(path(undone))) ? 'missing' : undefined;
};

/** True if the configuration shows every line, null if it does not tell. */
export const verdictOf = (back: ReadBack | undefined): boolean | null => {
  if (!back) return null;
  if (back.missing.length > 0) return false;
  return back.open.length > 0 ? null : true;
};

/** Names the lines that the configuration does not show, with their secrets. */
export const warningsOf = (back: ReadBack | undefined): readonly string[] =>
  (back?.missing ?? []).slice(0, mostWarnings).map((line) => `The configuration does not show: ${line}`);

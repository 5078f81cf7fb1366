import { TextFault } from '@automation-platform/configurations';
import { cliLines } from '../../texts/cliLines.ts';
import { pathsOf } from '../../texts/linesTo.ts';
import type { RefusedLine } from '../../texts/sections.ts';
import type { DeviceType } from '../../types/type.ts';
import { filtered } from '../commands.ts';
import { factsOf, type LabFacts } from '../facts.ts';
import { isOfMode, type LabForm } from './form.ts';

/** Words, each with those that may follow it. */
type Tree = Map<string, Tree>;

/** The facts about a type whose configuration is paths. */
type Paths = {
  readonly type: DeviceType;
  /** Words that a path begins with. */
  readonly first: readonly string[];
  /** Words before a value. Of those in `single` there is one value at a time. */
  readonly valued: ReadonlySet<string>;
  readonly single: ReadonlySet<string>;
  readonly quote: (word: string, isValue: boolean) => string;
  readonly refusal: (line: string) => string;
  /** True if the device refuses to delete what is not there. */
  readonly deletesExistingOnly?: true;
  readonly inBraces?: true;
  readonly initial: (facts: LabFacts) => readonly string[];
  readonly version: readonly [command: string, text: string];
};

const wordsOf = (line: string): readonly string[] =>
  (line.match(/"[^"]*"|'[^']*'|[^ \t\n]+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/s, '$2'));

const put = (root: Tree, words: readonly string[], single: ReadonlySet<string>): void => {
  let tree = root;
  words.forEach((word, i) => {
    if (i > 0 && single.has(words[i - 1] ?? '')) tree.clear();
    const below: Tree = tree.get(word) ?? new Map();
    tree.set(word, below);
    tree = below;
  });
};

/** Removes a path with all that is below it, and words above it after which nothing comes any more. False if it is not there. */
const remove = (tree: Tree, [word = '', ...rest]: readonly string[]): boolean => {
  const below = tree.get(word);
  if (!below || (rest.length > 0 && !remove(below, rest))) return false;
  if (rest.length === 0 || below.size === 0) tree.delete(word);
  return true;
};

const leavesOf = (tree: Tree, above: readonly string[] = []): readonly (readonly string[])[] =>
  tree.size === 0 && above.length > 0
    ? [above]
    : [...tree].flatMap(([word, below]) => leavesOf(below, [...above, word]));

/** The lines of a text in braces, or the one by which it is none. */
const pathsOfBraces = (text: string, type: DeviceType): string | RefusedLine => {
  try {
    return [...pathsOf(text, type)].map((path) => `set ${path}`).join('\n');
  } catch (error) {
    if (!(error instanceof TextFault)) throw error;
    return { line: error.line, text: text.split('\n')[error.line - 1]?.trim() ?? '' };
  }
};

export const pathsForm = (facts: Paths): LabForm => {
  const { type, first, valued, single, quote, refusal } = facts;

  const take = (root: Tree, config: string): readonly RefusedLine[] => {
    const refused: RefusedLine[] = [];
    let base: readonly string[] = [];
    cliLines(config).forEach((line, i) => {
      const [verb = '', ...typed] = wordsOf(line);
      const words = [...base, ...typed];
      if (type.comment.test(verb) || isOfMode(line, type)) return;
      const isKnown = first.includes(words[0] ?? '');
      if (verb === 'top' && typed.length === 0) base = [];
      else if (verb === 'up' && typed.length === 0) base = base.slice(0, -1);
      else if (verb === 'edit' && isKnown) base = words;
      else if (verb === 'set' && isKnown && words.length > 1) put(root, words, single);
      else if (verb !== 'delete' || !isKnown || (!remove(root, words) && facts.deletesExistingOnly))
        refused.push({ line: i + 1, text: line.trim() });
    });
    return refused;
  };

  const written = (words: readonly string[]): string =>
    words.map((word, i) => quote(word, i > 0 && i === words.length - 1 && valued.has(words[i - 1] ?? ''))).join(' ');
  const keep = (root: Tree): string =>
    leavesOf(root)
      .map((words) => `set ${written(words)}\n`)
      .join('');
  const read = (memory: string): Tree => {
    const root: Tree = new Map();
    take(root, memory);
    return root;
  };

  const braces = (tree: Tree, indent = ''): string =>
    [...tree]
      .flatMap(([word, below]) =>
        valued.has(word) && below.size > 0
          ? [...below].map(([value, rest]) => [`${word} ${quote(value, true)}`, rest] as const)
          : [[quote(word, false), below] as const],
      )
      .map(([head, below]) =>
        below.size === 0 ? `${indent}${head};\n` : `${indent}${head} {\n${braces(below, `${indent}    `)}${indent}}\n`,
      )
      .join('');
  const show = (memory: string): string => (facts.inBraces ? braces(read(memory)) : memory);

  return {
    file: type.name,
    refusal,
    initial: (device) => {
      const paths = facts.initial(factsOf(device)).map((path) => `set ${path}`);
      return keep(read(paths.join('\n')));
    },
    take: (memory, config) => {
      const root = read(memory);
      const paths = facts.inBraces && /\{\s*$/m.test(config) ? pathsOfBraces(config, type) : config;
      const refused = typeof paths === 'string' ? take(root, paths) : [paths];
      return { memory: keep(root), refused };
    },
    show,
    answer: (command, { memory }) => {
      const [typed = '', ...filters] = command.trim().split(/\s+\|\s+/);
      const [version, words] = facts.version;
      if (typed === version) return filters.reduce(filtered, `${words}\n`);
      if (typed !== type.running && typed !== type.startup) return `${refusal(typed)}\n`;
      if (facts.inBraces && filters[0] === 'display set') return filters.slice(1).reduce(filtered, memory);
      return filters.reduce(filtered, show(memory));
    },
  };
};

import { linearPattern } from '@automation-platform/bounded-schemas';
import {
  compareLines,
  deviceTypeOf,
  masking,
  nestedLines,
  type Remedy,
  readConfiguration,
  readGolden,
  remedyOf,
  type Written,
  writeLines,
} from '../../src/index.ts';

const compile = (expression: string) => {
  const { expression: pattern } = linearPattern(expression, {});
  return (text: string): boolean => pattern.matcher(text).find();
};

/** Configurations of others have more lines than texts of nodes may have. */
const bounds = { bytes: Number.POSITIVE_INFINITY, lines: 200_000 };

export const compared = (golden: string, configuration: string, type: string) =>
  compareLines(readGolden(golden, type, compile, { bounds }), readConfiguration(configuration, type), masking([]));

export const remedied = (golden: string, configuration: string, deviceType: string): Remedy =>
  remedyOf({ issues: compared(golden, configuration, deviceType).issues, deviceType });

type Tree = Map<string, Tree>;

/** The lines as a device has them: those of a section that is written twice are together. */
const addTo = (tree: Tree, lines: readonly Written[]): Tree => {
  for (const { text, lines: below } of lines) tree.set(text, addTo(tree.get(text) ?? new Map(), below));
  return tree;
};
const linesOf = (tree: Tree): readonly Written[] => [...tree].map(([text, below]) => ({ text, lines: linesOf(below) }));

/** A device that takes lines as those with sections do: the negation of a line takes it away, and is shown itself. */
const merge = (tree: Tree, lines: readonly Written[], word: string): void => {
  for (const { text, lines: below } of lines) {
    const opposite = text.startsWith(`${word} `) ? text.slice(word.length + 1) : `${word} ${text}`;
    tree.delete(opposite);
    const section: Tree = tree.get(text) ?? new Map();
    tree.set(text, section);
    merge(section, below, word);
  }
};

const isShown = (tree: Tree, word: string): boolean =>
  [...tree].every(([text, below]) => !tree.has(`${word} ${text}`) && isShown(below, word));

/** False if a section has a line and its negation, as scripts of commands have: no device shows both. */
export const isOfDevice = (configuration: string, type: string): boolean =>
  isShown(addTo(new Map(), nestedLines(readConfiguration(configuration, type))), deviceTypeOf(type).negation ?? 'no');

/** Takes the lines of a path away. */
const remove = (tree: Tree, path: string): void => {
  for (const [text, below] of tree) {
    if (text === path || text.startsWith(`${path} `)) tree.delete(text);
    else if (path.startsWith(`${text} `)) remove(below, path.slice(text.length + 1));
  }
};

/** The configuration after the proposal, as a device would take it. */
export const applied = (configuration: string, { config, lines }: Remedy, type: string): string => {
  const { form, negation } = deviceTypeOf(type);
  const before = readConfiguration(configuration, type);
  const tree = addTo(new Map(), nestedLines(before));
  const paths = form === 'paths' || before.paths;
  if (form === 'sections' && config !== '') merge(tree, nestedLines(readConfiguration(config, type)), negation ?? 'no');
  else if (form !== 'sections')
    for (const { parents, line } of lines) {
      if (line.startsWith('delete ')) remove(tree, line.slice('delete '.length));
      else if (paths) tree.set([...parents, line].join(' '), new Map());
      else {
        let section = tree;
        for (const text of [...parents, line]) {
          const below: Tree = section.get(text) ?? new Map();
          section.set(text, below);
          section = below;
        }
      }
    }
  return writeLines(linesOf(tree), { type, paths });
};

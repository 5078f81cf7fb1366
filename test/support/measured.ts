import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { areas } from '../../src/domain/engine/core.ts';

type Node = { readonly type: string; readonly start: number; readonly end: number } & Readonly<Record<string, unknown>>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;

const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);

const functions = ['ArrowFunctionExpression', 'FunctionExpression', 'FunctionDeclaration'];

/** A condition that a spread hides: `...(a && b)`, `...(a ? b : c)`. */
const hidesCondition = ({ type, argument }: Node): boolean =>
  type === 'SpreadElement' && isNode(argument) && isCondition(unwrapped(argument));

const isCondition = ({ type, operator }: Node): boolean =>
  type === 'ConditionalExpression' || (type === 'LogicalExpression' && operator !== '??');

const unwrapped = (node: Node): Node =>
  node.type === 'ParenthesizedExpression' && isNode(node['expression']) ? unwrapped(node['expression']) : node;

const isNested = (node: Node): boolean =>
  node.type === 'ConditionalExpression' &&
  [node['consequent'], node['alternate']].some((part) => isNode(part) && unwrapped(part).type === node.type);

const isDoubleCast = ({ type, expression }: Node): boolean =>
  type === 'TSAsExpression' && isNode(expression) && unwrapped(expression).type === type;

/** The figures of the TypeScript files of a folder: how much a reader has to hold in the head. */
export const measured = (folder: string) => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const lengths: number[] = [];
  const figures = { lines: 0, bytes: 0, longLines: 0, longFunctions: 0, longestFunction: 0 };
  const counts = { manyParameters: 0, hiddenConditions: 0, nestedTernaries: 0, assertions: 0, escapes: 0 };

  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    const lines = text.split('\n');
    lengths.push(lines.length - 1);
    figures.lines += lines.length - 1;
    figures.bytes += Buffer.byteLength(text);
    figures.longLines += lines.filter((line) => line.length > 120).length;
    counts.escapes += lines.filter((line) => /biome-ignore|@ts-expect-error|@ts-ignore/.test(line)).length;

    const walk = (node: Node): void => {
      if (functions.includes(node.type)) {
        const length = text.slice(node.start, node.end).split('\n').length;
        figures.longestFunction = Math.max(figures.longestFunction, length);
        if (length > 60) figures.longFunctions++;
        if ((node['params'] as readonly unknown[]).length > 4) counts.manyParameters++;
      }
      if (hidesCondition(node)) counts.hiddenConditions++;
      if (isNested(node)) counts.nestedTernaries++;
      if (node.type === 'TSNonNullExpression') counts.assertions++;
      if (node.type === 'TSAnyKeyword' || isDoubleCast(node)) counts.escapes++;
      for (const child of childrenOf(node)) walk(child);
    };
    walk(parseSync(file, text).program as unknown as Node);
  }

  lengths.sort((a, b) => a - b);
  const median = lengths[Math.floor(lengths.length / 2)] ?? 0;
  return { files: files.length, ...figures, medianOfFiles: median, largestFile: lengths.at(-1) ?? 0, ...counts };
};

type Figures = ReturnType<typeof measured>;

/** The rows of the table of measures whose last column is counted today. */
const rows: { readonly [measure: string]: (figures: Figures) => readonly number[] } = {
  files: ({ files }) => [files],
  lines: ({ lines }) => [lines],
  'lines in a file: median, largest': ({ medianOfFiles, largestFile }) => [medianOfFiles, largestFile],
  'lines over 120 columns, each one literal': ({ longLines }) => [longLines],
  'longest function, in lines': ({ longestFunction }) => [longestFunction],
  'functions over 60 lines: factories and parsers': ({ longFunctions }) => [longFunctions],
  'functions with more than four parameters': ({ manyParameters }) => [manyParameters],
  'nested ternaries': ({ nestedTernaries }) => [nestedTernaries],
  'spreads that hide a condition': ({ hiddenConditions }) => [hiddenConditions],
  'escapes from the type checker: `any`, double casts, suppressions': ({ escapes }) => [escapes],
  'assertions with `!`': ({ assertions }) => [assertions],
};

const cellsOf = (line: string): readonly string[] => line.split('|').map((cell) => cell.trim());
const format = (figures: readonly number[]): string => figures.map((one) => one.toLocaleString('en-US')).join(', ');

/** A count on the page may be a tenth off, or five: the page need not change with every line of the source. */
const holds = (said: number, counted: number): boolean => Math.abs(said - counted) <= Math.max(5, counted / 10);

/** The figures that the last column of the page's table gives wrongly. */
const staleFigures = (page: string, figures: Figures): readonly string[] => {
  const lines = page.split('\n').map(cellsOf);
  return Object.entries(rows).flatMap(([measure, figuresOf]) => {
    const counted = figuresOf(figures);
    const cell = lines.find(([, name]) => name === measure)?.at(-2) ?? '';
    const said = cell.split(', ').map((one) => Number(one.replaceAll(',', '') || NaN));
    if (counted.every((one, i) => holds(said[i] ?? NaN, one))) return [];
    return [`${measure}: the page says ${cell || 'nothing'}, counted are ${format(counted)}`];
  });
};

/** The page with these figures in the last column of its table. */
export const withFigures = (page: string, figures: Figures): string =>
  page
    .split('\n')
    .map((line) => {
      const [, measure = '', ...cells] = cellsOf(line);
      const figuresOf = rows[measure];
      return figuresOf ? `| ${[measure, ...cells.slice(0, -2), format(figuresOf(figures))].join(' | ')} |` : line;
    })
    .join('\n');

/** The folders of a folder, and theirs. */
const foldersIn = (folder: string): readonly string[] =>
  !existsSync(folder)
    ? []
    : readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${folder}/${name}`);

/** One sentence of the page speaks of the engine and the areas, which are folders of every layer. */
const isOfLayer = (folder: string): boolean => ['engine', ...areas].some((name) => folder.endsWith(`/${name}`));

/** The folders of `src`, two deep, and the packages that no table of the page has a row for. */
const foldersWithoutRow = (page: string): readonly string[] => {
  const firstCells = page.split('\n').map((line) => cellsOf(line)[1] ?? '');
  const described = new Set(firstCells.flatMap((cell) => [...cell.matchAll(/`([\w./-]+)`/g)].map(([, path]) => path)));
  const layers = foldersIn('src');
  const folders = [...layers, ...layers.flatMap(foldersIn), ...foldersIn('packages')];
  return folders.filter((folder) => !isOfLayer(folder) && !described.has(folder));
};

/** All that the page of the architecture says wrongly of the folders and of these figures. */
export const faultsOf = (page: string, figures: Figures): readonly string[] => [
  ...foldersWithoutRow(page).map((folder) => `no row: \`${folder}\``),
  ...staleFigures(page, figures),
];

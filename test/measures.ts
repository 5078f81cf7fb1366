import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';

/*
 * `npm run measures [folder]`: how much a reader has to hold in the head. Prints one line of figures for the TypeScript
 * files of a folder, `src` unless another is given.
 */

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

const folder = process.argv[2] ?? 'src';
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
const median = lengths[Math.floor(lengths.length / 2)];
console.log({ files: files.length, ...figures, medianOfFiles: median, largestFile: lengths.at(-1), ...counts });

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Comment, parseSync } from 'oxc-parser';

/*
 * Words that a reader must guess are counted here. The counts may only fall: a test fails when there are more, and when
 * there are fewer by a twentieth than its number says, so that the number is lowered.
 */

type Node = { readonly type: string } & Readonly<Record<string, unknown>>;

type Text = { readonly file: string; readonly text: string };

const filesIn = (folder: string, end: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith(end) && !file.includes('node_modules'))
        .map((file) => join(folder, file))
    : [];

const inPackages = filesIn('packages', '.ts').filter((file) => /^packages\/[^/]+\/src\//.test(file));
const sources = [...filesIn('src', '.ts'), ...inPackages].map((file) => {
  const text = readFileSync(file, 'utf8');
  const { comments, program } = parseSync(file, text);
  return { file, comments, program };
});

/** The text of a comment without its marks. */
const textOf = ({ value }: Comment): string => value.replace(/^\s*\*+ ?/gm, '').trim();

const comments: readonly Text[] = sources.flatMap(({ file, comments }) =>
  comments.map((comment) => ({ file, text: textOf(comment) })),
);

/** The prose of a page: no code, no tables' rules. */
const proseOf = (page: string): string => page.replace(/```[^]*?```/g, '').replace(/`[^`\n]*`/g, 'x');

const pages: readonly Text[] = filesIn('docs', '.md').map((file) => ({
  file,
  text: proseOf(readFileSync(file, 'utf8')),
}));

const findIn = (texts: readonly Text[], pattern: RegExp): readonly string[] =>
  texts.flatMap(({ file, text }) => [...text.matchAll(pattern)].map(([match]) => `${file}: ${match.trim()}`));

const participles = new Set(
  (
    'told seen kept shown given wanted gone settled reached held begun known taken left made asked done noted said heard ' +
    'sent tried met chosen waited thrown'
  ).split(' '),
);

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const nameOf = (value: unknown): string => (isNode(value) && value.type === 'Identifier' ? String(value['name']) : '');

/** The names that a node declares: variables, parameters, functions and members. */
const declaredBy = (node: Node): readonly string[] => {
  switch (node.type) {
    case 'VariableDeclarator':
    case 'FunctionDeclaration':
      return [nameOf(node['id'])];
    case 'Property':
    case 'TSPropertySignature':
    case 'TSMethodSignature':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return node['shorthand'] === true ? [] : [nameOf(node['key'])];
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
    case 'TSFunctionType':
      return (node['params'] as readonly unknown[]).map(nameOf);
    default:
      return [];
  }
};

const declaredIn = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(declaredIn);
  if (!isNode(value)) return [];
  return [...declaredBy(value), ...Object.values(value).flatMap(declaredIn)];
};

describe('words', () => {
  /** The name of a count, the most that is allowed, and the function that finds them, with their files. */
  const rows: readonly (readonly [what: string, most: number, find: () => readonly string[]])[] = [
    [
      'sentences of comments that begin with What, Whether or Who',
      0,
      () => findIn(comments, /(?:^|[.:] )(?:What|Whether|Who|Whoever|Whatever)\b/gm),
    ],
    [
      'sentences of pages that begin with What, Whether or Who',
      0,
      () => findIn(pages, /(?:^|[.:] |\| )(?:What|Whether|Who|Whoever|Whatever)\b[^?]*?[.|]/gm),
    ],
    ['somebody, others, so many in comments', 3, () => findIn(comments, /\b(?:somebody|others|so many)\b/gi)],
    [
      'participles that stand alone as names',
      212,
      () =>
        sources.flatMap(({ file, program }) =>
          declaredIn(program)
            .filter((name) => participles.has(name))
            .map((name) => `${file}: ${name}`),
        ),
    ],
  ];
  for (const [what, most, find] of rows)
    it(`${what}: ${most}`, () => {
      const found = find();
      const number = found.length;
      const list = found.join('\n');
      assert.ok(number <= most, `${number} ${what}: ${most} are allowed, and the number may only fall\n${list}`);
      assert.ok(number >= most * 0.95, `${what} are only ${number} now: write this number`);
    });
});

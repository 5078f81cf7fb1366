import { TemplateError } from '../errors.ts';
import { tuple, type Watch } from './expressions.ts';
import { tokenize } from './lexer.ts';
import type { BlockNode, Body, Statement, Tree } from './nodes.ts';
import {
  type Nesting,
  type OpenBlock,
  type OpenLoop,
  type OtherTemplates,
  type ParsedBody,
  type StatementParser,
  statementParsers,
} from './statements.ts';
import { describe, streamOf } from './stream.ts';

/** The filters and tests that exist. */
type Known = {
  readonly filter: (name: string) => boolean;
  readonly test: (name: string) => boolean;
  /** A sentence with the most similar filter or test; empty if none is similar. */
  readonly hint: { readonly filter: (name: string) => string; readonly test: (name: string) => string };
};

/** Names that a macro has only if its body reads them. */
const specialNames = ['caller', 'kwargs', 'varargs'];

/** Fails because of a tag that is not expected, or of the end of the template, in the words of Jinja2. */
const failAtTag = (
  { ends, tags, fail }: StatementParser,
  name: string | undefined,
  until?: readonly string[],
  line?: number,
): never => {
  const all = until ? [...ends, until] : ends;
  const expected = all
    .at(-1)
    ?.map((tag) => `'${tag}'`)
    .join(' or ');
  const parts = [name === undefined ? 'Unexpected end of template.' : `Encountered unknown tag '${name}'.`];
  if (expected !== undefined) {
    parts.push(
      name !== undefined && all.some((tags) => tags.includes(name))
        ? `You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${expected}.`
        : `Jinja was looking for the following tags: ${expected}.`,
    );
  }
  if (tags.length > 0) parts.push(`The innermost block that needs to be closed is '${tags.at(-1)}'.`);
  return fail(parts.join(' '), line);
};

/** Parses statements up to one of the tags, or to the end of the template. */
const statementsUpTo = (parser: StatementParser, until?: readonly string[]): Body => {
  const { ends } = parser;
  const statements: Statement[] = [];
  if (until) ends.push(until);
  for (;;) {
    const token = parser.current();
    if (token.type === 'eof') break;
    parser.next();
    if (token.type === 'data') {
      statements.push({ node: 'data', text: token.value, line: token.line });
    } else if (token.type === 'variable_begin') {
      statements.push({ node: 'print', value: tuple(parser), line: token.line });
      parser.expectType('variable_end');
    } else {
      if (until && parser.isName(...until)) break;
      statements.push(...statement(parser));
      parser.expectType('block_end');
    }
  }
  if (until) ends.pop();
  return statements;
};

const statement = (parser: StatementParser): Statement[] => {
  const { type, value: tag, line } = parser.current();
  if (type !== 'name') parser.fail('tag name expected');
  const parse = statementParsers.get(tag);
  if (!parse) return failAtTag(parser, tag, undefined, line);
  parser.tags.push(tag);
  parser.next();
  const parsed = parse(parser, line);
  parser.tags.pop();
  return Array.isArray(parsed) ? parsed : [parsed];
};

/** Parses the body of a statement up to one of the tags, and moves past the tag's name. */
const bodyUpTo = (parser: StatementParser, until: readonly string[]): ParsedBody => {
  parser.skip(':');
  parser.expectType('block_end');
  const body = parser.deeper(() => statementsUpTo(parser, until));
  if (parser.current().type === 'eof') failAtTag(parser, undefined, until);
  return { body, end: parser.next().value };
};

/** A template as a tree. Throws `TemplateError` with the line. */
export const parse = (template: string, known: Known): Tree => {
  const nesting: Nesting = { loops: 0, conditions: 0, frames: 0 };
  const macros: Set<string>[] = [];
  const loops: OpenLoop[] = [];
  const openBlocks: OpenBlock[] = [];
  const unknown: (() => TemplateError)[] = [];
  const blocks = new Map<string, BlockNode>();
  const others: OtherTemplates = { names: new Set(), extends: false };

  const watch: Watch = {
    reads: (name) => {
      if (specialNames.includes(name)) for (const names of macros) names.add(name);
      const block = openBlocks.at(-1);
      if (name === 'super' && block) block.readsSuper = true;
      if (name === 'loop') for (const loop of loops) loop.extended = true;
    },
    filter: (name, line) => {
      if (nesting.conditions > 0 || known.filter(name)) return;
      unknown.push(() => new TemplateError(`No filter named '${name}'.${known.hint.filter(name)}`, line));
    },
    test: (name, line) => {
      if (nesting.conditions > 0 || known.test(name)) return;
      unknown.push(() => new TemplateError(`No test named '${name}'.${known.hint.test(name)}`, line));
    },
    condition: (parse) => {
      const before = unknown.length;
      const [value, conditional] = parse();
      if (conditional) unknown.length = before;
      return value;
    },
  };
  const parser: StatementParser = {
    ...streamOf(tokenize(template)),
    watch,
    nesting,
    macros,
    loops,
    openBlocks,
    blockNames: new Set(),
    blocks,
    others,
    later: (error) => unknown.push(error),
    tags: [],
    ends: [],
    body: (...until) => bodyUpTo(parser, until),
  };

  const body = statementsUpTo(parser);
  const last = parser.current();
  if (last.type !== 'eof') throw new TemplateError(`unexpected '${describe(last)}'`, last.line);
  if (unknown[0]) throw unknown[0]();
  return { body, blocks, ...others };
};

import { TemplateError } from '../errors.ts';
import { blockFilters, constants, type ExpressionParser, expression, primary, tuple } from './expressions.ts';
import type { BlockNode, Body, Expression, Signature, Statement, Target } from './nodes.ts';

/** How many loops and conditions are around the current place, up to the nearest macro or block. */
export type Nesting = {
  loops: number;
  /**
   * Branches of `if`, where an unknown filter or test is no error. In the bodies of other statements the count begins
   * again at 0.
   */
  conditions: number;
  /** Bodies with names of their own. */
  frames: number;
};

/** A loop around the current place. */
export type OpenLoop = { extended: boolean };

/** A block around the current place. */
export type OpenBlock = { readsSuper: boolean };

/** The statements of a template about other templates. */
export type OtherTemplates = { readonly names: Set<string>; extends: boolean };

export type ParsedBody = { readonly body: Body; readonly end: string };

/** A template that is being parsed, and the state that all its statements share. */
export type StatementParser = ExpressionParser & {
  readonly nesting: Nesting;
  /** For each macro around the current place, the special names that its body reads. */
  readonly macros: Set<string>[];
  /** The loops around the current place, up to the nearest block. */
  readonly loops: OpenLoop[];
  readonly openBlocks: OpenBlock[];
  /** Names of the blocks so far, and those blocks that have ended. */
  readonly blockNames: Set<string>;
  readonly blocks: Map<string, BlockNode>;
  readonly others: OtherTemplates;
  /** Notes an error that counts only if the rest of the template parses. */
  readonly later: (error: () => TemplateError) => void;
  /** The tags around the current place. */
  readonly tags: string[];
  /** For each body around the current place, the tags that may end it. */
  readonly ends: (readonly string[])[];
  /** Parses a body up to one of the tags, and moves past the tag's name. */
  readonly body: (...until: string[]) => ParsedBody;
};

type Parser = StatementParser;

const name = (parser: Parser): string => parser.expectType('name').value;

const asTarget = (parser: Parser, value: Expression): Target => {
  const { line } = value;
  if (value.node === 'name') {
    if (parser.nesting.loops > 0 && value.name === 'loop')
      parser.fail("Can't assign to special loop variable in for-loop target", line);
    return value;
  }
  if (value.node === 'tuple' || value.node === 'list')
    return { node: 'targets', items: value.items.map((item) => asTarget(parser, item)), line };
  return parser.fail(`can't assign to '${value.node === 'constant' ? 'const' : value.node}'`, line);
};

const endsTarget = (parser: Parser, end: string | undefined): boolean =>
  parser.current().type === 'block_end' || parser.is('=') || (end !== undefined && parser.isName(end));

/** Parses one name, or several with commas between them. The name `end` ends the list. */
const target = (parser: Parser, end?: string): Target => {
  const { line } = parser.current();
  const first = primary(parser);
  const parts = [first];
  let commas = false;
  while (parser.skip(',')) {
    commas = true;
    if (endsTarget(parser, end)) break;
    parts.push(primary(parser));
  }
  if (!commas) return asTarget(parser, first);
  return { node: 'targets', items: parts.map((part) => asTarget(parser, part)), line };
};

/** Parses a body in which unknown filters are errors again, although an `if` may be around it. */
const framed = (parser: Parser, ...until: string[]): ParsedBody => {
  const { nesting } = parser;
  const outer = nesting.conditions;
  nesting.conditions = 0;
  nesting.frames++;
  const parsed = parser.body(...until);
  nesting.frames--;
  nesting.conditions = outer;
  return parsed;
};

type Parameters = Pick<Signature, 'parameters' | 'defaults'>;

const noParameters: Parameters = { parameters: [], defaults: [] };

/** Parses parameters in parentheses. */
const parametersOf = (parser: Parser): Parameters => {
  const parameters: string[] = [];
  const defaults: Expression[] = [];
  parser.expect('(');
  while (!parser.is(')')) {
    if (parameters.length > 0) parser.expect(',');
    const parameter = name(parser);
    if (parameters.includes(parameter)) parser.fail(`duplicate argument '${parameter}' in function definition`);
    parameters.push(parameter);
    if (parser.skip('=')) defaults.push(expression(parser));
    else if (defaults.length > 0) parser.fail('non-default argument follows default argument');
  }
  parser.expect(')');
  return { parameters, defaults };
};

/**
 * Parses the body of a macro or call block. It runs when the macro is called, so loops around it do not count in it.
 */
const macroBody = (parser: Parser, end: string, { parameters, defaults }: Parameters): Signature => {
  const { nesting } = parser;
  const uses = new Set<string>();
  const outerLoops = nesting.loops;
  parser.macros.push(uses);
  nesting.loops = 0;
  const { body } = framed(parser, end);
  nesting.loops = outerLoops;
  parser.macros.pop();
  const callerAt = parameters.indexOf('caller');
  if (uses.has('caller') && callerAt >= 0 && callerAt < parameters.length - defaults.length)
    parser.fail(
      'When defining macros or call blocks the special "caller" argument must be omitted or be given a default.',
    );
  return { parameters, defaults, uses, body };
};

const print = (parser: Parser, line: number): Statement[] => {
  const parts: Statement[] = [];
  while (parser.current().type !== 'block_end') {
    if (parts.length > 0) parser.expect(',');
    parts.push({ node: 'print', value: expression(parser), line });
  }
  return parts;
};

const forLoop = (parser: Parser, line: number): Statement => {
  const { nesting } = parser;
  nesting.loops++;
  const to = target(parser, 'in');
  nesting.loops--;
  parser.expectName('in');
  const over = tuple(parser, { conditions: false, end: 'recursive' });
  const test = parser.skipName('if') ? expression(parser) : undefined;
  const recursive = parser.skipName('recursive');
  const loop: OpenLoop = { extended: recursive };
  nesting.loops++;
  parser.loops.push(loop);
  const { body, end } = framed(parser, 'endfor', 'else');
  parser.loops.pop();
  nesting.loops--;
  const otherwise = end === 'else' ? framed(parser, 'endfor').body : [];
  return { node: 'for', target: to, over, test, recursive, extended: loop.extended, body, otherwise, line };
};

const ifStatement = (parser: Parser, line: number): Statement => {
  const { nesting } = parser;
  nesting.conditions++;
  const branches: { test: Expression; body: Body; line: number }[] = [];
  let at = line;
  for (;;) {
    const test = tuple(parser, { conditions: false });
    const { body, end } = parser.body('elif', 'else', 'endif');
    branches.push({ test, body, line: at });
    if (end !== 'elif') {
      const otherwise = end === 'else' ? parser.body('endif').body : [];
      nesting.conditions--;
      return { node: 'if', branches, otherwise, line };
    }
    at = parser.current().line;
  }
};

/** Parses a name, names with commas between them, or the attribute of a namespace. */
const setTarget = (parser: Parser, line: number): Target => {
  const ahead = parser.ahead();
  const dotted = parser.current().type === 'name' && ahead.type === 'operator' && ahead.value === '.';
  if (!dotted) return target(parser);
  const object = name(parser);
  parser.next();
  return { node: 'member', name: object, attribute: name(parser), line };
};

const set = (parser: Parser, line: number): Statement => {
  const to = setTarget(parser, line);
  if (parser.skip('=')) return { node: 'set', target: to, value: tuple(parser), line };
  const filter = parser.skip('|') ? blockFilters(parser) : undefined;
  return { node: 'setBlock', target: to, filter, body: framed(parser, 'endset').body, line };
};

const withNames = (parser: Parser, line: number): Statement => {
  const targets: [Target, Expression][] = [];
  while (parser.current().type !== 'block_end') {
    if (targets.length > 0) parser.expect(',');
    const to = target(parser);
    parser.expect('=');
    targets.push([to, expression(parser)]);
  }
  return { node: 'with', targets, body: framed(parser, 'endwith').body, line };
};

const macro = (parser: Parser, line: number): Statement => {
  const called = name(parser);
  const signature = macroBody(parser, 'endmacro', parametersOf(parser));
  return { node: 'macro', name: called, signature, line };
};

const callBlock = (parser: Parser, line: number): Statement => {
  const parameters = parser.is('(') ? parametersOf(parser) : noParameters;
  const call = expression(parser);
  if (call.node !== 'call') return parser.fail('expected call', line);
  return { node: 'callBlock', call, signature: macroBody(parser, 'endcall', parameters), line };
};

const filterBlock = (parser: Parser, line: number): Statement => {
  const filter = blockFilters(parser);
  return { node: 'filterBlock', filter, body: framed(parser, 'endfilter').body, line };
};

const isBlank = (node: Statement): boolean => node.node === 'data' && /^\s+$/.test(node.text);

const block = (parser: Parser, line: number): Statement => {
  const { nesting, blocks, loops, openBlocks } = parser;
  const called = name(parser);
  if (parser.blockNames.has(called)) parser.fail(`block '${called}' defined twice`, line);
  parser.blockNames.add(called);
  const scoped = parser.skipName('scoped');
  const required = parser.skipName('required');
  if (parser.is('-'))
    parser.fail(
      'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
    );
  if (scoped) for (const loop of loops) loop.extended = true;
  const outerLoops = nesting.loops;
  const around = loops.splice(0);
  const open: OpenBlock = { readsSuper: false };
  openBlocks.push(open);
  nesting.loops = 0;
  const { body } = framed(parser, 'endblock');
  openBlocks.pop();
  nesting.loops = outerLoops;
  loops.push(...around);
  if (required && !body.every(isBlank)) parser.fail('Required blocks can only contain comments or whitespace');
  parser.skipName(called);
  const node: BlockNode = { node: 'block', name: called, scoped, required, readsSuper: open.readsSuper, body, line };
  blocks.set(called, node);
  return node;
};

/** Notes the names of templates that an expression says literally. */
const noteNames = (parser: Parser, node: Expression): void => {
  if (node.node === 'constant' && typeof node.value === 'string') parser.others.names.add(node.value);
  else if (node.node === 'list' || node.node === 'tuple') for (const item of node.items) noteNames(parser, item);
  else if (node.node === 'condition') for (const one of [node.then, node.otherwise]) if (one) noteNames(parser, one);
};

/** The name of another template, or the names of several. */
const otherTemplate = (parser: Parser): Expression => {
  const template = expression(parser);
  noteNames(parser, template);
  return template;
};

const extend = (parser: Parser, line: number): Statement => {
  const template = otherTemplate(parser);
  parser.others.extends = true;
  if (parser.nesting.frames > 0)
    parser.later(() => new TemplateError('cannot use extend from a non top-level scope', line));
  return { node: 'extends', template, line };
};

/** `with context` or `without context`; undefined if neither is there. */
const contextMarker = (parser: Parser): boolean | undefined => {
  const ahead = parser.ahead();
  if (!parser.isName('with', 'without') || ahead.type !== 'name' || ahead.value !== 'context') return undefined;
  const withContext = parser.next().value === 'with';
  parser.next();
  return withContext;
};

const include = (parser: Parser, line: number): Statement => {
  const template = otherTemplate(parser);
  const ahead = parser.ahead();
  const ignoreMissing = parser.isName('ignore') && ahead.type === 'name' && ahead.value === 'missing';
  if (ignoreMissing) {
    parser.next();
    parser.next();
  }
  return { node: 'include', template, ignoreMissing, withContext: contextMarker(parser) ?? true, line };
};

/** A name that can be assigned. */
const targetName = (parser: Parser): string => {
  const { line } = parser.current();
  const called = name(parser);
  if (constants.has(called)) parser.fail("can't assign to 'name'", line);
  return called;
};

const importAll = (parser: Parser, line: number): Statement => {
  const template = otherTemplate(parser);
  parser.expectName('as');
  const called = targetName(parser);
  return { node: 'import', template, name: called, withContext: contextMarker(parser) ?? false, line };
};

const importedName = (parser: Parser): readonly [string, string] => {
  const { line } = parser.current();
  const called = targetName(parser);
  if (called.startsWith('_')) parser.fail('names starting with an underline can not be imported', line);
  return [called, parser.skipName('as') ? targetName(parser) : called];
};

const importNames = (parser: Parser, line: number): Statement => {
  const template = otherTemplate(parser);
  parser.expectName('import');
  const names: (readonly [string, string])[] = [];
  let withContext: boolean | undefined;
  for (;;) {
    if (names.length > 0) parser.expect(',');
    withContext = contextMarker(parser);
    if (withContext !== undefined) break;
    names.push(importedName(parser));
    withContext = contextMarker(parser);
    if (withContext !== undefined || !parser.is(',')) break;
  }
  return { node: 'from', template, names, withContext: withContext ?? false, line };
};

const autoescape = (parser: Parser, line: number): Statement => {
  const value = expression(parser);
  return { node: 'autoescape', value, body: framed(parser, 'endautoescape').body, line };
};

const leaveLoop =
  (word: 'break' | 'continue') =>
  (parser: Parser, line: number): Statement => {
    if (parser.nesting.loops === 0) parser.fail(`'${word}' outside loop`, line);
    return { node: word, line };
  };

/** The parsers of statements by tag. They are called when the tag's name is passed. */
export const statementParsers: ReadonlyMap<string, (parser: Parser, line: number) => Statement | Statement[]> = new Map<
  string,
  (parser: Parser, line: number) => Statement | Statement[]
>([
  ['print', print],
  ['for', forLoop],
  ['if', ifStatement],
  ['set', set],
  ['with', withNames],
  ['macro', macro],
  ['call', callBlock],
  ['filter', filterBlock],
  ['block', block],
  ['extends', extend],
  ['include', include],
  ['import', importAll],
  ['from', importNames],
  ['autoescape', autoescape],
  ['do', (parser, line) => ({ node: 'do', value: tuple(parser), line })],
  ['break', leaveLoop('break')],
  ['continue', leaveLoop('continue')],
]);

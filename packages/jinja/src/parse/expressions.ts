import type { Operator } from '../values/arithmetic.ts';
import type { CallArguments, CallNode, Comparison, Expression, FilterNode } from './nodes.ts';
import { describe, type Stream } from './stream.ts';

/** Functions by which the parser of statements learns what expressions contain. */
export type Watch = {
  /** An expression reads the name. */
  readonly reads: (name: string) => void;
  readonly filter: (name: string, line: number) => void;
  readonly test: (name: string, line: number) => void;
  /** Parses an expression. If it turns out to be a condition, unknown filters and tests in it are no errors. */
  readonly condition: (parse: () => readonly [Expression, boolean]) => Expression;
};

/** The tokens of a template, and the functions that are called for the expressions in them. */
export type ExpressionParser = Stream & { readonly watch: Watch };

type Parser = ExpressionParser;

/** The names that stand for constants. */
export const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);
const comparisons: readonly string[] = ['==', '!=', '<', '<=', '>', '>='];
const noArguments: CallArguments = { args: [], kwargs: [], allArgs: undefined, allKwargs: undefined };

/*
 * Jinja2's expressions. The functions call each other from the loosest binding to the tightest: condition, or, and,
 * not, comparison, sum, concatenation, product, power, sign.
 */

export const expression = (parser: Parser, conditions = true): Expression =>
  parser.deeper(() => (conditions ? condition(parser) : or(parser)));

const condition = (parser: Parser): Expression =>
  parser.watch.condition(() => {
    const line = parser.current().line;
    let value = or(parser);
    const conditional = parser.isName('if');
    while (parser.skipName('if')) {
      const test = or(parser);
      const otherwise = parser.skipName('else') ? expression(parser) : undefined;
      value = { node: 'condition', test, then: value, otherwise, line };
    }
    return [value, conditional];
  });

/** Returns the parser for operators of one level, which are applied from left to right. */
const leftToRight =
  (operand: (parser: Parser) => Expression, operators: readonly string[]) =>
  (parser: Parser): Expression => {
    let leftExpression = operand(parser);
    while (parser.current().type === 'operator' && operators.includes(parser.current().value)) {
      const { value: operator, line } = parser.next();
      leftExpression = {
        node: 'binary',
        operator: operator as Operator,
        left: leftExpression,
        right: operand(parser),
        line,
      };
    }
    return leftExpression;
  };

const or = (parser: Parser): Expression => {
  let leftExpression = and(parser);
  for (let line = parser.current().line; parser.skipName('or'); line = parser.current().line)
    leftExpression = { node: 'or', left: leftExpression, right: and(parser), line };
  return leftExpression;
};

const and = (parser: Parser): Expression => {
  let leftExpression = not(parser);
  for (let line = parser.current().line; parser.skipName('and'); line = parser.current().line)
    leftExpression = { node: 'and', left: leftExpression, right: not(parser), line };
  return leftExpression;
};

const not = (parser: Parser): Expression => {
  const line = parser.current().line;
  return parser.skipName('not') ? { node: 'not', of: parser.deeper(() => not(parser)), line } : compare(parser);
};

const comparison = (parser: Parser): Comparison | undefined => {
  if (parser.current().type === 'operator' && comparisons.includes(parser.current().value))
    return parser.next().value as Comparison;
  if (parser.skipName('in')) return 'in';
  if (parser.isName('not') && parser.ahead().type === 'name' && parser.ahead().value === 'in') {
    parser.next();
    parser.next();
    return 'not in';
  }
  return undefined;
};

const compare = (parser: Parser): Expression => {
  const line = parser.current().line;
  const first = sum(parser);
  const rest: [Comparison, Expression][] = [];
  for (let operator = comparison(parser); operator; operator = comparison(parser)) rest.push([operator, sum(parser)]);
  return rest.length === 0 ? first : { node: 'compare', first, rest, line };
};

const power = leftToRight((parser) => unary(parser), ['**']);
const product = leftToRight(power, ['*', '/', '//', '%']);

const concatenation = (parser: Parser): Expression => {
  const line = parser.current().line;
  const parts = [product(parser)];
  while (parser.skip('~')) parts.push(product(parser));
  const [first] = parts;
  return first && parts.length === 1 ? first : { node: 'concat', parts, line };
};

const sum = leftToRight(concatenation, ['+', '-']);

const unary = (parser: Parser, filtered = true): Expression => {
  const { line } = parser.current();
  let node: Expression;
  if (parser.is('-') || parser.is('+')) {
    const sign = parser.next().value as '-' | '+';
    node = { node: 'sign', sign, of: parser.deeper(() => unary(parser, false)), line };
  } else {
    node = primary(parser);
  }
  node = postfix(parser, node);
  return filtered ? afterwards(parser, node) : node;
};

export const primary = (parser: Parser): Expression => {
  const token = parser.current();
  const { line } = token;
  switch (token.type) {
    case 'name': {
      parser.next();
      const constant = constants.get(token.value);
      if (constant !== undefined) return { node: 'constant', value: constant, line };
      parser.watch.reads(token.value);
      return { node: 'name', name: token.value, line };
    }
    case 'string': {
      let value = '';
      while (parser.current().type === 'string') value += parser.next().value;
      return { node: 'constant', value, line };
    }
    case 'integer':
    case 'float':
      parser.next();
      return { node: 'constant', value: token.number, line };
    default:
  }
  if (parser.skip('(')) {
    const inner = tuple(parser, { parenthesised: true });
    parser.expect(')');
    return inner;
  }
  if (parser.skip('[')) return { node: 'list', items: items(parser, ']', () => expression(parser)), line };
  if (parser.skip('{')) {
    const pair = (): readonly [Expression, Expression] => {
      const key = expression(parser);
      parser.expect(':');
      return [key, expression(parser)];
    };
    return { node: 'dict', pairs: items(parser, '}', pair), line };
  }
  return parser.fail(`unexpected '${describe(token)}'`);
};

/** Parses parts with commas between them, up to `close`. A comma may follow the last part. */
const items = <T>(parser: Parser, close: string, part: () => T): T[] => {
  const parts: T[] = [];
  while (!parser.is(close)) {
    if (parts.length > 0) parser.expect(',');
    if (parser.is(close)) break;
    parts.push(part());
  }
  parser.expect(close);
  return parts;
};

type TupleOptions = {
  /** True if `a if b else c` is allowed. */
  readonly conditions?: boolean;
  /** A name that ends the tuple. */
  readonly end?: string;
  readonly parenthesised?: boolean;
};

/** Parses one expression, or a tuple of several with commas between them. */
export const tuple = (parser: Parser, options: TupleOptions = {}): Expression => {
  const { conditions = true, end, parenthesised = false } = options;
  const { line } = parser.current();
  const parts: Expression[] = [];
  let commas = false;
  for (;;) {
    if (parts.length > 0) parser.expect(',');
    if (
      parser.current().type === 'variable_end' ||
      parser.current().type === 'block_end' ||
      parser.is(')') ||
      (end !== undefined && parser.isName(end))
    )
      break;
    parts.push(expression(parser, conditions));
    if (!parser.is(',')) break;
    commas = true;
  }
  const [first] = parts;
  if (first && !commas) return first;
  if (!commas && !parenthesised) parser.fail(`Expected an expression, got '${describe(parser.current())}'`);
  return { node: 'tuple', items: parts, line };
};

const postfix = (parser: Parser, start: Expression): Expression => {
  let node = start;
  for (;;) {
    if (parser.is('.')) node = dotted(parser, node);
    else if (parser.is('[')) node = subscript(parser, node);
    else if (parser.is('(')) node = call(parser, node);
    else return node;
  }
};

const dotted = (parser: Parser, of: Expression): Expression => {
  const { line } = parser.next();
  const token = parser.next();
  if (token.type === 'name') return { node: 'attribute', of, name: token.value, line };
  if (token.type !== 'integer') return parser.fail('expected name or number', token.line);
  return { node: 'item', of, key: { node: 'constant', value: token.number, line }, line };
};

const subscript = (parser: Parser, of: Expression): Expression => {
  const { line } = parser.next();
  const keys: Expression[] = [];
  while (!parser.is(']')) {
    if (keys.length > 0) parser.expect(',');
    const start = parser.is(':') ? undefined : expression(parser);
    if (start && !parser.is(':')) {
      keys.push(start);
      continue;
    }
    parser.expect(':');
    const part = (): Expression | undefined =>
      parser.is(':') || parser.is(']') || parser.is(',') ? undefined : expression(parser);
    const stop = part();
    const step = parser.skip(':') ? part() : undefined;
    if (keys.length > 0 || !parser.is(']')) parser.fail('slices cannot be combined with other indexes', line);
    parser.expect(']');
    return { node: 'slice', of, start, stop, step, line };
  }
  parser.expect(']');
  const [first] = keys;
  const key: Expression = first && keys.length === 1 ? first : { node: 'tuple', items: keys, line };
  return { node: 'item', of, key, line };
};

const callArguments = (parser: Parser): CallArguments => {
  const { line } = parser.expect('(');
  const args: Expression[] = [];
  const kwargs: [string, Expression][] = [];
  let allArgs: Expression | undefined;
  let allKwargs: Expression | undefined;
  const ensure = (fine: boolean): void => {
    if (!fine) parser.fail('invalid syntax for function call expression', line);
  };
  let first = true;
  while (!parser.is(')')) {
    if (!first) {
      parser.expect(',');
      if (parser.is(')')) break;
    }
    first = false;
    if (parser.is('*')) {
      ensure(!allArgs && !allKwargs);
      parser.next();
      allArgs = expression(parser);
    } else if (parser.is('**')) {
      ensure(!allKwargs);
      parser.next();
      allKwargs = expression(parser);
    } else if (parser.current().type === 'name' && parser.ahead().type === 'operator' && parser.ahead().value === '=') {
      ensure(!allKwargs);
      const key = parser.next().value;
      parser.next();
      if (kwargs.some(([other]) => other === key)) parser.fail(`keyword argument repeated: ${key}`, line);
      kwargs.push([key, expression(parser)]);
    } else {
      ensure(!allArgs && !allKwargs && kwargs.length === 0);
      args.push(expression(parser));
    }
  }
  parser.expect(')');
  return { args, kwargs, allArgs, allKwargs };
};

const call = (parser: Parser, callee: Expression): CallNode => {
  const { line } = parser.current();
  return { node: 'call', callee, ...callArguments(parser), line };
};

const dottedName = (parser: Parser): string => {
  let name = parser.expectType('name').value;
  while (parser.skip('.')) name += `.${parser.expectType('name').value}`;
  return name;
};

const filter = (parser: Parser, of: Expression | undefined): FilterNode => {
  const { line } = parser.current();
  const name = dottedName(parser);
  parser.watch.filter(name, line);
  const callArgs = parser.is('(') ? callArguments(parser) : noArguments;
  return { node: 'filter', of, name, ...callArgs, line };
};

/** Parses the filters of a block, with bars between them. The first filter works on the text of the block. */
export const blockFilters = (parser: Parser): FilterNode => {
  let node = filter(parser, undefined);
  while (parser.skip('|')) node = filter(parser, node);
  return node;
};

const test = (parser: Parser, of: Expression): Expression => {
  const { line } = parser.next();
  const negated = parser.skipName('not');
  const name = dottedName(parser);
  parser.watch.test(name, line);
  let callArgs = noArguments;
  if (parser.is('(')) {
    callArgs = callArguments(parser);
  } else if (
    (['name', 'string', 'integer', 'float'].includes(parser.current().type) || parser.is('[') || parser.is('{')) &&
    !parser.isName('else', 'or', 'and')
  ) {
    if (parser.isName('is')) parser.fail('You cannot chain multiple tests with is');
    callArgs = { ...noArguments, args: [postfix(parser, primary(parser))] };
  }
  const node: Expression = { node: 'test', of, name, ...callArgs, line };
  return negated ? { node: 'not', of: node, line } : node;
};

/** Parses filters, tests and calls after an expression. */
const afterwards = (parser: Parser, start: Expression): Expression => {
  let node = start;
  for (;;) {
    if (parser.skip('|')) node = filter(parser, node);
    else if (parser.isName('is')) node = test(parser, node);
    else if (parser.is('(')) node = call(parser, node);
    else return node;
  }
};

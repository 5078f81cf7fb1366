import type { Operator } from '../values/arithmetic.ts';
import type { CallArguments, CallNode, Comparison, Expression, FilterNode } from './nodes.ts';
import { type Stream, describe } from './stream.ts';

/** What the parser of statements must know of the expressions within. */
export type Watch = {
  /** A name is read. */
  readonly reads: (name: string) => void;
  readonly filter: (name: string, line: number) => void;
  readonly test: (name: string, line: number) => void;
  /** Parses an expression; if it turns out to be a condition, its filters need not be there. */
  readonly condition: (parse: () => readonly [Expression, boolean]) => Expression;
};

export type Expressions = {
  readonly expression: (conditions?: boolean) => Expression;
  /** One expression, or several with commas as a tuple; `end` stops before that name. */
  readonly tuple: (options?: {
    readonly conditions?: boolean;
    readonly end?: string;
    readonly parenthesised?: boolean;
  }) => Expression;
  readonly primary: () => Expression;
  /** The filters that follow; `inline`: without a bar before the first. */
  readonly filters: (of: Expression | undefined, inline?: boolean) => FilterNode | undefined;
};

const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);
const comparisons: readonly string[] = ['==', '!=', '<', '<=', '>', '>='];
const noArguments: CallArguments = { args: [], kwargs: [], allArgs: undefined, allKwargs: undefined };

/**
 * Jinja2's expressions, loosest first: condition, or, and, not, comparison, sum, concatenation, product, power, sign.
 */
export const expressionsOf = (stream: Stream, watch: Watch): Expressions => {
  const { current, next, is, isName, skip, skipName, expect, expectType, fail } = stream;

  const expression = (conditions = true): Expression => stream.deeper(() => (conditions ? condition() : or()));

  const condition = (): Expression =>
    watch.condition(() => {
      const line = current().line;
      let value = or();
      const conditional = isName('if');
      while (skipName('if')) {
        const test = or();
        const otherwise = skipName('else') ? expression() : undefined;
        value = { node: 'condition', test, then: value, otherwise, line };
      }
      return [value, conditional];
    });

  /** Operators of one level, applied from left to right. */
  const leftToRight = (operand: () => Expression, operators: readonly string[]) => (): Expression => {
    let left = operand();
    while (current().type === 'operator' && operators.includes(current().value)) {
      const { value: operator, line } = next();
      left = { node: 'binary', operator: operator as Operator, left, right: operand(), line };
    }
    return left;
  };

  const or = (): Expression => {
    let left = and();
    for (let line = current().line; skipName('or'); line = current().line)
      left = { node: 'or', left, right: and(), line };
    return left;
  };

  const and = (): Expression => {
    let left = not();
    for (let line = current().line; skipName('and'); line = current().line)
      left = { node: 'and', left, right: not(), line };
    return left;
  };

  const not = (): Expression => {
    const line = current().line;
    return skipName('not') ? { node: 'not', of: stream.deeper(not), line } : compare();
  };

  const comparison = (): Comparison | undefined => {
    if (current().type === 'operator' && comparisons.includes(current().value)) return next().value as Comparison;
    if (skipName('in')) return 'in';
    if (isName('not') && stream.ahead().type === 'name' && stream.ahead().value === 'in') {
      next();
      next();
      return 'not in';
    }
    return undefined;
  };

  const compare = (): Expression => {
    const line = current().line;
    const first = sum();
    const rest: [Comparison, Expression][] = [];
    for (let operator = comparison(); operator; operator = comparison()) rest.push([operator, sum()]);
    return rest.length === 0 ? first : { node: 'compare', first, rest, line };
  };

  const power = leftToRight(() => unary(), ['**']);
  const product = leftToRight(power, ['*', '/', '//', '%']);

  const concatenation = (): Expression => {
    const line = current().line;
    const parts = [product()];
    while (skip('~')) parts.push(product());
    return parts.length === 1 ? parts[0]! : { node: 'concat', parts, line };
  };

  const sum = leftToRight(concatenation, ['+', '-']);

  const unary = (filtered = true): Expression => {
    const { line } = current();
    let node: Expression;
    if (is('-') || is('+')) {
      const sign = next().value as '-' | '+';
      node = { node: 'sign', sign, of: stream.deeper(() => unary(false)), line };
    } else node = primary();
    node = postfix(node);
    return filtered ? afterwards(node) : node;
  };

  const primary = (): Expression => {
    const token = current();
    const { line } = token;
    switch (token.type) {
      case 'name': {
        next();
        const constant = constants.get(token.value);
        if (constant !== undefined) return { node: 'constant', value: constant, line };
        watch.reads(token.value);
        return { node: 'name', name: token.value, line };
      }
      case 'string': {
        let value = '';
        while (current().type === 'string') value += next().value;
        return { node: 'constant', value, line };
      }
      case 'integer':
      case 'float':
        next();
        return { node: 'constant', value: token.number!, line };
      default:
    }
    if (skip('(')) {
      const inner = tuple({ parenthesised: true });
      expect(')');
      return inner;
    }
    if (skip('[')) return { node: 'list', items: items(']', () => expression()), line };
    if (skip('{')) {
      const pair = (): readonly [Expression, Expression] => {
        const key = expression();
        expect(':');
        return [key, expression()];
      };
      return { node: 'dict', pairs: items('}', pair), line };
    }
    return fail(`unexpected '${describe(token)}'`);
  };

  /** Parts with commas between them, and perhaps one after the last, up to `close`. */
  const items = <T>(close: string, part: () => T): T[] => {
    const parts: T[] = [];
    while (!is(close)) {
      if (parts.length > 0) expect(',');
      if (is(close)) break;
      parts.push(part());
    }
    expect(close);
    return parts;
  };

  const tuple: Expressions['tuple'] = ({ conditions = true, end, parenthesised = false } = {}) => {
    const { line } = current();
    const parts: Expression[] = [];
    let commas = false;
    for (;;) {
      if (parts.length > 0) expect(',');
      if (
        current().type === 'variable_end' ||
        current().type === 'block_end' ||
        is(')') ||
        (end !== undefined && isName(end))
      )
        break;
      parts.push(expression(conditions));
      if (!is(',')) break;
      commas = true;
    }
    if (!commas && parts.length > 0) return parts[0]!;
    if (!commas && !parenthesised) fail(`Expected an expression, got '${describe(current())}'`);
    return { node: 'tuple', items: parts, line };
  };

  const postfix = (start: Expression): Expression => {
    let node = start;
    for (;;) {
      if (is('.')) node = dotted(node);
      else if (is('[')) node = subscript(node);
      else if (is('(')) node = call(node);
      else return node;
    }
  };

  const dotted = (of: Expression): Expression => {
    const { line } = next();
    const token = next();
    if (token.type === 'name') return { node: 'attribute', of, name: token.value, line };
    if (token.type !== 'integer') fail('expected name or number', token.line);
    return { node: 'item', of, key: { node: 'constant', value: token.number!, line }, line };
  };

  const subscript = (of: Expression): Expression => {
    const { line } = next();
    const keys: Expression[] = [];
    while (!is(']')) {
      if (keys.length > 0) expect(',');
      const start = is(':') ? undefined : expression();
      if (start && !is(':')) {
        keys.push(start);
        continue;
      }
      expect(':');
      const part = (): Expression | undefined => (is(':') || is(']') || is(',') ? undefined : expression());
      const stop = part();
      const step = skip(':') ? part() : undefined;
      if (keys.length > 0 || !is(']')) fail('slices cannot be combined with other indexes', line);
      expect(']');
      return { node: 'slice', of, start, stop, step, line };
    }
    expect(']');
    return { node: 'item', of, key: keys.length === 1 ? keys[0]! : { node: 'tuple', items: keys, line }, line };
  };

  const callArguments = (): CallArguments => {
    const { line } = expect('(');
    const args: Expression[] = [];
    const kwargs: [string, Expression][] = [];
    let allArgs: Expression | undefined;
    let allKwargs: Expression | undefined;
    const ensure = (fine: boolean): void => {
      if (!fine) fail('invalid syntax for function call expression', line);
    };
    let first = true;
    while (!is(')')) {
      if (!first) {
        expect(',');
        if (is(')')) break;
      }
      first = false;
      if (is('*')) {
        ensure(!allArgs && !allKwargs);
        next();
        allArgs = expression();
      } else if (is('**')) {
        ensure(!allKwargs);
        next();
        allKwargs = expression();
      } else if (current().type === 'name' && stream.ahead().type === 'operator' && stream.ahead().value === '=') {
        ensure(!allKwargs);
        const key = next().value;
        next();
        if (kwargs.some(([other]) => other === key)) fail(`keyword argument repeated: ${key}`, line);
        kwargs.push([key, expression()]);
      } else {
        ensure(!allArgs && !allKwargs && kwargs.length === 0);
        args.push(expression());
      }
    }
    expect(')');
    return { args, kwargs, allArgs, allKwargs };
  };

  const call = (callee: Expression): CallNode => {
    const { line } = current();
    return { node: 'call', callee, ...callArguments(), line };
  };

  const dottedName = (): string => {
    let name = expectType('name').value;
    while (skip('.')) name += `.${expectType('name').value}`;
    return name;
  };

  const filters: Expressions['filters'] = (of, inline = false) => {
    let node = of;
    for (let first = inline; first || is('|'); first = false) {
      if (!first) next();
      const { line } = current();
      const name = dottedName();
      watch.filter(name, line);
      node = { node: 'filter', of: node, name, ...(is('(') ? callArguments() : noArguments), line };
    }
    return node as FilterNode | undefined;
  };

  const test = (of: Expression): Expression => {
    const { line } = next();
    const negated = skipName('not');
    const name = dottedName();
    watch.test(name, line);
    let given = noArguments;
    if (is('(')) given = callArguments();
    else if (
      (['name', 'string', 'integer', 'float'].includes(current().type) || is('[') || is('{')) &&
      !isName('else', 'or', 'and')
    ) {
      if (isName('is')) fail('You cannot chain multiple tests with is');
      given = { ...noArguments, args: [postfix(primary())] };
    }
    const node: Expression = { node: 'test', of, name, ...given, line };
    return negated ? { node: 'not', of: node, line } : node;
  };

  /** Filters, tests and calls of their results. */
  const afterwards = (start: Expression): Expression => {
    let node = start;
    for (;;) {
      if (is('|')) node = filters(node)!;
      else if (isName('is')) node = test(node);
      else if (is('(')) node = call(node);
      else return node;
    }
  };

  return { expression, tuple, primary, filters };
};

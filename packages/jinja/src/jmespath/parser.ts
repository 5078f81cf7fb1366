import type { Order } from '../values/compare.ts';
import type { Run, Value } from '../values/values.ts';
import { callFunction, Reference } from './functions.ts';
import * as query from './query.ts';
import { type Query, queryError } from './query.ts';
import { type Token, tokensOf } from './tokens.ts';

const endsProjection = 10;
const ofStar = 20;
const ofNot = 45;

/** How tightly the operator after a value binds. One that binds less than `endsProjection` ends a projection. */
const powers: Readonly<Record<string, number>> = {
  '|': 1,
  '||': 2,
  '&&': 3,
  '==': 5,
  '!=': 5,
  '<': 5,
  '<=': 5,
  '>': 5,
  '>=': 5,
  '[]': 9,
  '*': ofStar,
  '[?': 21,
  '.': 40,
  '!': ofNot,
  '{': 50,
  '[': 55,
  '(': 60,
};

/** A part of the expression. */
type Part = {
  readonly query: Query;
  /** The name, if the part is one without quotes: it may be that of a function. */
  readonly name?: string;
  /** True if it is an index: a slice behind one is no projection. */
  readonly indexed?: boolean;
  /** The query of `&expression`, which is itself no value. */
  readonly reference?: Query;
};

type Parser = {
  readonly token: (ahead?: number) => Token;
  readonly is: (...types: string[]) => boolean;
  readonly next: () => Token;
  readonly skip: (type: string) => boolean;
  readonly expect: (...types: string[]) => Token;
};

const parserOf = (tokens: readonly Token[]): Parser => {
  let at = 0;
  const token = (ahead = 0): Token => tokens[at + ahead] ?? { type: 'end', value: null, at: 0 };
  const is = (...types: string[]): boolean => types.includes(token().type);
  const next = (): Token => {
    const nextToken = token();
    at++;
    return nextToken;
  };
  return {
    token,
    is,
    next,
    skip: (type) => is(type) && next() !== undefined,
    expect: (...types) => (is(...types) ? next() : fail(token(), types.join(' or '))),
  };
};

const fail = ({ type, at }: Token, expected?: string): never => {
  throw queryError(`${expected === undefined ? '' : `expected ${expected}, `}got '${type}' before character ${at}`);
};

const textOf = ({ value }: Token): string => value as string;
const indexOf = ({ value }: Token): bigint => value as bigint;
const powerOf = (parser: Parser): number => powers[parser.token().type] ?? 0;

const noValue: Query = () => {
  throw queryError('&expression is only for functions');
};

const expression = (parser: Parser, power = 0): Part => {
  let leftPart = prefix(parser, parser.next());
  while (power < powerOf(parser)) leftPart = infix(parser, leftPart, parser.next());
  return leftPart;
};

/** The part at the beginning of an expression. */
const prefix = (parser: Parser, token: Token): Part => {
  switch (token.type) {
    case 'literal':
      return { query: () => token.value };
    case 'name':
      return { query: query.field(textOf(token)), name: textOf(token) };
    case 'quoted':
      if (parser.is('(')) fail(parser.token());
      return { query: query.field(textOf(token)) };
    case '@':
      return { query: query.current };
    case '*':
      return { query: query.projection(query.membersOf, parser.is(']') ? query.current : projected(parser, ofStar)) };
    case '[?':
    case '[]':
      return infix(parser, { query: query.current }, token);
    case '{':
      return { query: members(parser) };
    case '(': {
      const inner = expression(parser);
      parser.expect(')');
      return inner;
    }
    case '!':
      return { query: query.negated(expression(parser, ofNot).query) };
    case '[':
      if (parser.is('number', ':') || (parser.is('*') && parser.token(1).type === ']'))
        return infix(parser, { query: query.current }, token);
      return { query: items(parser) };
    case '&':
      return { query: noValue, reference: expression(parser).query };
    default:
      return fail(token);
  }
};

/** The part that an operator makes of the one before it. */
const infix = (parser: Parser, leftPart: Part, token: Token): Part => {
  const power = powers[token.type] ?? 0;
  switch (token.type) {
    case '.':
      if (parser.skip('*'))
        return { query: query.projection(query.chain(leftPart.query, query.membersOf), projected(parser, power)) };
      return { query: query.chain(leftPart.query, dotted(parser, power)) };
    case '|':
      return { query: query.chain(leftPart.query, expression(parser, power).query) };
    case '||':
      return { query: query.either(leftPart.query, expression(parser, power).query) };
    case '&&':
      return { query: query.both(leftPart.query, expression(parser, power).query) };
    case '(':
      return called(parser, leftPart);
    case '[?': {
      const condition = expression(parser).query;
      parser.expect(']');
      return {
        query: query.projection(leftPart.query, parser.is('[]') ? query.current : projected(parser, power), condition),
      };
    }
    case '[]':
      return { query: query.projection(query.chain(leftPart.query, query.flattened), projected(parser, power)) };
    case '[':
      return bracketed(parser, leftPart);
    case '==':
    case '!=':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return {
        query: query.comparison(token.type as '==' | '!=' | Order, leftPart.query, expression(parser, power).query),
      };
    default:
      return fail(token);
  }
};

/** `[*]`, an index or a slice behind a part. */
const bracketed = (parser: Parser, leftPart: Part): Part => {
  if (parser.skip('*')) {
    parser.expect(']');
    return { query: query.projection(leftPart.query, projected(parser, ofStar)) };
  }
  if (!parser.is(':') && parser.token(1).type !== ':') {
    const at = indexOf(parser.expect('number'));
    parser.expect(']');
    return { query: query.chain(leftPart.query, query.index(at)), indexed: true };
  }
  const part = query.chain(leftPart.query, sliceOf(parser));
  return leftPart.indexed
    ? { query: part, indexed: true }
    : { query: query.projection(part, projected(parser, ofStar)) };
};

const sliceOf = (parser: Parser): Query => {
  const parts: [Value, Value, Value] = [null, null, null];
  let at = 0;
  while (!parser.skip(']')) {
    const token = parser.expect('number', ':');
    if (token.type === 'number') parts[at] = token.value;
    else if (++at > 2) fail(token);
  }
  return query.slice(parts);
};

/** How each item of a projection goes on. */
const projected = (parser: Parser, power: number): Query => {
  if (powerOf(parser) < endsProjection) return query.current;
  if (parser.is('[', '[?')) return expression(parser, power).query;
  parser.expect('.');
  return dotted(parser, power);
};

/** The tokens that may stand behind a dot. */
const dotted = (parser: Parser, power: number): Query => {
  if (parser.is('name', 'quoted', '*')) return expression(parser, power).query;
  return parser.expect('[', '{').type === '[' ? items(parser) : members(parser);
};

/** `[a, b]`, behind the bracket. */
const items = (parser: Parser): Query => {
  const parts = [expression(parser).query];
  while (parser.expect(',', ']').type === ',') parts.push(expression(parser).query);
  return query.list(parts);
};

/** `{a: b, c: d}`, behind the bracket. As in the original, a comma may be missing. */
const members = (parser: Parser): Query => {
  const pairs: (readonly [string, Query])[] = [];
  do {
    const name = textOf(parser.expect('name', 'quoted'));
    parser.expect(':');
    pairs.push([name, expression(parser).query]);
  } while (parser.skip(',') || !parser.skip('}'));
  return query.dict(pairs);
};

/** A call of a function, behind the bracket. As in the original, a comma may be missing. */
const called = (parser: Parser, { name }: Part): Part => {
  if (name === undefined) return fail(parser.token(), 'the name of a function before the bracket');
  const parts: Part[] = [];
  while (!parser.skip(')')) {
    parts.push(expression(parser));
    parser.skip(',');
  }
  return {
    query: (run, value) =>
      callFunction(
        run,
        name,
        parts.map((part) => (part.reference ? new Reference(part.reference) : part.query(run, value))),
      ),
  };
};

/** Searches a value by an expression of JMESPath. */
export const search = (run: Run, written: string, value: Value): Value => {
  const parser = parserOf(tokensOf(run, written));
  const { query: whole } = expression(parser);
  parser.expect('end');
  return whole(run, value);
};

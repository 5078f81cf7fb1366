import { TemplateError } from '../errors.ts';
import type { Token, TokenType } from './lexer.ts';

const described: Readonly<Partial<Record<TokenType, string>>> = {
  block_begin: 'begin of statement block',
  block_end: 'end of statement block',
  variable_begin: 'begin of print statement',
  variable_end: 'end of print statement',
  data: 'template data / text',
  eof: 'end of template',
};

/** Names a token in messages. */
export const describe = ({ type, value }: Token): string =>
  type === 'name' || type === 'operator' ? value : (described[type] ?? type);

const deepest = 100;

/** A reader of tokens, with the state of the parser. `current` is the next token to read, `ahead` the one after it. */
export type Stream = {
  readonly current: () => Token;
  readonly ahead: () => Token;
  readonly next: () => Token;
  /** True if the current token is this operator, or one of these names. */
  readonly is: (operator: string) => boolean;
  readonly isName: (...names: string[]) => boolean;
  /** Moves past the token if it is this one. Returns whether it was. */
  readonly skip: (operator: string) => boolean;
  readonly skipName: (name: string) => boolean;
  readonly expect: (operator: string) => Token;
  readonly expectType: (type: TokenType) => Token;
  readonly expectName: (name: string) => Token;
  readonly fail: (message: string, line?: number) => never;
  /** Parses one level deeper. Throws when the template is nested too deeply. */
  readonly deeper: <T>(parse: () => T) => T;
};

export const streamOf = (tokens: readonly Token[]): Stream => {
  let at = 0;
  let depth = 0;
  const last = tokens.length - 1;
  // No index is beyond the last token, which is the end of the template.
  const tokenAt = (index: number): Token => tokens[index]!;
  const current = (): Token => tokenAt(at);
  const next = (): Token => {
    const token = tokenAt(at);
    if (at < last) at++;
    return token;
  };
  const fail = (message: string, line = current().line): never => {
    throw new TemplateError(message, line);
  };
  const is = (operator: string): boolean => current().type === 'operator' && current().value === operator;
  const isName = (...names: string[]): boolean => current().type === 'name' && names.includes(current().value);
  const expected = (what: string, there: boolean): Token => {
    if (there) return next();
    return fail(
      current().type === 'eof'
        ? `unexpected end of template, expected '${what}'.`
        : `expected token '${what}', got '${describe(current())}'`,
    );
  };
  return {
    current,
    next,
    fail,
    is,
    isName,
    ahead: () => tokenAt(Math.min(at + 1, last)),
    skip: (operator) => is(operator) && next() !== undefined,
    skipName: (name) => isName(name) && next() !== undefined,
    expect: (operator) => expected(operator, is(operator)),
    expectType: (type) => expected(described[type] ?? type, current().type === type),
    expectName: (name) => expected(name, isName(name)),
    deeper: (parse) => {
      if (depth >= deepest) fail(`The template is nested deeper than ${deepest} levels`);
      depth++;
      try {
        return parse();
      } finally {
        depth--;
      }
    },
  };
};

import { TemplateError } from '../errors.ts';
import { textRepr } from '../values/print.ts';
import { isSpace } from '../values/text.ts';
import { unescaped } from './stringLiteral.ts';

export type TokenType =
  | 'data'
  | 'block_begin'
  | 'block_end'
  | 'variable_begin'
  | 'variable_end'
  | 'name'
  | 'string'
  | 'integer'
  | 'float'
  | 'operator'
  | 'eof';

/** `value` is what the source means: text, operator, name, the number. */
export type Token = {
  readonly type: TokenType;
  readonly value: string;
  readonly number?: bigint | number;
  readonly line: number;
};

const openers: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
]);
const closers = new Set([')', ']', '}']);

const float = /(?<!\.)\d+(?:_\d+)*(?:(?:\.\d+(?:_\d+)*)?e[-+]?\d+(?:_\d+)*|\.\d+(?:_\d+)*)/iy;
const integer = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const name = /[\p{ID_Continue}]+/uy;
const string = /'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*"/sy;
const operator = /\*\*|\/\/|[=!<>]=|[-+/*%~[\](){}<>=.:|,;]/y;
const raw = /\{%[-+]?\s*raw\s*(?:-%\}\s*|%\})/y;
const endraw = /\{%([-+]?)\s*endraw\s*(?:\+%\}|(-)%\}|%\})/y;

const mostDigits = 4300;

/** The tokens of a template: Jinja2's delimiters, blocks not trimmed, one newline at the end dropped. */
export const tokenize = (template: string): Token[] => {
  const source = template.replace(/\r\n|\r/g, '\n').replace(/\n$/, '');
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  let newline = source.indexOf('\n');

  /** Passes what lies before `to`. */
  const advance = (to: number): void => {
    for (; newline >= 0 && newline < to; newline = source.indexOf('\n', newline + 1)) line++;
    at = to;
  };
  const fail = (message: string, where = line): never => {
    throw new TemplateError(message, where);
  };
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source)?.[0];
  };
  const skipSpace = (): void => {
    let to = at;
    while (to < source.length && isSpace(source[to]!)) to++;
    advance(to);
  };
  /** Text up to `to`; `sign` is what its tag begins with. */
  const data = (to: number, sign: string): void => {
    let end = to;
    if (sign === '-') while (end > at && isSpace(source[end - 1]!)) end--;
    if (end > at) tokens.push({ type: 'data', value: source.slice(at, end), line });
    advance(to);
  };

  const comment = (): void => {
    const started = line;
    const from = at + (/[-+]/.test(source[at + 2] ?? '') ? 3 : 2);
    const end = source.indexOf('#}', from);
    if (end < 0) fail('Missing end of comment tag', started);
    advance(end + 2);
    if (end > from && source[end - 1] === '-') skipSpace();
  };

  const rawBlock = (begin: string): void => {
    const started = line;
    advance(at + begin.length);
    for (let open = source.indexOf('{%', at); open >= 0; open = source.indexOf('{%', open + 2)) {
      endraw.lastIndex = open;
      const end = endraw.exec(source);
      if (!end) continue;
      data(open, end[1]!);
      advance(open + end[0].length);
      if (end[2]) skipSpace();
      return;
    }
    fail('Missing end of raw directive', started);
  };

  const number = (text: string, type: 'integer' | 'float'): void => {
    const digits = text.replaceAll('_', '');
    if (type === 'integer' && digits.length > mostDigits)
      fail('Exceeds the limit (4300 digits) for integer string conversion');
    tokens.push({ type, value: text, number: type === 'float' ? Number(digits) : BigInt(digits.toLowerCase()), line });
  };

  const tag = (kind: 'block' | 'variable'): void => {
    tokens.push({ type: `${kind}_begin`, value: '', line });
    advance(at + (/[-+]/.test(source[at + 2] ?? '') ? 3 : 2));
    const close = kind === 'block' ? '%}' : '}}';
    const open: string[] = [];
    for (;;) {
      skipSpace();
      if (at >= source.length) return;
      if (open.length === 0) {
        const strips = source.startsWith(`-${close}`, at);
        if (strips || source.startsWith(close, at) || (kind === 'block' && source.startsWith('+%}', at))) {
          tokens.push({ type: `${kind}_end`, value: '', line });
          advance(at + (source.startsWith(close, at) ? 2 : 3));
          if (strips) skipSpace();
          return;
        }
      }
      let text: string | undefined;
      if ((text = match(float)) !== undefined) number(text, 'float');
      else if ((text = match(integer)) !== undefined) number(text, 'integer');
      else if ((text = match(name)) !== undefined) {
        if (!/^[\p{ID_Start}_]/u.test(text)) fail('Invalid character in identifier');
        tokens.push({ type: 'name', value: text, line });
      } else if ((text = match(string)) !== undefined) {
        tokens.push({ type: 'string', value: unescaped(text.slice(1, -1), (message) => fail(message)), line });
      } else if ((text = match(operator)) !== undefined) {
        if (openers.has(text)) open.push(openers.get(text)!);
        else if (closers.has(text)) {
          const expected = open.pop();
          if (expected === undefined) fail(`unexpected '${text}'`);
          if (expected !== text) fail(`unexpected '${text}', expected '${expected}'`);
        }
        tokens.push({ type: 'operator', value: text, line });
      } else fail(`unexpected char ${textRepr(String.fromCodePoint(source.codePointAt(at)!))} at ${at}`);
      advance(at + text!.length);
    }
  };

  while (at < source.length) {
    let open = source.indexOf('{', at);
    while (open >= 0 && !'%{#'.includes(source[open + 1] ?? ' ')) open = source.indexOf('{', open + 1);
    if (open < 0) {
      data(source.length, '');
      break;
    }
    data(open, source[open + 2] ?? '');
    const begin = match(raw);
    if (begin !== undefined) rawBlock(begin);
    else if (source[open + 1] === '#') comment();
    else tag(source[open + 1] === '%' ? 'block' : 'variable');
  }
  tokens.push({ type: 'eof', value: '', line });
  return tokens;
};

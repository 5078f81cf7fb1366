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

type NumberType = 'integer' | 'float';

/** `value` is the text in the source, without the quotes and escapes of a string. */
export type Token = { readonly value: string; readonly line: number } & (
  | { readonly type: NumberType; readonly number: bigint | number }
  | { readonly type: Exclude<TokenType, NumberType> }
);

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

/** The state of the lexer. */
type Scan = {
  readonly source: string;
  readonly tokens: Token[];
  at: number;
  /** Line of `at`, from 1. */
  line: number;
  /** Index of the next newline that `line` does not count yet; -1 if there is none. */
  newline: number;
};

/** Moves to the index `to`, and counts the lines on the way. */
const advance = (scan: Scan, to: number): void => {
  while (scan.newline >= 0 && scan.newline < to) {
    scan.line++;
    scan.newline = scan.source.indexOf('\n', scan.newline + 1);
  }
  scan.at = to;
};

const fail = ({ line }: Scan, message: string, where = line): never => {
  throw new TemplateError(message, where);
};

/** The text at the current index that a sticky pattern matches. */
const match = ({ source, at }: Scan, pattern: RegExp): string | undefined => {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
};

const skipSpace = (scan: Scan): void => {
  const { source } = scan;
  let to = scan.at;
  while (to < source.length && isSpace(source.charAt(to))) to++;
  advance(scan, to);
};

/** Index after the opening delimiter, which may have a sign. */
const behindOpening = ({ source, at }: Scan): number => at + (/[-+]/.test(source[at + 2] ?? '') ? 3 : 2);

/** Adds the text up to `to`. A `-` as the sign of the tag that follows removes the space before the tag. */
const data = (scan: Scan, to: number, sign: string): void => {
  const { source, at, tokens, line } = scan;
  let end = to;
  if (sign === '-') while (end > at && isSpace(source.charAt(end - 1))) end--;
  if (end > at) tokens.push({ type: 'data', value: source.slice(at, end), line });
  advance(scan, to);
};

const comment = (scan: Scan): void => {
  const { source, line } = scan;
  const from = behindOpening(scan);
  const end = source.indexOf('#}', from);
  if (end < 0) fail(scan, 'Missing end of comment tag', line);
  advance(scan, end + 2);
  if (end > from && source[end - 1] === '-') skipSpace(scan);
};

const rawBlock = (scan: Scan, begin: string): void => {
  const { source, line } = scan;
  advance(scan, scan.at + begin.length);
  for (let open = source.indexOf('{%', scan.at); open >= 0; open = source.indexOf('{%', open + 2)) {
    endraw.lastIndex = open;
    const end = endraw.exec(source);
    if (!end) continue;
    const [whole, sign = '', strips] = end;
    data(scan, open, sign);
    advance(scan, open + whole.length);
    if (strips) skipSpace(scan);
    return;
  }
  fail(scan, 'Missing end of raw directive', line);
};

const number = (scan: Scan, text: string, type: NumberType): void => {
  const digits = text.replaceAll('_', '');
  if (type === 'integer' && digits.length > mostDigits)
    fail(scan, 'Exceeds the limit (4300 digits) for integer string conversion');
  const value = type === 'float' ? Number(digits) : BigInt(digits.toLowerCase());
  scan.tokens.push({ type, value: text, number: value, line: scan.line });
};

/** Updates `open`, the brackets that must close next. */
const bracket = (scan: Scan, text: string, open: string[]): void => {
  const closer = openers.get(text);
  if (closer !== undefined) {
    open.push(closer);
    return;
  }
  if (!closers.has(text)) return;
  const expected = open.pop();
  if (expected === undefined) fail(scan, `unexpected '${text}'`);
  if (expected !== text) fail(scan, `unexpected '${text}', expected '${expected}'`);
};

/** Adds the token at the current index, and returns its text. */
const part = (scan: Scan, open: string[]): string => {
  const { source, tokens, line } = scan;
  const asFloat = match(scan, float);
  if (asFloat !== undefined) {
    number(scan, asFloat, 'float');
    return asFloat;
  }
  const asInteger = match(scan, integer);
  if (asInteger !== undefined) {
    number(scan, asInteger, 'integer');
    return asInteger;
  }
  const asName = match(scan, name);
  if (asName !== undefined) {
    if (!/^[\p{ID_Start}_]/u.test(asName)) fail(scan, 'Invalid character in identifier');
    tokens.push({ type: 'name', value: asName, line });
    return asName;
  }
  const asString = match(scan, string);
  if (asString !== undefined) {
    const value = unescaped(asString.slice(1, -1), (message) => fail(scan, message));
    tokens.push({ type: 'string', value, line });
    return asString;
  }
  const asOperator = match(scan, operator);
  if (asOperator !== undefined) {
    bracket(scan, asOperator, open);
    tokens.push({ type: 'operator', value: asOperator, line });
    return asOperator;
  }
  const character = String.fromCodePoint(source.codePointAt(scan.at) ?? 0);
  return fail(scan, `unexpected char ${textRepr(character)} at ${scan.at}`);
};

/** Moves past the end of a tag if there is one at the current index. Returns whether there was. */
const tagEnds = (scan: Scan, kind: 'block' | 'variable'): boolean => {
  const { source, at } = scan;
  const close = kind === 'block' ? '%}' : '}}';
  const strips = source.startsWith(`-${close}`, at);
  const ends = strips || source.startsWith(close, at) || (kind === 'block' && source.startsWith('+%}', at));
  if (!ends) return false;
  scan.tokens.push({ type: `${kind}_end`, value: '', line: scan.line });
  advance(scan, at + (source.startsWith(close, at) ? 2 : 3));
  if (strips) skipSpace(scan);
  return true;
};

const tag = (scan: Scan, kind: 'block' | 'variable'): void => {
  scan.tokens.push({ type: `${kind}_begin`, value: '', line: scan.line });
  advance(scan, behindOpening(scan));
  const open: string[] = [];
  for (;;) {
    skipSpace(scan);
    if (scan.at >= scan.source.length) return;
    if (open.length === 0 && tagEnds(scan, kind)) return;
    const text = part(scan, open);
    advance(scan, scan.at + text.length);
  }
};

/** The index of the next opening delimiter, or -1. */
const nextOpening = ({ source, at }: Scan): number => {
  let open = source.indexOf('{', at);
  while (open >= 0 && !'%{#'.includes(source[open + 1] ?? ' ')) open = source.indexOf('{', open + 1);
  return open;
};

/**
 * Splits a template into tokens. Delimiters are those of Jinja2. Blocks are not trimmed. One newline at the end is
 * dropped.
 */
export const tokenize = (template: string): Token[] => {
  const source = template.replace(/\r\n|\r/g, '\n').replace(/\n$/, '');
  const scan: Scan = { source, tokens: [], at: 0, line: 1, newline: source.indexOf('\n') };
  while (scan.at < source.length) {
    const open = nextOpening(scan);
    if (open < 0) {
      data(scan, source.length, '');
      break;
    }
    data(scan, open, source[open + 2] ?? '');
    const begin = match(scan, raw);
    if (begin !== undefined) rawBlock(scan, begin);
    else if (source[open + 1] === '#') comment(scan);
    else tag(scan, source[open + 1] === '%' ? 'block' : 'variable');
  }
  scan.tokens.push({ type: 'eof', value: '', line: scan.line });
  return scan.tokens;
};

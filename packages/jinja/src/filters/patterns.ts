import { PythonError } from '../errors.ts';
import { groupsOf, type Match, matches, type PatternFlags, patternError } from '../patterns.ts';
import { needText } from '../values/arguments.ts';
import { str } from '../values/print.ts';
import { type Run, truthy, tuple, type Value } from '../values/values.ts';
import type { Filter, Filters } from './define.ts';

const flagsOf = (ignoreCase: Value, multiline: Value): PatternFlags => ({
  ignoreCase: truthy(ignoreCase),
  multiline: truthy(multiline),
});

/** A part of a replacement: a text, or the number of a group. */
type Part = string | number;

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

type Groups = ReturnType<typeof groupsOf>;

const numberNamed = (names: Groups['names'], name: string): number | undefined =>
  Object.hasOwn(names, name) ? names[name] : undefined;

/** The number of a group from its number or name in the text. */
const groupNumber = (name: string, { count, names }: Groups): number => {
  const number = /^\d+$/.test(name) ? Number(name) : numberNamed(names, name);
  if (number === undefined) throw new PythonError('IndexError', `unknown group name '${name}'`);
  if (number > count) throw patternError(`invalid group reference ${number}`);
  return number;
};

const partOf = (written: string, groups: Groups): Part => {
  const named = /^\\g<([^>]+)>$/.exec(written)?.[1];
  if (named !== undefined) return groupNumber(named, groups);
  const rest = written.slice(1);
  if (/^0[0-7]{0,2}$/.test(rest) || /^[0-7]{3}$/.test(rest)) {
    const code = Number.parseInt(rest, 8);
    if (code > 0o377) throw patternError(`octal escape value ${written} outside of range 0-0o377`);
    return String.fromCharCode(code);
  }
  if (/^\d/.test(rest)) return groupNumber(rest, groups);
  const escapeText = escapes[rest];
  if (escapeText !== undefined) return escapeText;
  if (/^[A-Za-z]?$/.test(rest)) throw patternError(`bad escape ${written}`);
  return written;
};

/** Splits a replacement into texts and group numbers. */
const replacementOf = (written: string, groups: Groups): Part[] =>
  [...written.matchAll(/\\(?:g<[^>]*>|0[0-7]{0,2}|[1-3][0-7]{2}|[4-7][0-7]{2}|[1-9]\d?|[^\d]|$)|[^\\]+/gs)].map(
    ([part]) => (part.startsWith('\\') ? partOf(part, groups) : part),
  );

const filled = (run: Run, parts: readonly Part[], { groups }: Match): string => {
  const text = parts.map((part) => (typeof part === 'string' ? part : (groups[part] ?? ''))).join('');
  run.budget.make(text.length);
  return text;
};

const replace: Filter = {
  parameters: ['pattern?', 'replacement?', 'ignorecase?', 'multiline?'],
  call: (
    run,
    value: Value,
    pattern: Value = '',
    replacement: Value = '',
    ignoreCase: Value = false,
    multiline: Value = false,
  ) => {
    const text = str(run, value);
    const [source, flags] = [needText(pattern, 'pattern'), flagsOf(ignoreCase, multiline)];
    const written = needText(replacement, 'replacement');
    const parts = written.includes('\\') ? replacementOf(written, groupsOf(run, source, flags)) : [written];
    let result = '';
    let from = 0;
    for (const match of matches(run, source, flags, text)) {
      result += text.slice(from, match.start) + filled(run, parts, match);
      run.budget.fits(result.length);
      from = match.end;
    }
    run.budget.make(result.length + text.length - from);
    return result + text.slice(from);
  },
};

/** The result for a match: the whole match, its group if it has one, or all its groups. */
const foundIn = ({ groups }: Match): Value => {
  const [whole = '', ...inner] = groups;
  if (inner.length === 0) return whole;
  const texts = inner.map((group) => group ?? '');
  return texts.length === 1 ? (texts[0] ?? '') : tuple(texts);
};

const findall: Filter = {
  parameters: ['regex', 'multiline?', 'ignorecase?'],
  call: (run, value: Value, pattern: Value, multiline: Value = false, ignoreCase: Value = false) => {
    const found: Value[] = [];
    const text = str(run, value);
    for (const match of matches(run, needText(pattern, 'pattern'), flagsOf(ignoreCase, multiline), text)) {
      run.budget.fits(found.length);
      found.push(foundIn(match));
    }
    return found;
  },
};

/**
 * The group in `\\1` or `\\g<name>`. Like Ansible, it reads the text between the brackets as a name, never as a number.
 */
const wantedGroup = (written: Value): string | number => {
  const text = needText(written, 'group');
  const name = /^\\g<(\S+)>/.exec(text)?.[1];
  if (name !== undefined) return name;
  const number = /^\\(\d+)/.exec(text)?.[1];
  if (number === undefined) throw new PythonError('AnsibleFilterError', 'Unknown argument');
  return Number(number);
};

const groupOf = ({ groups, names }: Match, name: string | number): Value => {
  const number = typeof name === 'number' ? name : numberNamed(names, name);
  if (number === undefined || number >= groups.length) throw new PythonError('IndexError', 'no such group');
  return groups[number] ?? null;
};

const search: Filter = {
  all: (run, value, [pattern, ...wanted], kwargs) => {
    const text = str(run, value);
    const patternArgument = pattern === undefined ? kwargs.get('regex') : pattern;
    if (patternArgument === undefined) throw new PythonError('TypeError', "regex_search() missing argument: 'regex'");
    const flags = flagsOf(kwargs.get('ignorecase') ?? false, kwargs.get('multiline') ?? false);
    const names = wanted.map(wantedGroup);
    const source = needText(patternArgument, 'pattern');
    const [match] = matches(run, source, flags, text);
    if (!match) return null;
    if (names.length === 0) return match.groups[0] ?? '';
    return names.map((name) => groupOf(match, name));
  },
};

const regexEscape: Filter = {
  parameters: ['re_type?'],
  call: (run, value: Value, type: Value = 'python') => {
    const text = str(run, value);
    run.budget.make(2 * text.length);
    const special = { python: /[\t-\r #$&()*+\-.?[\\\]^{|}~]/g, posix_basic: /[\].[^$*\\]/g }[needText(type)];
    if (!special) throw new PythonError('AnsibleFilterError', `Regex type (${str(run, type)}) not yet implemented`);
    return text.replace(special, '\\$&');
  },
};

/**
 * Ansible's filters for regular expressions, by name. The expressions are Python's, as far as they can be matched in
 * linear time.
 */
export const patternFilters: Filters = {
  regex_replace: replace,
  regex_findall: findall,
  regex_search: search,
  regex_escape: regexEscape,
};

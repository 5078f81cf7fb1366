import { fail } from '../budget.ts';
import { LinearPattern } from '../patterns.ts';
import { type Method, method, type Using } from '../signatures.ts';
import { joined, textOf } from '../values.ts';

const padding = (side: 'padStart' | 'padEnd'): Method =>
  method('text: text, length: number, fill?: text -> text', ({ budget }, text: string, length: number, fill) => {
    budget.make(Math.max(text.length, length || 0));
    return text[side](length, fill);
  });

const times = (one: string, part: string): number => {
  let count = 0;
  for (let at = one.indexOf(part); at >= 0 && part !== ''; at = one.indexOf(part, at + part.length)) count += 1;
  return part === '' ? one.length + 1 : count;
};

type Replacement = { readonly by: string; readonly all: boolean };

/** The text with what is found replaced, as JavaScript does it: `$&`, `$1` and the like in `by` are parts of the match. */
const replaced = (using: Using, text: string, what: string | LinearPattern, { by, all }: Replacement): string => {
  const found = what instanceof LinearPattern || all ? text.length + 1 : 1;
  const dollars = times(by, '$');
  using.budget.make(text.length);
  // Most of the texts that may come about are far smaller than the bound; only large ones are counted exactly.
  let size = text.length + found * (by.length + dollars * text.length);
  if (size > 1_000_000) {
    size = text.length;
    const measure = (match: string): string => {
      size += by.length + dollars * Math.max(match.length, by.includes("$'") || by.includes('$`') ? text.length : 0);
      using.budget.make(size);
      return '';
    };
    if (all) text.replaceAll(what, measure);
    else text.replace(what, measure);
  }
  using.budget.make(size);
  return all ? text.replaceAll(what, by) : text.replace(what, by);
};

const patternOf = (using: Using, what: string | LinearPattern): LinearPattern =>
  what instanceof LinearPattern ? what : using.pattern(what, '');

/** A method that asks a text about a part of it. */
const asking = (name: 'startsWith' | 'includes' | 'indexOf' | 'lastIndexOf', gives: string): Method =>
  method(`text: text, part: text, from?: number -> ${gives}`, ({ budget }, text: string, part, from) => {
    budget.spend(text.length);
    return text[name](part, from);
  });

/** A method that changes a text, which gets no longer than three times as long. */
const changing = (name: 'toLowerCase' | 'toUpperCase' | 'trim' | 'trimStart' | 'trimEnd' | 'toString'): Method =>
  method('text: text -> text', ({ budget }, text: string) => {
    budget.make(3 * text.length);
    return text[name]();
  });

export const texts: Readonly<Record<string, Method>> = {
  'String.charAt': method('text: text, index?: number -> text', (_, text: string, at = 0) => text.charAt(at)),
  'String.charCodeAt': method('text: text, index?: number -> number', (_, text: string, at = 0) => text.charCodeAt(at)),
  'String.concat': method('text: text, ...more: value -> text', ({ budget }, text: string, ...more) =>
    joined([text, ...more.map((one) => textOf(one, budget))], '', budget),
  ),
  'String.endsWith': method('text: text, part: text, end?: number -> boolean', (_, text: string, part, end) =>
    text.endsWith(part, end),
  ),
  'String.includes': asking('includes', 'boolean'),
  'String.indexOf': asking('indexOf', 'number'),
  'String.lastIndexOf': asking('lastIndexOf', 'number'),
  'String.length': method('text: text -> number', (_, text: string) => text.length),
  'String.match': method('text: text, pattern: text|pattern -> list', (using, text: string, what) => {
    const match = text.match(patternOf(using, what));
    return match && [...match];
  }),
  'String.padEnd': padding('padEnd'),
  'String.padStart': padding('padStart'),
  'String.repeat': method('text: text, count: number -> text', ({ budget }, text: string, count: number) => {
    if (!(count >= 0) && !Number.isNaN(count)) return fail('count: it must not be negative');
    budget.make(text === '' ? 0 : text.length * (Math.trunc(count) || 0));
    return count === Number.POSITIVE_INFINITY ? fail('count: it must be finite') : text.repeat(count);
  }),
  'String.replace': method('text: text, what: text|pattern, by: text|pattern -> text', (using, text, what, by) =>
    replaced(using, text, what, { by: String(by), all: false }),
  ),
  'String.replaceAll': method('text: text, what: text|pattern, by: text|pattern -> text', (using, text, what, by) =>
    what instanceof LinearPattern && !what.global
      ? fail('what: a pattern with the flag g is needed')
      : replaced(using, text, what, { by: String(by), all: true }),
  ),
  'String.search': method('text: text, pattern: text|pattern -> number', (using, text: string, what) =>
    text.search(patternOf(using, what)),
  ),
  'String.slice': method('text: text, start?: number, end?: number -> text', (_, text: string, start, end) =>
    text.slice(start, end),
  ),
  'String.split': method(
    'text: text, separator?: text|pattern, limit?: number -> list',
    ({ budget }, text: string, separator, limit?: number) => {
      const most = limit === undefined ? 2 ** 32 - 1 : limit >>> 0;
      budget.make(text.length);
      return separator instanceof LinearPattern ? separator.split(text, most) : text.split(separator, most);
    },
  ),
  'String.startsWith': asking('startsWith', 'boolean'),
  'String.substring': method('text: text, start?: number, end?: number -> text', (_, text: string, start = 0, end) =>
    text.substring(start, end),
  ),
  'String.toLowerCase': changing('toLowerCase'),
  'String.toString': changing('toString'),
  'String.toUpperCase': changing('toUpperCase'),
  'String.trim': changing('trim'),
  'String.trimEnd': changing('trimEnd'),
  'String.trimStart': changing('trimStart'),
};

import { SchemaError } from './schemaError.ts';
import { categories } from './unicodeCategories.ts';

/**
 * The syntax of a pattern. `re2` also allows what only RE2 knows: \A, \z, \pL, \x{41}, (?P<name>...), (?i),
 * [[:alpha:]].
 */
export type Syntax = 'ecma' | 're2';

// White space and line ends by ECMA 262. Those of RE2 are ASCII only.
const space =
  '\\t\\n\\x{b}\\f\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const noSpace =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const noLineEnd = '[^\\n\\r\\x{2028}\\x{2029}]';
const anything = '\\x{0}-\\x{10ffff}';

/** Escapes with the same meaning in RE2 and ECMA 262. */
const alike = new Set('dDwWtnrf');

type Place = { readonly inClass: boolean; readonly syntax: Syntax };

/**
 * Translates a pattern to the syntax of RE2. Throws `SchemaError` with the place of anything that RE2 lacks (look-around,
 * back references), and of escapes that ECMA 262 lacks.
 */
export const inRe2 = (pattern: string, syntax: Syntax): string => {
  let [read, written, inClass] = [0, '', false];
  const take = (length: number, text: string): void => {
    read += length;
    written += text;
  };
  const refuse = (part: string, why: string): never => {
    throw new SchemaError(
      `The pattern ${JSON.stringify(pattern)} cannot be used: ${JSON.stringify(part)} at character ${read + 1} ${why}`,
    );
  };

  while (read < pattern.length) {
    const rest = pattern.slice(read, read + 400);
    const next = rest.charAt(0);
    if (next === '\\') take(...escapeSequence(rest, { inClass, syntax }, refuse));
    else if (inClass && rest.startsWith('[:')) take(...namedClass(rest, syntax, refuse));
    else if (inClass) {
      if (next === ']') inClass = false;
      take(1, next === '[' ? '\\[' : next);
    } else if (rest.startsWith('[^]')) take(3, `[${anything}]`);
    else if (rest.startsWith('[]')) take(2, `[^${anything}]`);
    else if (next === '[') {
      inClass = true;
      const opening = rest.startsWith('[^') ? '[^' : '[';
      take(opening.length, opening);
    } else if (rest.startsWith('(?')) take(...group(rest, syntax, refuse));
    else take(1, next === '.' && syntax === 'ecma' ? noLineEnd : next);
  }
  return written;
};

type Refuse = (part: string, why: string) => never;
/** The number of characters that were read, and their translation. */
type Taken = readonly [number, string];

const group = (rest: string, syntax: Syntax, refuse: Refuse): Taken => {
  const [look] = /^\(\?<?[=!]/.exec(rest) ?? [];
  if (look) return refuse(look, 'looks around, which takes more than linear time');
  if (rest.startsWith('(?:')) return [3, '(?:'];
  const [name] = /^\(\?<\w+>/.exec(rest) ?? [];
  if (name) return [name.length, `(?P${name.slice(2)}`];
  const [own] = /^\(\?(?:P<\w+>|[ims]+(?:-[ims]+)?[:)]|-[ims]+[:)])/.exec(rest) ?? [];
  if (own && syntax === 're2') return [own.length, own];
  return refuse(rest.slice(0, 4), 'begins no group that is known');
};

/** [:alpha:] within a class: a named class in RE2, a list of letters in ECMA 262. */
const namedClass = (rest: string, syntax: Syntax, refuse: Refuse): Taken => {
  const [named] = /^\[:\^?\w+:\]/.exec(rest) ?? [];
  if (named === undefined) return [1, '\\['];
  return syntax === 're2' ? [named.length, named] : refuse(named, 'is no class of ECMA 262');
};

const escapeSequence = (rest: string, { inClass, syntax }: Place, refuse: Refuse): Taken => {
  const letter = rest.charAt(1);
  if (letter === '') return refuse('\\', 'escapes nothing');
  if (alike.has(letter)) return [2, `\\${letter}`];
  if (letter === 'v') return [2, '\\x{b}'];
  if (letter === 's') return [2, inClass ? space : `[${space}]`];
  if (letter === 'S') return [2, inClass ? noSpace : `[${noSpace}]`];
  if (letter === 'b' && inClass) return [2, '\\x{8}'];
  if ('bB'.includes(letter) && !inClass) return [2, `\\${letter}`];
  if (letter === 'p' || letter === 'P') return property(rest, syntax, refuse);
  if ('xuc0'.includes(letter)) return character(rest, syntax, refuse);
  if (/[1-9k]/.test(letter)) return refuse(`\\${letter}`, 'refers back, which takes more than linear time');
  if ('Az'.includes(letter) && syntax === 're2' && !inClass) return [2, `\\${letter}`];
  if (letter === '_' || letter === ' ') return [2, letter];
  if (/^[!-/:-@[-`{-~]$/.test(letter)) return [2, `\\${letter}`];
  return refuse(`\\${letter}`, 'is no escape that is known');
};

const character = (rest: string, syntax: Syntax, refuse: Refuse): Taken => {
  const pair = /^\\u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})/i.exec(rest);
  if (pair)
    return [
      12,
      codePoint(0x10000 + ((parseInt(pair[1] ?? '', 16) & 0x3ff) << 10) + (parseInt(pair[2] ?? '', 16) & 0x3ff)),
    ];
  const [hexadecimal, two, four, any] = /^\\(?:x([\da-f]{2})|u([\da-f]{4})|u\{0*([\da-f]{1,6})\})/i.exec(rest) ?? [];
  const code = parseInt(two ?? four ?? any ?? '', 16);
  if (hexadecimal !== undefined && code <= 0x10ffff) return [hexadecimal.length, codePoint(code)];
  const [control, letter = ''] = /^\\c([a-z])/i.exec(rest) ?? [];
  if (control !== undefined) return [3, codePoint(letter.charCodeAt(0) % 32)];
  if (/^\\0(?!\d)/.test(rest)) return [2, codePoint(0)];
  const [own] = /^\\x\{[\da-f]{1,6}\}/i.exec(rest) ?? [];
  if (own && syntax === 're2') return [own.length, own];
  return refuse(rest.slice(0, 2), 'names no character');
};

const codePoint = (code: number): string => `\\x{${code.toString(16)}}`;

/** A Unicode property. RE2 knows categories only by their short names, and scripts only without `Script=`. */
const property = (rest: string, syntax: Syntax, refuse: Refuse): Taken => {
  if (/^\\[pP][A-Z]/.test(rest) && syntax === 're2') return [3, rest.slice(0, 3)];
  const [all, letter, prefix, name] = /^\\([pP])\{(gc=|General_Category=|sc=|Script=)?(\w+)\}/.exec(rest) ?? [];
  if (all === undefined || letter === undefined || name === undefined)
    return refuse(rest.slice(0, 3), 'names no Unicode property that is known');
  const script = prefix === 'sc=' || prefix === 'Script=';
  return [all.length, `\\${letter}{${script ? name : (categories.get(name) ?? name)}}`];
};

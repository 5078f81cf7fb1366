import { isWellFormed, mark, step } from '@automation-platform/json';
import { RequestError } from './requestError.ts';

/** The deepest nesting of a body; `[]` is one level. */
const maxLevels = 64;

/** An array or object that is still open: the current index or member name, and an object's names so far. */
type Level = {
  readonly array: boolean;
  index: number;
  name: string;
  readonly names: string[];
  set: Set<string> | undefined;
};

const quote = 0x22,
  plus = 0x2b,
  comma = 0x2c,
  minus = 0x2d,
  point = 0x2e,
  zero = 0x30,
  nine = 0x39,
  backslash = 0x5c;
const openObject = 0x7b,
  closeObject = 0x7d,
  openArray = 0x5b,
  closeArray = 0x5d,
  lowerE = 0x65,
  lowerU = 0x75;

/**
 * Checks a text that `JSON.parse` has accepted. It throws `invalid`, with the JSON pointer of the place, for content
 * that parsing changes or that must not be trusted. That is: members that occur twice (also when one is written with
 * escapes), reserved names, more than `maxLevels` levels, integers beyond 2^53-1, numbers that become infinite, lone
 * surrogates. In the root's member that `exact` names (`*`: in all), integers may have any size that Python reads. The check reads
 * the text once; its stack does not grow.
 */
export const checkJson = (text: string, exact?: string): void => {
  // Most texts have neither backslashes nor lone surrogates. Then each string ends at the next quote.
  const plain = !text.includes('\\') && isWellFormed(text);
  const levels: Level[] = [];
  let top: Level | undefined;
  let nameNext = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === quote) {
      const end = plain ? text.indexOf('"', i + 1) : stringEnd(text, i);
      const named = nameNext ? top : undefined;
      if (named) named.name = '';
      if (end < 0) refuse(levels, named ? 'A name has a lone surrogate' : 'The text has a lone surrogate');
      if (named) addName(levels, named, plain ? text.slice(i, end) : unescaped(text, i, end));
      nameNext = false;
      i = end;
    } else if (c === comma) {
      if (top?.array) top.index++;
      else nameNext = true;
    } else if (c === openObject || c === openArray) {
      if (levels.length === maxLevels) refuse(levels, `Nesting is limited to ${maxLevels} levels`);
      nameNext = c === openObject;
      top = { array: c === openArray, index: 0, name: '', names: [], set: undefined };
      levels.push(top);
    } else if (c === closeObject || c === closeArray) {
      nameNext = false;
      levels.pop();
      top = levels[levels.length - 1];
    } else if (c === minus || (c >= zero && c <= nine)) {
      const end = numberEnd(text, i);
      if (exact !== undefined && (exact === '*' || levels[0]?.name === `"${exact}`))
        checkExactNumber(levels, text.slice(i, end));
      else checkNumber(levels, text, i, end);
      i = end - 1;
    }
  }
};

/**
 * Why a value that was made inside must not be stored: a body could not bring it, so nobody could give it back. `text` is
 * its JSON text. Undefined if there is no reason.
 */
export const unsoundIn = (text: string): string | undefined => {
  try {
    checkJson(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    const at = error.faults[0]?.path;
    return at ? `${error.message} (at ${at})` : error.message;
  }
};

const refuse = (levels: readonly Level[], message: string): never => {
  throw new RequestError('invalid', message, {
    path: levels.map(({ array, index, name }) => (array ? step(index) : name && step(name.slice(1)))).join(''),
  });
};

/** Stands in an event for a member that another part of the same event has, too. No request can contain the name. */
export const sameMark = '$same';

/**
 * `__proto__`, and the names by which the log marks sealed secrets, payloads stored elsewhere, exact JSON, and members
 * that are stored once. No caller may forge these.
 */
const reservedNames = ['__proto__', '$sealed', '$payload', mark, sameMark];
const reserved = new Set(reservedNames.map((name) => `"${name}`));

/** True if no member of a caller's JSON may have the name. */
export const isReservedName = (name: string): boolean => reservedNames.includes(name);

/**
 * Adds a member's name, with its opening quote. Without the quote, V8 would hash names that look like numbers without a
 * seed.
 */
const addName = (levels: readonly Level[], level: Level, name: string): void => {
  level.name = name;
  if (reserved.has(name)) refuse(levels, `A member must not be called ${name.slice(1)}`);
  const { names, set } = level;
  if (set ? set.has(name) : names.includes(name)) refuse(levels, 'The member occurs twice');
  if (set) set.add(name);
  else if (names.push(name) > 8) level.set = new Set(names);
};

const unescaped = (text: string, start: number, end: number): string => {
  const name = text.slice(start, end);
  return name.includes('\\') ? `"${JSON.parse(`${name}"`) as string}` : name;
};

/** Index of the closing quote of the string that opens at `start`; -1 if the string has a lone surrogate. */
const stringEnd = (text: string, start: number): number => {
  let high = false;
  for (let i = start + 1; ; i++) {
    let c = text.charCodeAt(i);
    if (c === quote) return high ? -1 : i;
    if (c === backslash) {
      c = text.charCodeAt(++i);
      if (c === lowerU) {
        c = Number.parseInt(text.slice(i + 1, i + 5), 16);
        i += 4;
      }
    }
    if (high !== ((c & 0xfc00) === 0xdc00)) return -1;
    high = (c & 0xfc00) === 0xd800;
  }
};

const numberEnd = (text: string, start: number): number => {
  for (let i = start + 1; ; i++) {
    const c = text.charCodeAt(i);
    if (!((c >= zero && c <= nine) || c === point || (c | 0x20) === lowerE || c === plus || c === minus)) return i;
  }
};

const checkNumber = (levels: readonly Level[], text: string, start: number, end: number): void => {
  // The shortest number that can be too large has 4 characters (1e16) or 16 digits.
  if (end - start < 4) return;
  const written = text.slice(start, end);
  const value = Number(written);
  if (!Number.isFinite(value)) refuse(levels, 'The number is too large');
  // JavaScript would change an integer beyond 2^53-1. A number below 1e21 is refused even with an exponent:
  // `JSON.stringify` writes it as plain digits, so a client that sends it back would be refused. From 1e21 on
  // `JSON.stringify` writes an exponent.
  if (Math.abs(value) > Number.MAX_SAFE_INTEGER && (Math.abs(value) < 1e21 || /^-?\d+$/.test(written)))
    refuse(levels, 'The integer is beyond 2^53-1');
};

// The limit of Python as well.
const mostDigits = 4300;

const checkExactNumber = (levels: readonly Level[], written: string): void => {
  if (/[.eE]/.test(written)) {
    if (!Number.isFinite(Number(written))) refuse(levels, 'The number is too large');
  } else if (written.length > mostDigits + (written.startsWith('-') ? 1 : 0))
    refuse(levels, `An integer may have ${mostDigits} digits`);
};

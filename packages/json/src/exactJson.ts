import { isObject, type Members } from './members.ts';

/**
 * Keeps JSON exactly as Python reads it, within values that JavaScript can hold. Python keeps integers of any size,
 * distinguishes `1.0` from `1` and keeps the order of members. `JSON.parse` does not. Where the two differ, a value is
 * marked:
 * - a number that JavaScript would write differently becomes `{"$exact": "1.0"}`;
 * - an object whose members JavaScript would reorder gets one more member with their names in order, `"$exact": [...]`.
 * Marked values are plain JSON. So events can store them, and secrets in them keep their member names. Request bodies
 * cannot contain marks.
 */
export const mark = '$exact';

/** The form of a number in JSON. */
export const numeral = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The written form of a marked number; undefined for any other value. */
export const exactNumber = (value: unknown): string | undefined => {
  if (!isObject(value) || Object.keys(value).length !== 1) return undefined;
  const written = value[mark];
  return typeof written === 'string' && numeral.test(written) ? written : undefined;
};

/** The members of an object in their original order, without the mark. */
export const exactEntries = (value: Members): readonly (readonly [string, unknown])[] => {
  const order = value[mark];
  if (!Array.isArray(order)) return Object.entries(value);
  const names = new Set<unknown>(order);
  const members = Object.keys(value).filter((name) => name !== mark);
  const isOrder =
    names.size === members.length && order.length === members.length && members.every((name) => names.has(name));
  return isOrder ? order.map((name: string) => [name, value[name]]) : Object.entries(value);
};

/**
 * Places that may need a mark: numbers with a point or an exponent, minus zero, integers of 16 digits, and names that
 * JavaScript may take for an index. Within strings they are found for nothing.
 */
const places =
  /[:[,]\s*(-?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+))|[:[,]\s*-0(?![.\d])|[:[,]\s*-?\d{16}|"\d+"\s*:|\\u003\d/g;

/** True if `JSON.parse` keeps all of the text of an object or array; false if that is not sure. */
export const isKept = (text: string): boolean => {
  for (const [, number] of text.matchAll(places))
    if (number === undefined || JSON.stringify(Number(number)) !== number) return false;
  return true;
};

/** Parses valid JSON text into a value with marks. */
export const exactValue = (text: string): unknown =>
  /^\s*[[{]/.test(text) && isKept(text) ? (JSON.parse(text) as unknown) : marked(text);

/** The JSON text of a value with marks. */
export const exactText = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text?.includes(`"${mark}"`) ? written(value) : text;
};

/** The value without marks, as `JSON.parse` reads it. */
export const plainValue = (value: unknown): unknown => {
  const number = exactNumber(value);
  if (number !== undefined) return Number(number);
  if (Array.isArray(value)) return value.map(plainValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(exactEntries(value).map(([name, member]) => [name, plainValue(member)]));
};

/** The value without the marks of the order of members. The marks of numbers stay. */
export const withoutOrder = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutOrder);
  if (!isObject(value) || exactNumber(value) !== undefined) return value;
  return Object.fromEntries(exactEntries(value).map(([name, member]) => [name, withoutOrder(member)]));
};

const written = (value: unknown): string => {
  const number = exactNumber(value);
  if (number !== undefined) return number;
  if (Array.isArray(value)) return `[${value.map((item) => written(item ?? null)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = exactEntries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${written(member)}`).join(',')}}`;
};

const quote = '"';

/** Parses text that is known to be valid JSON, so it checks nothing. */
const marked = (text: string): unknown => {
  let at = 0;
  const skipSpace = (): void => {
    while (text.charCodeAt(at) <= 0x20) at++;
  };

  const string = (): string => {
    let end = at;
    do end = text.indexOf(quote, end + 1);
    while (isEscaped(text, end));
    const read = JSON.parse(text.slice(at, end + 1)) as string;
    at = end + 1;
    return read;
  };

  const scalar = (): unknown => {
    const from = at;
    while (at < text.length && !/[\s,\]}]/.test(text.charAt(at))) at++;
    const sourceText = text.slice(from, at);
    const read: unknown = JSON.parse(sourceText);
    return typeof read === 'number' && JSON.stringify(read) !== sourceText ? { [mark]: sourceText } : read;
  };

  /** Reads items up to the closing bracket. */
  const items = (close: string, item: () => void): void => {
    at++;
    skipSpace();
    while (text[at] !== close) {
      item();
      skipSpace();
      if (text[at] === ',') at++;
      skipSpace();
    }
    at++;
  };

  const value = (): unknown => {
    skipSpace();
    if (text[at] === quote) return string();
    if (text[at] === '[') {
      const read: unknown[] = [];
      items(']', () => read.push(value()));
      return read;
    }
    if (text[at] !== '{') return scalar();
    const members: [string, unknown][] = [];
    items('}', () => {
      const name = string();
      skipSpace();
      at++;
      members.push([name, value()]);
    });
    return inOrder(members);
  };
  return value();
};

/** True if an odd number of backslashes stands before the quote. */
const isEscaped = (text: string, at: number): boolean => {
  let from = at;
  while (text[from - 1] === '\\') from--;
  return (at - from) % 2 === 1;
};

/** The object with these members, with a mark if JavaScript would reorder them. */
export const inOrder = (members: readonly (readonly [string, unknown])[]): Members => {
  const read = Object.fromEntries(members);
  const names = members.map(([name]) => name);
  const isInOrder = Object.keys(read).every((name, i) => name === names[i]);
  return isInOrder ? read : { ...read, [mark]: names };
};

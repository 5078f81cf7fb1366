/**
 * Node 24 and later misread names of members: once an object had the name `\`, `{"\n": 1}` is read as `{"\\": 1}`
 * (https://github.com/nodejs/node/issues/63785). Events and bodies must not change while they are read. So on such a
 * Node this module replaces `JSON.parse`, for libraries too. Every program and thread imports this module first. The
 * reasons are in docs/decisions/json-parse.md.
 */
import { randomUUID } from 'node:crypto';

type Reviver = (this: unknown, key: string, value: unknown) => unknown;

const native = JSON.parse;

const quote = 0x22;
const backslash = 0x5c;

/** True if this process misreads names. Call it once only, because the test itself triggers the fault. */
const misreads = (): boolean => {
  native('{"a":1,"\\\\":2}');
  return Object.keys(native('{"a":1,"\\n":2}') as object)[1] !== '\n';
};

/** The index of the closing quote of the string that contains the backslash at `at`; -1 if the string does not end. */
const endOfString = (text: string, at: number): number => {
  // A backslash escapes the next character, so that character is skipped.
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) return i;
    if (code === backslash) i++;
  }
  return -1;
};

const isSpace = (character: string | undefined): boolean =>
  character === ' ' || character === '\n' || character === '\r' || character === '\t';

/**
 * The positions of names with escapes, in the order of the text: each from after its opening quote to its closing
 * quote.
 */
const escapedNames = (text: string): readonly (readonly [number, number])[] => {
  const found: (readonly [number, number])[] = [];
  for (let at = text.indexOf('\\'); at >= 0; ) {
    const end = endOfString(text, at);
    if (end < 0) break;
    let after = end + 1;
    while (isSpace(text[after])) after++;
    if (text[after] === ':') found.push([text.lastIndexOf('"', at) + 1, end]);
    at = text.indexOf('\\', end);
  }
  return found;
};

/** Restores the names of members in every object of the value, in place. */
const rename = (value: unknown, nameOf: ReadonlyMap<string, string>): void => {
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const members = Object.entries(next);
    waiting.push(...members.map(([, member]) => member));
    if (!members.some(([name]) => nameOf.has(name))) continue;
    for (const [name] of members) delete (next as Record<string, unknown>)[name];
    for (const [name, member] of members)
      Object.defineProperty(next, nameOf.get(name) ?? name, {
        value: member,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
};

/** Applies a reviver as the standard defines it: innermost values first; `undefined` removes a member. */
const revived = (holder: object, key: string, reviver: Reviver): unknown => {
  const value: unknown = Reflect.get(holder, key);
  if (typeof value === 'object' && value !== null) {
    for (const name of Object.keys(value)) {
      const member = revived(value, name, reviver);
      if (member === undefined) Reflect.deleteProperty(value, name);
      else Object.defineProperty(value, name, { value: member, enumerable: true, configurable: true, writable: true });
    }
  }
  return reviver.call(holder, key, value);
};

/**
 * `JSON.parse` that reads every name correctly on any Node. It replaces names with escapes by names without, parses
 * that text, and restores the names.
 */
export const soundParse = (text: string, reviver?: Reviver): unknown => {
  const jsonText = String(text);
  const names = jsonText.includes('\\') ? escapedNames(jsonText) : [];
  if (names.length === 0) return native(jsonText, reviver);
  // Throws here if the text is not JSON.
  native(jsonText);

  // Nobody can guess the prefix, so no text contains it.
  const prefix = randomUUID();
  const substitutes = new Map<string, string>();
  const parts: string[] = [];
  let copied = 0;
  for (const [from, to] of names) {
    const name = native(`"${jsonText.slice(from, to)}"`) as string;
    // A name that needs no escape may also occur without one, so both must become the same name.
    const needsEscape = JSON.stringify(name) !== `"${name}"`;
    if (needsEscape && !substitutes.has(name)) substitutes.set(name, `${prefix}-${substitutes.size}`);
    // A name that needs an escape has its substitute from the line above.
    parts.push(jsonText.slice(copied, from), needsEscape ? substitutes.get(name)! : name);
    copied = to;
  }
  const value: unknown = native(parts.join('') + jsonText.slice(copied));
  rename(value, new Map([...substitutes].map(([name, substitute]) => [substitute, name])));
  return reviver ? revived({ '': value }, '', reviver) : value;
};

if (misreads()) JSON.parse = soundParse as typeof JSON.parse;

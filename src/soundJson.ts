/**
 * Node 24 and later misread names of members: once an object had the name `\`, `{"\n": 1}` is read as `{"\\": 1}`
 * (https://github.com/nodejs/node/issues/63785). An event or a body must not change while it is read, so on such a Node
 * `JSON.parse` is replaced, for libraries too. Every program and thread imports this module first.
 * The reasons are in docs/decisions/json-parse.md.
 */
import { randomUUID } from 'node:crypto';

type Reviver = (this: unknown, key: string, value: unknown) => unknown;

const native = JSON.parse;

const quote = 0x22;
const backslash = 0x5c;

/** Whether this process misreads names. Asked once: asking is what brings the fault about. */
const misreads = (): boolean => {
  native('{"a":1,"\\\\":2}');
  return Object.keys(native('{"a":1,"\\n":2}') as object)[1] !== '\n';
};

/** Where the string ends that the backslash at `at` is in: the index of its closing quote, -1 without one. */
const endOfString = (text: string, at: number): number => {
  // A backslash takes the character after it along.
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === quote) return i;
    if (code === backslash) i++;
  }
  return -1;
};

const isSpace = (character: string | undefined): boolean =>
  character === ' ' || character === '\n' || character === '\r' || character === '\t';

/** Where strings with escapes that are names begin (after their opening quote) and end, in the order of the text. */
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

/** Gives the members of every object in the value their names back, in place. */
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

/** As the standard has it: the innermost values first, `undefined` takes a member away. */
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
 * `JSON.parse` that reads every name right on any Node: where names have escapes, names without any take their places
 * while the text is read again.
 */
export const soundParse = (text: string, reviver?: Reviver): unknown => {
  const given = String(text);
  const names = given.includes('\\') ? escapedNames(given) : [];
  if (names.length === 0) return native(given, reviver);
  // What is not JSON ends here.
  native(given);

  // Nobody can guess it, so no text has it.
  const prefix = randomUUID();
  const substitutes = new Map<string, string>();
  const parts: string[] = [];
  let copied = 0;
  for (const [from, to] of names) {
    const name = native(`"${given.slice(from, to)}"`) as string;
    // A name may stand in the text both with and without an escape that it does not need.
    const needsEscape = JSON.stringify(name) !== `"${name}"`;
    if (needsEscape && !substitutes.has(name)) substitutes.set(name, `${prefix}-${substitutes.size}`);
    // A name that needs an escape has got its substitute above.
    parts.push(given.slice(copied, from), needsEscape ? substitutes.get(name)! : name);
    copied = to;
  }
  const value: unknown = native(parts.join('') + given.slice(copied));
  rename(value, new Map([...substitutes].map(([name, substitute]) => [substitute, name])));
  return reviver ? revived({ '': value }, '', reviver) : value;
};

if (misreads()) JSON.parse = soundParse as typeof JSON.parse;

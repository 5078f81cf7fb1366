import { cut } from '@automation-platform/json';
import jsonata from 'jsonata';
import { RE2JS } from 're2js';
import { unsoundIn } from '../../domain/engine/strictJson.ts';

const flagsOf = ({ ignoreCase, multiline, dotAll }: RegExp): number =>
  (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (multiline ? RE2JS.MULTILINE : 0) | (dotAll ? RE2JS.DOTALL : 0);

const compiled = new WeakMap<RegExp, RE2JS>();

/** A regular expression that is matched in linear time. JSONata uses no other methods than `exec`. */
class LinearRegExp extends RegExp {
  override exec(text: string): RegExpExecArray | null {
    let expression = compiled.get(this);
    if (!expression) {
      expression = RE2JS.compile(RE2JS.translateRegExp(this.source), flagsOf(this));
      compiled.set(this, expression);
    }
    const matcher = expression.matcher(text);
    if (this.lastIndex > text.length || !matcher.find(this.lastIndex)) {
      this.lastIndex = 0;
      return null;
    }
    this.lastIndex = matcher.end();
    const [whole = '', ...groups] = Array.from(
      { length: matcher.groupCount() + 1 },
      // The types of RegExp say that groups are texts. One that took no part is undefined.
      (_, i) => (matcher.group(i) ?? undefined) as string,
    );
    return Object.assign([whole, ...groups] as [string, ...string[]], { index: matcher.start(), input: text });
  }
}

/** The bytes of a result as JSON. */
const mostBytes = 512 * 1024;
const mostLevels = 64;

/** An expression for the engine to evaluate. */
export type Expression = { readonly expression: string; readonly input: unknown };

/** `json`: the result as JSON text. */
export type Evaluated = { readonly json: string } | { readonly reason: string };

/** Why the result cannot be used. */
class Unfit extends Error {}

/** The text that `$eval` evaluates was not checked when it was saved. The same run must have the same outcome each time. */
const unbound = ['eval', 'random', 'shuffle', 'now', 'millis'];

/** Evaluates a JSONata expression. Time and memory are limited by whoever runs this process. */
export const evaluate = async ({ expression, input }: Expression): Promise<Evaluated> => {
  try {
    const compiled = jsonata(expression, { RegexEngine: LinearRegExp as RegExpConstructor });
    for (const name of unbound) compiled.assign(name, undefined);
    compiled.registerFunction('toMillis', await toMillis(), '<s-s?:n>');
    const result: unknown = await compiled.evaluate(input);
    if (result === undefined) return { reason: 'The expression has no result' };
    refuseUnfit(result, 0);
    const json = JSON.stringify(result);
    const unsound = unsoundIn(json);
    if (unsound !== undefined) return { reason: `The result cannot be stored: ${unsound}` };
    if (Buffer.byteLength(json) > mostBytes) return { reason: `The result has more than ${mostBytes} bytes` };
    return { json };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
};

type Native = { readonly implementation: (this: unknown, ...args: unknown[]) => unknown };

/** JSONata's `$toMillis`, without the day on which it is asked: a picture must say the date. */
const toMillis = async (): Promise<Native['implementation']> => {
  const { implementation } = (await jsonata('$toMillis').evaluate(undefined)) as Native;
  const today = new Proxy({}, { get: () => failsWith('A time must have its date: there is no present day') });
  return (...args) => implementation.call({ environment: { timestamp: today } }, ...args);
};

const failsWith = (message: string): never => {
  throw new Unfit(message);
};

/** Throws for values that JSON has not, such as functions and values within themselves. */
const refuseUnfit = (value: unknown, level: number): void => {
  if (typeof value === 'function' || isFunction(value)) throw new Unfit('The result holds a function');
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Unfit('The result holds a number without end');
  if (typeof value !== 'object' || value === null) return;
  if (level === mostLevels) throw new Unfit(`The result is nested deeper than ${mostLevels} levels`);
  for (const member of Object.values(value)) refuseUnfit(member, level + 1);
};

/** JSONata marks its own functions so. */
const isFunction = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('_jsonata_function' in value || '_jsonata_lambda' in value);

const mostCharacters = 300;

/** A thrown value is an error or JSONata's own object with message and position. */
const reasonOf = (error: unknown): string => {
  if (error instanceof RangeError) return 'The expression, or a value in it, is nested too deeply or too large';
  const { message, position } = error as { readonly message?: unknown; readonly position?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : 'The expression fails';
  const where = typeof position === 'number' ? ` at character ${position}` : '';
  return cut(text, mostCharacters) + where;
};

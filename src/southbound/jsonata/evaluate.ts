import jsonata from 'jsonata';
import { LinearRegExp } from './regex.ts';

/** The bytes of a result as JSON. */
const mostBytes = 512 * 1024;
const mostLevels = 64;

/** An expression for the engine to evaluate. */
export type Expression = { readonly expression: string; readonly input: unknown };

/** `json`: the result as JSON text. */
export type Evaluated = { readonly json: string } | { readonly reason: string };

/** Why the result cannot be used. */
class Unfit extends Error {}

/**
 * Evaluates a JSONata expression. Time and memory are limited by whoever runs this process. `$eval` is unbound because
 * what it evaluates was not checked when it was saved, `$random` because the same run must have the same outcome.
 */
export const evaluate = async ({ expression, input }: Expression): Promise<Evaluated> => {
  try {
    const compiled = jsonata(expression, { RegexEngine: LinearRegExp as RegExpConstructor });
    compiled.assign('eval', undefined);
    compiled.assign('random', undefined);
    const result: unknown = await compiled.evaluate(input);
    if (result === undefined) return { reason: 'The expression has no result' };
    refuseUnfit(result, 0);
    const json = JSON.stringify(result);
    if (Buffer.byteLength(json) > mostBytes) return { reason: `The result has more than ${mostBytes} bytes` };
    return { json };
  } catch (error) {
    return { reason: reasonOf(error) };
  }
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

/** What is thrown is an error or JSONata's own object with message and position. */
const reasonOf = (error: unknown): string => {
  if (error instanceof RangeError) return 'The expression, or a value in it, is nested too deeply or too large';
  const { message, position } = error as { readonly message?: unknown; readonly position?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : 'The expression fails';
  const where = typeof position === 'number' ? ` at character ${position}` : '';
  return `${text.length > mostCharacters ? `${text.slice(0, mostCharacters)}...` : text}${where}`;
};

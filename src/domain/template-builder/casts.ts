import { numeral } from '@automation-platform/json';
import { Type } from 'typebox';
import { RequestError } from '../engine/requestError.ts';

/** The types to which `renderJinja2TemplateWithCast` casts a rendered text. */
export const castSchema = Type.Enum(['boolean', 'object', 'number', 'string'], {
  default: 'string',
  description: 'Type of the answer',
});
export type Cast = 'boolean' | 'object' | 'number' | 'string';

/**
 * The JSON text of the value, for each type; undefined if the text is no such value. White space around the text is
 * ignored, except for `string`.
 */
const casts: Readonly<Record<Cast, (text: string) => string | undefined>> = {
  string: (text) => JSON.stringify(text),
  number: (text) => (numeral.test(text.trim()) && Number.isFinite(Number(text)) ? text.trim() : undefined),
  boolean: (text) => /^\s*(true|false)\s*$/i.exec(text)?.[1]?.toLowerCase(),
  object: (text) => (/^\s*[[{]/.test(text) && isJson(text) ? text.trim() : undefined),
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const shownCharacters = 200;

/**
 * Casts a rendered text to JSON text of the type. Numbers and objects keep every digit. Throws `unprocessable` with the
 * first 200 characters if the text is no such value.
 */
export const cast = (rendered: string, type: Cast): string => {
  const value = casts[type](rendered);
  if (value !== undefined) return value;
  const beginning = Array.from(rendered.slice(0, 2 * shownCharacters))
    .slice(0, shownCharacters)
    .join('');
  throw new RequestError('unprocessable', `The rendered text is no ${type}: ${beginning}`, {
    faults: [{ message: `The rendered text is no ${type}`, path: '/castDataType', rendered: beginning }],
  });
};

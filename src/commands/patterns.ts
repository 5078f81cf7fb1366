import { RE2JS } from 're2js';
import { Refusal } from '../domain/refusal.ts';

const mostCharacters = 1000;
const mostInAll = 8192;
const mostInstructions = 2000;

/** A regular expression; a search in n characters takes at most n times `instructions` steps. */
export type Pattern = { readonly expression: RE2JS; readonly instructions: number };

/**
 * The regular expressions of one schema, matched by RE2. `add` throws `invalid` for what RE2 cannot do and for what is
 * too large; `get` gives one that was added.
 */
export const linearPatterns = (flags = 0): { readonly add: (text: string) => void; readonly get: (text: string) => Pattern } => {
  const known = new Map<string, Pattern>();
  let characters = 0;
  return {
    add: (text) => {
      if (known.has(text)) return;
      characters += text.length;
      if (text.length > mostCharacters || characters > mostInAll) throw new Refusal('invalid', `A pattern may have ${mostCharacters} characters, all of them ${mostInAll}`);
      const expression = compiled(text, flags);
      const instructions = expression.programSize();
      if (instructions > mostInstructions) throw new Refusal('invalid', `The pattern ${JSON.stringify(text)} is too large`);
      known.set(text, { expression, instructions });
    },
    get: (text) => known.get(text)!,
  };
};

/** One regular expression by itself; throws `invalid` for what RE2 cannot do and for what is too large. */
export const linearPattern = (text: string, { ignoreCase = false, multiline = false, dotAll = false }): Pattern => {
  const patterns = linearPatterns((ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (multiline ? RE2JS.MULTILINE : 0) | (dotAll ? RE2JS.DOTALL : 0));
  patterns.add(text);
  return patterns.get(text);
};

const compiled = (text: string, flags: number): RE2JS => {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(text), flags);
  } catch (error) {
    throw new Refusal('invalid', `The pattern ${JSON.stringify(text)} cannot be matched in linear time, or is none: ${(error as Error).message}`);
  }
};

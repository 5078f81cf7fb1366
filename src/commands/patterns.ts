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
export const linearPatterns = (): { readonly add: (text: string) => void; readonly get: (text: string) => Pattern } => {
  const known = new Map<string, Pattern>();
  let characters = 0;
  return {
    add: (text) => {
      if (known.has(text)) return;
      characters += text.length;
      if (text.length > mostCharacters || characters > mostInAll) throw new Refusal('invalid', `A pattern may have ${mostCharacters} characters, all of them ${mostInAll}`);
      const expression = compiled(text);
      const instructions = expression.programSize();
      if (instructions > mostInstructions) throw new Refusal('invalid', `The pattern ${JSON.stringify(text)} is too large`);
      known.set(text, { expression, instructions });
    },
    get: (text) => known.get(text)!,
  };
};

const compiled = (text: string): RE2JS => {
  try {
    return RE2JS.compile(RE2JS.translateRegExp(text));
  } catch (error) {
    throw new Refusal('invalid', `The pattern ${JSON.stringify(text)} cannot be matched in linear time, or is none: ${(error as Error).message}`);
  }
};

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
      if (instructions > mostInstructions) throw tooLarge(text);
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

const tooLarge = (text: string): Refusal => new Refusal('invalid', `The pattern ${JSON.stringify(text)} is too large`);

// What a pattern consists of: an escape or class, the beginning of a group, a repetition, any other character.
const parts = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[a-z-]*:|P?<\w*>))?|\{(\d+)(?:,(\d*))?\}|./gs;

/** About how many instructions a pattern will have, told from its text: to compile one takes as long as it is large. */
const sizeOf = (text: string): number => {
  const around: number[] = [];
  let [sum, last] = [0, 0];
  for (const [part, least, most] of text.matchAll(parts)) {
    if (part.startsWith('(')) {
      around.push(sum);
      sum = 0;
    } else if (part === ')') {
      last = sum;
      sum += around.pop() ?? 0;
    } else if (least !== undefined) {
      const times = Math.max(Number(least), Number(most ?? 0));
      sum += last * (times - 1);
      last *= times;
    } else {
      last = 1;
      sum += 1;
    }
  }
  return sum;
};

const compiled = (text: string, flags: number): RE2JS => {
  if (sizeOf(text) > 2 * mostInstructions) throw tooLarge(text);
  try {
    return RE2JS.compile(RE2JS.translateRegExp(text), flags);
  } catch (error) {
    throw new Refusal('invalid', `The pattern ${JSON.stringify(text)} cannot be matched in linear time, or is none: ${(error as Error).message}`);
  }
};

import { RE2JS } from 're2js';
import { inRe2, type Syntax } from './ecmaPatterns.ts';
import { SchemaError } from './schemaError.ts';

const mostCharacters = 1000;
const mostInAll = 8192;
const mostInstructions = 2000;
const mostInstructionsInAll = 32_768;

/** A regular expression. A search in n characters takes at most n times `instructions` steps. */
export type Pattern = { readonly expression: RE2JS; readonly instructions: number };

/** `instructions`: of all patterns so far. Each takes about 100 bytes. */
export type Patterns = { readonly get: (text: string) => Pattern; readonly instructions: () => number };

/**
 * The regular expressions of one schema, for RE2. `get` throws `SchemaError` for a pattern that RE2 cannot match, and for
 * one that is too large.
 */
export const linearPatterns = (syntax: Syntax = 'ecma', flags = 0): Patterns => {
  const patternCache = new Map<string, Pattern>();
  let characters = 0;
  let all = 0;
  const added = (text: string): Pattern => {
    characters += text.length;
    if (text.length > mostCharacters || characters > mostInAll)
      throw new SchemaError(`A pattern may have ${mostCharacters} characters, all of them ${mostInAll}`);
    const expression = compiled(text, syntax, flags);
    const instructions = expression.programSize();
    all += instructions;
    if (instructions > mostInstructions) throw tooLarge(text);
    if (all > mostInstructionsInAll)
      throw new SchemaError('The patterns are too large together: repetitions count as often as they say');
    const pattern = { expression, instructions };
    patternCache.set(text, pattern);
    return pattern;
  };
  return { get: (text) => patternCache.get(text) ?? added(text), instructions: () => all };
};

/**
 * A single regular expression; the syntax of RE2 is allowed, too. Throws `SchemaError` for a pattern that RE2 cannot match,
 * and for one that is too large.
 */
export const linearPattern = (text: string, { ignoreCase = false, multiline = false, dotAll = false }): Pattern => {
  const flags =
    (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0) | (multiline ? RE2JS.MULTILINE : 0) | (dotAll ? RE2JS.DOTALL : 0);
  return linearPatterns('re2', flags).get(text);
};

const tooLarge = (text: string): SchemaError => new SchemaError(`The pattern ${JSON.stringify(text)} is too large`);

// The parts of a pattern: an escape or class, the beginning of a group, a repetition, any other character.
const parts = /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[a-z-]*:|P?<\w*>))?|\{(\d+)(?:,(\d*))?\}|./gs;

/**
 * Estimates the number of instructions from the pattern's text. A pattern that is too large must not even be compiled:
 * that takes too long.
 */
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

const compiled = (text: string, syntax: Syntax, flags: number): RE2JS => {
  const written = inRe2(text, syntax);
  if (sizeOf(written) > 2 * mostInstructions) throw tooLarge(text);
  try {
    return RE2JS.compile(written, flags);
  } catch (error) {
    throw new SchemaError(
      `The pattern ${JSON.stringify(text)} is none, or cannot be matched in linear time: ${(error as Error).message}`,
    );
  }
};

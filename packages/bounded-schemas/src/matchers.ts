import { plainValue } from '@automation-platform/json';
import { LRUCache } from 'lru-cache';
import { linearPattern, type Pattern } from './patterns.ts';
import { SchemaError } from './schemaError.ts';
import { compileUserSchema } from './userSchema.ts';

/** Throws an error of the caller's for what cannot be used, or takes too long. */
type Refuse = (reason: string) => never;

/** Told about work before it is done; it may throw. */
type Spend = (steps: number) => void;

// In steps of the matcher: about 20 ms at worst.
const mostPerMatch = 2_000_000;
/** The number of steps of the matcher that take as long as one of its caller, about. */
const perStep = 10;

/** Makes the function that says whether a pattern occurs in a text. It keeps the patterns of late. */
export const patternMatcher = (refuse: Refuse): ((pattern: string, within: string, spend?: Spend) => boolean) => {
  const patterns = new LRUCache<string, Pattern>({ max: 500 });
  const usable = (text: string): Pattern => {
    try {
      return linearPattern(text, {});
    } catch (error) {
      throw error instanceof SchemaError ? refuse(error.message) : error;
    }
  };
  return (text, within, spend) => {
    const pattern = patterns.get(text) ?? usable(text);
    patterns.set(text, pattern);
    const steps = (within.length + 1) * pattern.instructions;
    if (steps > mostPerMatch) refuse(`A text of ${within.length} characters is too long for the pattern`);
    spend?.(Math.ceil(steps / perStep));
    return pattern.expression.matcher(within).find();
  };
};

/** Makes the function that says whether a value fits a user's schema. */
export const schemaMatcher =
  (refuse: Refuse): ((schema: unknown, value: unknown) => boolean) =>
  (schema, value) => {
    const compiled = compileUserSchema(plainValue(schema));
    return compiled.ok
      ? compiled.matches(value).errors.length === 0
      : refuse(`The schema cannot be used: ${compiled.reason}`);
  };

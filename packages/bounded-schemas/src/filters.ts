import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { compileFilter, type UserSchema } from './userSchema.ts';

/** The compiled filters of triggers. */
export type Filters = {
  /** The filter by its schema; null lets all pass. Its faults have JSON pointers into the payload. */
  readonly of: (schema: unknown) => UserSchema;
  /** The same for a single look: it does not change which filters are kept. */
  readonly look: (schema: unknown) => UserSchema;
};

const all: UserSchema = { ok: true, matches: () => ({ valid: true, errors: [] }) };

const bytesOnAverage = 32 * 1024;

/**
 * Compiles filters when they are first asked for and keeps those that were used last: at most `most`, and fewer when
 * they are large. Equal schemas share one.
 */
export const filters = (most: number): Filters => {
  const mostBytes = most * bytesOnAverage;
  const compiled = new LRUCache<string, UserSchema>({ max: most, maxSize: mostBytes });
  // A schema is hashed once. Schemas that are folded from the log never change.
  const keys = new WeakMap<object, string>();

  const keyOf = (schema: unknown): string => {
    const isObject = typeof schema === 'object' && schema !== null;
    const schemaKey = isObject ? keys.get(schema) : undefined;
    const key = schemaKey ?? hash('sha256', JSON.stringify(schema), 'base64');
    if (isObject) keys.set(schema, key);
    return key;
  };

  return {
    of: (schema) => {
      if (schema === null) return all;
      const key = keyOf(schema);
      const compiledSchema = compiled.get(key);
      if (compiledSchema) return compiledSchema;
      const { filter, bytes } = compileFilter(schema);
      compiled.set(key, filter, { size: Math.min(bytes, mostBytes) });
      return filter;
    },
    look: (schema) => (schema === null ? all : (compiled.peek(keyOf(schema)) ?? compileFilter(schema).filter)),
  };
};

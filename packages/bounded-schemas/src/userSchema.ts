import { hash } from 'node:crypto';
import { isObject } from '@automation-platform/json';
import type { Ajv, Options, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { forBegun } from './begunValues.ts';
import { budgetOf, costMark, payFrom } from './budget.ts';
import { dialectOf, requireSchema, withItsFormats } from './dialects.ts';
import { faultsOf, type SchemaFault } from './faults.ts';
import { formats } from './formats.ts';
import { compareAsJson } from './jsonKeywords.ts';
import { linearPatterns, type Pattern, type Patterns } from './patterns.ts';
import { SchemaError } from './schemaError.ts';
import { type Parts, partsOf, rootPart } from './schemaParts.ts';
import { placesIn } from './schemaPlaces.ts';
import { addUnevaluated } from './unevaluated.ts';
import { toldApart } from './unions.ts';

/** True if a value fits. `errors` (at most 20) are computed only when they are read. */
type Match = { readonly valid: boolean; readonly errors: readonly SchemaFault[] };

/** A compiled schema of a user, or the reason why it cannot be compiled. */
export type UserSchema =
  | { readonly ok: true; readonly matches: (value: unknown) => Match }
  | { readonly ok: false; readonly reason: string };

const mostBytes = 64 * 1024;
const mostLevels = 32;
const mostSteps = 1_000_000;

/** `begun` values are still to be completed: they fit if a completion may fit (begunValues.ts). */
export type Values = 'whole' | 'begun';

const compiled = new LRUCache<string, UserSchema>({ max: 500 });

/**
 * Compiles a JSON Schema of a user: draft-07 or 2020-12 (README.md).
 * - The schema may have 64 KiB and 32 levels. References must stay within the document.
 * - Regular expressions are matched in linear time. Unknown keywords and formats are ignored.
 * - A check takes a bounded number of steps. Beyond that the value does not fit, and the error says so.
 */
export const compileUserSchema = (schema: unknown, values: Values = 'whole'): UserSchema => {
  const measured = measure(schema);
  if (!measured.ok) return measured;
  const key = `${values} ${measured.text}`;
  const compiledSchema = compiled.get(key) ?? attempt(measured.schema, usual(values));
  compiled.set(key, compiledSchema);
  return compiledSchema;
};

/** The faults of a value under the schema of a user; none if the schema cannot be used. */
export const findFaults = (schema: unknown, value: unknown): readonly SchemaFault[] => {
  const use = compileUserSchema(schema);
  return use.ok ? use.matches(value).errors : [];
};

// Measured: what a compiled schema takes, and how it grows.
const bytesAtLeast = 8 * 1024;
const bytesPerCharacter = 50;
const bytesPerInstruction = 100;

/**
 * Compiles the filter of a trigger; `bytes` is about what it takes of memory. It differs in two ways:
 * - A schema that says it is of 2020-12 does not check formats: in that standard they are annotations.
 * - It is small, and nothing is kept here (filters.ts).
 */
export const compileFilter = (schema: unknown): { readonly filter: UserSchema; readonly bytes: number } => {
  const measured = measure(schema);
  if (!measured.ok) return { filter: measured, bytes: bytesAtLeast };
  const patterns = linearPatterns();
  const filter = attempt(measured.schema, { values: 'whole', formats: 'ofDialect', details: 'madeAnew', patterns });
  const { length } = measured.text;
  return {
    filter,
    bytes: bytesAtLeast + length * bytesPerCharacter + patterns.instructions() * bytesPerInstruction,
  };
};

type Measured = { readonly ok: true; readonly schema: object | boolean; readonly text: string };

const measure = (schema: unknown): Measured | Extract<UserSchema, { ok: false }> => {
  if (typeof schema !== 'boolean' && !isObject(schema))
    return { ok: false, reason: 'A schema is an object or a boolean' };
  if (!hasAtMost(mostLevels, schema)) return { ok: false, reason: `A schema may have ${mostLevels} levels` };
  const text = JSON.stringify(schema);
  return Buffer.byteLength(text) > mostBytes
    ? { ok: false, reason: `A schema may have ${mostBytes} bytes` }
    : { ok: true, schema, text };
};

type Manner = {
  readonly values: Values;
  readonly formats: 'checked' | 'ofDialect';
  /** True if the check that finds all faults is kept once it is made. It takes as much memory as the quick one. */
  readonly details: 'kept' | 'madeAnew';
  readonly patterns: Patterns;
};

const usual = (values: Values): Manner => ({
  values,
  formats: 'checked',
  details: 'kept',
  patterns: linearPatterns(),
});

type SchemaFaultFound = { readonly schemaFault?: string };

// By the hash of a schema's text.
const found = new LRUCache<string, SchemaFaultFound>({ max: 500 });

/**
 * Why the schema of a request cannot be compiled; empty if it can, or if the request has no schema. Only the answer is
 * kept: most schemas that are saved are not used next, and must not take the place of those that are.
 */
export const schemaFaultOf = (schema: unknown): SchemaFaultFound => {
  if (schema === undefined) return {};
  const measured = measure(schema);
  if (!measured.ok) return { schemaFault: measured.reason };
  const key = hash('sha256', measured.text, 'base64');
  const cachedFault = found.get(key);
  if (cachedFault) return cachedFault;
  const compiledWhole = compiled.peek(`whole ${measured.text}`) ?? attempt(measured.schema, usual('whole'));
  const fault = compiledWhole.ok ? {} : { schemaFault: compiledWhole.reason };
  found.set(key, fault);
  return fault;
};

const attempt = (schema: object | boolean, manner: Manner): UserSchema => {
  try {
    return { ok: true, matches: compile(schema, manner) };
  } catch (error) {
    if (error instanceof SchemaError) return { ok: false, reason: error.message };
    throw error;
  }
};

const compile = (
  schema: object | boolean,
  { values, formats, details, patterns }: Manner,
): ((value: unknown) => Match) => {
  const dialect = dialectOf(typeof schema === 'object' && '$schema' in schema ? schema.$schema : undefined);
  requireSchema(schema, dialect);
  const places = placesIn(schema, dialect, (text, path) => {
    refuseAt(path, () => patterns.get(text));
  });
  const whole = partsOf(places, formats === 'checked' ? dialect : withItsFormats(dialect), costMark);
  const parts = values === 'begun' ? forBegun(whole) : whole;
  const quick = checked(parts, patterns.get, mostSteps);
  let detailed: typeof quick | undefined;
  const explained = (value: unknown): readonly SchemaFault[] | undefined => {
    const check = detailed ?? explaining(parts, patterns.get) ?? quick;
    if (details === 'kept') detailed = check;
    return check(value);
  };

  return (value) => {
    const first = quick(value);
    if (first?.length === 0) return { valid: true, errors: first };
    return {
      valid: false,
      get errors() {
        const all = first && explained(value);
        return all?.[0] ? all : (first ?? [{ path: '', message: 'is too large for this schema' }]);
      },
    };
  };
};

/**
 * Like `checked`, but it finds all faults. Undefined if the rewritten schema cannot be compiled, because it is nested
 * too deeply.
 */
const explaining = (parts: Parts, patternOf: (text: string) => Pattern) => {
  try {
    return checked(new Map([...parts].map(([name, part]) => [name, toldApart(part)])), patternOf, mostSteps / 4, {
      allErrors: true,
    });
  } catch (error) {
    if (error instanceof SchemaError) return undefined;
    throw error;
  }
};

/** Adds the place of the pattern to the error. */
const refuseAt = (path: string, read: () => unknown): void => {
  try {
    read();
  } catch (error) {
    throw error instanceof SchemaError ? new SchemaError(`${path}: ${error.message}`) : error;
  }
};

/** A check that returns the faults of a value; undefined if the steps did not suffice. */
const checked = (
  parts: Parts,
  patternOf: (text: string) => Pattern,
  steps: number,
  options: Options = {},
): ((value: unknown) => readonly SchemaFault[] | undefined) => {
  const { spend, within } = budgetOf();
  const fits = (text: string, pattern: string): boolean => {
    const { expression, instructions } = patternOf(pattern);
    spend(1 + (text.length * instructions) / 4);
    return expression.test(text);
  };
  const regExp = Object.assign(
    (pattern: string) => ({ test: (text: string) => fits(text, pattern), toString: () => pattern }),
    { code: 'RE2' },
  );
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    meta: false,
    logger: false,
    inlineRefs: false,
    // So the compiled check refers to no compiler, which takes ten times its memory.
    passContext: true,
    ownProperties: true,
    formats,
    code: { regExp, optimize: false },
    ...options,
  });
  // `addUnevaluated` replaces these keywords, so ajv need not track evaluated members.
  ajv.opts.unevaluated = false;
  payFrom(spend, ajv);
  compareAsJson(ajv, spend);
  addUnevaluated(ajv, { parts, spend, fits });
  const validate = compiledBy(ajv, parts);
  return (value) => within(steps, () => (validate(value) ? [] : faultsOf(validate.errors ?? [])));
};

const compiledBy = (ajv: Ajv, parts: Parts): ValidateFunction => {
  try {
    for (const [name, part] of parts) ajv.addSchema(part, name);
    return ajv.compile({ $ref: rootPart });
  } catch (error) {
    throw new SchemaError(
      error instanceof RangeError
        ? 'The schema is nested too deeply'
        : `The schema cannot be compiled: ${(error as Error).message}`,
    );
  }
};

const hasAtMost = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((member) => hasAtMost(levels - 1, member)));

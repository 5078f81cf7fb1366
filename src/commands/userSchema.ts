import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LRUCache } from 'lru-cache';
import { Refusal } from '../domain/refusal.ts';
import { budgetOf, costMark, payFrom } from './budget.ts';
import { faultsOf, type SchemaFault } from './faults.ts';
import { formats } from './formats.ts';
import { linearPatterns, type Pattern } from './patterns.ts';
import { schemaCopy } from './schemaCopy.ts';
import { toldApart } from './unions.ts';

/** Whether a value fits; `errors` (at most 20) are worked out when asked for. */
export type Match = { readonly valid: boolean; readonly errors: readonly SchemaFault[] };

/** A schema that a user stores, ready to check values; or why it cannot be. */
export type UserSchema = { readonly ok: true; readonly matches: (value: unknown) => Match } | { readonly ok: false; readonly reason: string };

const mostBytes = 64 * 1024;
const mostLevels = 32;
const mostSteps = 1_000_000;

const drafts = [
  { uri: /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/, Validator: Ajv, meta: new Ajv({ formats }).getSchema('http://json-schema.org/draft-07/schema')! },
  { uri: /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/, Validator: Ajv2020, meta: new Ajv2020({ formats }).getSchema('https://json-schema.org/draft/2020-12/schema')! },
] as const;
type Draft = (typeof drafts)[number];

const compiled = new LRUCache<string, UserSchema>({ max: 500 });

/**
 * Compiles a JSON Schema (draft-07, or 2020-12 if `$schema` says so) that somebody else wrote. At most 64 KiB and 32
 * levels; references within the document only; regular expressions as RE2 knows them, so without look-around and back
 * references; unknown keywords and formats say nothing. A check takes a bounded number of steps, whatever schema and
 * value are: beyond it the value does not match and the error says so.
 */
export const compileUserSchema = (schema: unknown): UserSchema => {
  if (typeof schema !== 'boolean' && (typeof schema !== 'object' || schema === null || Array.isArray(schema))) return { ok: false, reason: 'A schema is an object or a boolean' };
  if (!hasAtMost(mostLevels, schema)) return { ok: false, reason: `A schema may have ${mostLevels} levels` };
  const text = JSON.stringify(schema);
  if (Buffer.byteLength(text) > mostBytes) return { ok: false, reason: `A schema may have ${mostBytes} bytes` };
  const known = compiled.get(text) ?? attempt(schema);
  compiled.set(text, known);
  return known;
};

/** Why a schema that a request gives, if it gives one, cannot be compiled, if so. */
export const schemaFaultOf = (schema: unknown): { readonly schemaFault?: string } => {
  const compiled = schema === undefined ? undefined : compileUserSchema(schema);
  return compiled && !compiled.ok ? { schemaFault: compiled.reason } : {};
};

const attempt = (schema: object | boolean): UserSchema => {
  try {
    return { ok: true, matches: compile(schema) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    throw error;
  }
};

const compile = (schema: object | boolean): ((value: unknown) => Match) => {
  const { $schema } = schema as { $schema?: unknown };
  const draft = $schema === undefined ? drafts[0] : drafts.find(({ uri }) => uri.test(String($schema)));
  if (!draft) throw new Refusal('invalid', `$schema must be draft-07 or 2020-12, not ${JSON.stringify($schema)}`);
  if (!draft.meta(schema)) {
    const [fault] = faultsOf(draft.meta.errors ?? []);
    throw new Refusal('invalid', `The schema is not valid: ${fault?.path || 'it'} ${fault?.message}`);
  }
  const patterns = linearPatterns();
  const copy = schemaCopy(schema, costMark, patterns.add);
  const quick = checked(draft, copy, patterns.get, mostSteps);
  let detailed: typeof quick | undefined;
  const explained = (value: unknown): readonly SchemaFault[] | undefined => {
    try {
      detailed ??= checked(draft, toldApart(copy), patterns.get, mostSteps / 4, { allErrors: true });
    } catch {
      // A reference into a union that was told apart.
      detailed = quick;
    }
    return detailed(value);
  };

  return (value) => {
    const first = quick(value);
    if (first?.length === 0) return { valid: true, errors: first };
    return {
      valid: false,
      get errors() {
        const all = first && explained(value);
        return all?.[0] ? all : first ?? [{ path: '', message: 'is too large for this schema' }];
      },
    };
  };
};

/** A check that finds the faults of a value within bounds; undefined: the bounds did not suffice. */
const checked = ({ Validator }: Draft, schema: any, regExp: (text: string) => Pattern, steps: number, options: Options = {}): ((value: unknown) => readonly SchemaFault[] | undefined) => { // a schema of ours or a user's
  const { spend, within } = budgetOf();
  const engine = Object.assign((text: string) => {
    const { expression, instructions } = regExp(text);
    return { test: (tested: string) => { spend(1 + (tested.length * instructions) / 4); return expression.test(tested); }, toString: () => text };
  }, { code: 'RE2' });
  const ajv = new Validator({
    strict: false, validateSchema: false, meta: false, logger: false, inlineRefs: false, ownProperties: true, formats,
    code: { regExp: engine, optimize: false }, ...options,
  });
  payFrom(spend, ajv);
  const validate = compiledBy(ajv, schema);
  return (value) => within(steps, () => (validate(value) ? [] : faultsOf(validate.errors ?? [])));
};

const compiledBy = (ajv: Ajv, schema: any): ValidateFunction => { // as above
  try {
    return ajv.compile(schema);
  } catch (error) {
    throw new Refusal('invalid', error instanceof RangeError ? 'The schema is nested too deeply' : `The schema cannot be compiled: ${(error as Error).message}`);
  }
};

const hasAtMost = (levels: number, value: unknown): boolean =>
  typeof value !== 'object' || value === null || (levels > 0 && Object.values(value).every((member) => hasAtMost(levels - 1, member)));

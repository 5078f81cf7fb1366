import { Ajv, type Options, type ValidateFunction } from 'ajv';
import { faultsOf, type SchemaFault } from './faults.ts';
import { formats } from './formats.ts';
import { toldApart } from './unions.ts';

// Ajv's optimizer takes half of the time to compile, and V8 does its work again.
const options: Options = { strict: true, allowUnionTypes: true, formats, code: { optimize: false } };
const quickly = new Ajv(options);
// Its schemas are made of those that the other one has checked.
const inDetail = new Ajv({
  ...options,
  strict: false,
  validateSchema: false,
  allErrors: true,
  verbose: true,
  logger: false,
});

// A larger value could have millions of faults, so only its first one is reported.
const largest = 10_000;

type Check = (value: unknown) => readonly SchemaFault[];

const checks = new WeakMap<object, Check>();

/**
 * Returns the function that checks values by one of our own schemas, one for each schema. It compiles the schema with the
 * first value: no start waits for that. It returns at most 20 faults, each with the JSON pointer of its field.
 */
export const checker = (schema: object): Check => {
  let compiled: Check | undefined;
  const check =
    checks.get(schema) ??
    ((value: unknown) => {
      compiled ??= compile(schema);
      return compiled(value);
    });
  checks.set(schema, check);
  return check;
};

const compile = (schema: object): Check => {
  const check = quickly.compile(schema);
  let detailed: ValidateFunction | undefined;
  return (value) => {
    if (check(value)) return [];
    const first = check.errors ?? [];
    if (count(value, largest) >= largest) return faultsOf(first);
    detailed ??= inDetail.compile(toldApart(schema));
    detailed(value);
    return faultsOf(detailed.errors ?? first);
  };
};

/** Counts the values inside a JSON value, at most up to `enough`. */
const count = (value: unknown, enough: number): number => {
  if (typeof value !== 'object' || value === null) return 1;
  const members: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let counted = 1;
  for (let i = 0; i < members.length && counted < enough; i++) counted += count(members[i], enough - counted);
  return counted;
};

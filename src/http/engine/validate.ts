import { Ajv, type Options, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { faultsOf, type SchemaFault } from '../../commands/user-schemas/faults.ts';
import { formats } from '../../commands/user-schemas/formats.ts';
import { toldApart } from '../../commands/user-schemas/unions.ts';
import { RequestError } from '../../domain/engine/requestError.ts';

const options: Options = { strict: true, allowUnionTypes: true, formats };
const quickly = new Ajv(options);
const inDetail = new Ajv({ ...options, strict: false, allErrors: true, logger: false });

// A larger value could have millions of faults, so only its first one is reported.
const largest = 10_000;

/**
 * Compiles one of our own schemas and makes the function that checks values by it. That function returns at most 20
 * faults, each with the JSON pointer of its field.
 */
export const checker = (schema: TSchema): ((value: unknown) => readonly SchemaFault[]) => {
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

/** Makes the function that checks a body by a schema; it throws `invalid` with all faults. */
export const validator = (schema: TSchema): ((value: unknown) => void) => {
  const check = checker(schema);
  return (value) => {
    const faults = check(value);
    if (!faults[0]) return;
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
    throw new RequestError('invalid', `The body is not valid: ${faults[0].path || 'it'} ${faults[0].message}${more}`, {
      faults,
    });
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

import { checker } from '@automation-platform/bounded-schemas';
import type { TSchema } from 'typebox';
import { RequestError } from '../../domain/engine/requestError.ts';

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

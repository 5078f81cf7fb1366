import { Type } from 'typebox';

const named = (description: string, minLength: 0 | 1) =>
  Type.String({ description, minLength, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });

/** A name or id: 1 to 256 characters, no control characters. */
export const name = (description: string) => named(description, 1);

/** A name or id, or the empty text for none. */
export const nameOrNone = (description: string) => named(description, 0);

import { Type } from 'typebox';

/** A name or id: 1..256 characters, no control characters (behaviour.md 1, Identifiers). */
export const name = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });

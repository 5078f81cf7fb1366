import { type TObjectOptions, type TProperties, Type } from 'typebox';

const named = (description: string, minLength: 0 | 1) =>
  Type.String({ description, minLength, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });

/** A name or id: 1 to 256 characters, no control characters. */
export const name = (description: string) => named(description, 1);

/** A name or id, or the empty text for none. */
export const nameOrNone = (description: string) => named(description, 0);

/** An object with these members alone. */
export const closed = <const P extends TProperties>(properties: P, about: TObjectOptions = {}) =>
  Type.Object(properties, { additionalProperties: false, ...about });

/** The schema, or null. */
export const orNull = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S) =>
  Type.Union([Type.Null(), schema]);

/** Warnings in the answer to an import. */
export const warningsSchema = Type.Optional(
  Type.Array(
    Type.Object(
      { id: Type.String(), name: Type.String(), path: Type.String(), message: Type.String() },
      {
        title: 'ImportWarning',
        description: 'A schedule that never runs: id and name of the trigger, a JSON pointer into it, and why',
      },
    ),
    { description: 'Schedules of the import whose forms refuse every run; absent if there are none' },
  ),
);

/** Where an imported document has a masked secret for which nothing is stored. */
export const missingSecretsSchema = Type.Optional(
  Type.Array(Type.String(), {
    description:
      'JSON pointers to the masked secrets of the body for which nothing is stored; absent if there are none',
  }),
);

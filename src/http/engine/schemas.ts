import { type Static, type TSchema, Type } from 'typebox';
import { missingSecretsSchema } from '../../domain/engine/schemas.ts';
import { statusOf } from './errors.ts';

/** `{results, total}` of a document. */
export const listed = (doc: TSchema) =>
  Type.Object({
    results: Type.Array(doc),
    total: Type.Integer({ description: 'Total number of documents that match' }),
  });

/** `[...]` of what a list gives without a query, or `{results, total}` of a document. */
export const bareOrListed = (item: TSchema, doc: TSchema) => Type.Union([Type.Array(item), listed(doc)]);

/** `{status, message, data}` of a document. */
export const changed = (doc: TSchema) =>
  Type.Object({
    status: Type.Union([Type.Literal('OK'), Type.Literal('Created')]),
    message: Type.String(),
    data: doc,
  });

/** `{status, message, data, missingSecrets?}` of an imported document. */
export const importedOne = (doc: TSchema) =>
  Type.Object({ ...changed(doc).properties, missingSecrets: missingSecretsSchema });

/** Whose words an export uses. */
export const wordsSchema = Type.Optional(
  Type.Literal('imported', {
    description:
      'The document as it was imported, except for what has changed since; without it, the service uses its own words',
  }),
);

/** `overwrite` of an import. */
export const overwriteSchema = Type.Optional(
  Type.Boolean({ description: 'True: other content under a used id or name is replaced' }),
);

/** `{message, data, metadata}` around anything. */
export const enveloped = (data: TSchema) =>
  Type.Object({ message: Type.String(), data, metadata: Type.Record(Type.String(), Type.Any()) });

/** The members of a body that select a part of a list. */
export const fromStart = {
  start: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many to leave out' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 25, description: 'How many to give' })),
};

const direction = Type.Enum([1, -1], { description: '1: ascending, -1: descending' });

/** The member of such a body that says in which direction the list is sorted by its field. */
export const sortedBy = <const F extends string>(field: F) =>
  Type.Optional(
    Type.Object({ [field]: direction } as { [field in F]: typeof direction }, {
      additionalProperties: false,
      description: 'The order',
    }),
  );

/**
 * For a route that accepts a document or `{<word>: document}`: the schema of the body, and the function that takes the
 * document out.
 */
export const orWrapped = <D extends TSchema>(word: string, doc: D) => ({
  body: Type.Unsafe<Static<D>>({
    if: { type: 'object', required: [word], properties: { [word]: {} } },
    then: Type.Object({ [word]: doc }, { additionalProperties: false }),
    else: doc,
  }),
  input: (_: unknown, body: Static<D>): Static<D> => {
    const wrapped = body as Readonly<Record<string, Static<D>>>;
    return Object.hasOwn(wrapped, word) ? wrapped[word]! : body; // hasOwn has just found it
  },
});

/** One fault in the body of an error. Some faults have additional members. */
export const faultSchema = Type.Object(
  {
    code: Type.Enum(Object.keys(statusOf)),
    message: Type.String(),
    path: Type.Optional(Type.String({ description: 'JSON pointer into the body, or the name of the parameter' })),
  },
  { title: 'Fault', additionalProperties: true, description: 'The fault, and its place' },
);

/** `{status: "success", message}`. */
export const success = Type.Object({ status: Type.Literal('success'), message: Type.String() });

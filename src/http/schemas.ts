import { type TSchema, Type } from 'typebox';

/** `{results, total}` of a document. */
export const listed = (doc: TSchema) => Type.Object({
  results: Type.Array(doc), total: Type.Integer({ description: 'Total number of documents that match' }),
});

/** `{status, message, data}` of a document. */
export const changed = (doc: TSchema) => Type.Object({
  status: Type.Union([Type.Literal('OK'), Type.Literal('Created')]), message: Type.String(), data: doc,
});

/** `{message, data, metadata}` around anything. */
export const enveloped = (data: TSchema) => Type.Object({ message: Type.String(), data, metadata: Type.Record(Type.String(), Type.Any()) });

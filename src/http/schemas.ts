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

/** The document itself, or `{<word>: document}`. */
export const orWrapped = (word: string, doc: TSchema): TSchema => ({
  if: { type: 'object', required: [word], properties: { [word]: {} } },
  then: Type.Object({ [word]: doc }, { additionalProperties: false }),
  else: doc,
});

/** The document of such a body. */
export const unwrapped = (word: string) => (_: unknown, body: Readonly<Record<string, unknown>>): unknown => (Object.hasOwn(body, word) ? body[word] : body);

/** `{status: "success", message}`. */
export const success = Type.Object({ status: Type.Literal('success'), message: Type.String() });

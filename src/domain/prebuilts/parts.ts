import { Type } from 'typebox';
import type { SchemaData } from '../engine/core.ts';
import { type Code, RequestError } from '../engine/requestError.ts';
import { anything, text, whole } from '../engine/topics.ts';

export type Bundle = { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** The change of one stream by a package, and the names that the resource has then. */
export const part = Type.Object({
  category: text,
  id: text,
  names: Type.Array(Type.Object({ kind: text, parent: Type.Optional(text), name: text })),
  /** The index of the document in the package. */
  bundle: whole,
  /** The new content of the stream, if it is not the document itself. */
  content: Type.Optional(anything),
});
export type Part = SchemaData<typeof part>;

/** Why the document with this index cannot be installed. Paths start at the request's body. */
export type BundleError = { readonly index: number; readonly error: RequestError };

// In the order of docs/status-codes.md.
const first: readonly Code[] = ['invalid', 'not_found', 'forbidden', 'conflict'];
const rank = ({ code }: RequestError): number => (first.includes(code) ? first.indexOf(code) : first.length);

/** Throws one error for all errors of the code that comes first. */
export const refuseAll = (errors: readonly RequestError[]): void => {
  const least = Math.min(...errors.map(rank));
  const [one, ...others] = errors.filter((error) => rank(error) === least);
  if (!one) return;
  throw new RequestError(one.code, others.length > 0 ? `${one.message} (and ${others.length} more)` : one.message, {
    faults: [one, ...others].flatMap(({ faults }) => faults),
  });
};

import { Type } from 'typebox';
import type { CommandResult } from '../../commands/engine/handle.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { ChangeEnvelope, Envelope, ListEnvelope } from './route.ts';

// Documents are kept as JSON texts, so envelopes join texts and parse nothing.

/** The document itself. */
export const plain: Envelope = (text) => text;

/** `{message, data, metadata}`: operations manager and lifecycle manager. */
export const withMessage =
  (message: string, metadata?: (result: CommandResult) => object): Envelope =>
  (text, result) => {
    const about = JSON.stringify(result && metadata ? metadata(result) : {});
    return `{"message":${JSON.stringify(message)},"data":${text},"metadata":${about}}`;
  };

/** `{message, data: null, metadata}`. */
export const acknowledged =
  (message: string): Envelope =>
  () =>
    `{"message":${JSON.stringify(message)},"data":null,"metadata":{}}`;

/** `{status: "Created"|"OK", message, data}`: changes of the other areas. */
export const withStatus =
  (message: (result: CommandResult) => string): ChangeEnvelope =>
  (text, result) => {
    const status = result.created ? 'Created' : 'OK';
    return `{"status":"${status}","message":${JSON.stringify(message(result))},"data":${text}}`;
  };

/** Adds `missingSecrets` to an envelope, if an import found masks for which no secret is stored. */
export const withMissing = (text: string, missing: readonly string[]): string =>
  missing.length === 0 ? text : `${text.slice(0, -1)},"missingSecrets":${JSON.stringify(missing)}}`;

/** `{results, total}`. */
export const results: ListEnvelope = (texts, { total }) => `{"results":[${texts.join(',')}],"total":${total}}`;

/** The documents in an array. Throws `invalid` if it does not hold all. */
export const bareList: ListEnvelope = (texts, { limit, total }) => {
  if (total > limit)
    throw new RequestError('invalid', `There are ${total} of them: ask for a page of them with skip and limit`, {
      path: 'limit',
    });
  return `[${texts.join(',')}]`;
};

/** `{message, data: [...], metadata: {skip, limit, total}}`: lists of the operations manager and lifecycle manager. */
export const resultsWithMessage =
  (message: string): ListEnvelope =>
  (texts, { skip, limit, total }) =>
    `{"message":${JSON.stringify(message)},"data":[${texts.join(',')}],` +
    `"metadata":{"skip":${skip},"limit":${limit},"total":${total}}}`;

/** `{status: "success", message}`: documented changes of the configuration manager. */
export const succeeded =
  (message: string): Envelope =>
  () =>
    `{"status":"success","message":${JSON.stringify(message)}}`;

/** Answers how many resources a decision deletes. */
export const deletedCount: ChangeEnvelope = (_, { state }) => {
  const { ids } = state as { readonly ids: readonly string[] }; // that of a decision to delete (domain/engine/deletions.ts)
  return JSON.stringify({ status: 'success', deleted: ids.length });
};

export const deletedCountSchema = Type.Object({
  status: Type.Literal('success'),
  deleted: Type.Integer({ description: 'How many were deleted' }),
});

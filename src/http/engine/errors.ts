import { type Code, RequestError } from '../../domain/engine/requestError.ts';

/**
 * The only table that turns codes into statuses (docs/status-codes.md). A new code does not compile until it is listed
 * here.
 */
export const statusOf: Readonly<Record<Code, number>> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  stale: 412,
  too_large: 413,
  unsupported_media: 415,
  expectation_failed: 417,
  unprocessable: 422,
  limited: 429,
  internal: 500,
  not_built: 501,
  adapter_failed: 502,
  unavailable: 503,
};

/** The body of every error: message, data null, metadata.errors. */
export const failureBody = ({ code, message, faults, metadata, members }: RequestError): string =>
  JSON.stringify({
    ...members,
    message,
    data: null,
    metadata: { errors: faults.map((fault) => ({ code, ...fault })), ...metadata },
  });

/** The error for a request that expects what this service does not know. */
export const unmetExpectation = (): RequestError =>
  new RequestError('expectation_failed', 'A request may expect 100-continue only', { path: 'Expect' });

/** The error that a caller sees for a bug. It reveals nothing of the cause. */
export const internal = (requestId: string): RequestError =>
  new RequestError('internal', `Internal error; request ${requestId}`);

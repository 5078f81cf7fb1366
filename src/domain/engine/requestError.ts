/** The error codes. Only src/http/engine/errors.ts maps them to HTTP statuses. */
export type Code =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'stale'
  | 'too_large'
  | 'unsupported_media'
  | 'expectation_failed'
  | 'unprocessable'
  | 'limited'
  | 'internal'
  | 'not_built'
  | 'adapter_failed'
  | 'unavailable';

/** One fault of a rejected request. `path` is a JSON pointer into the body, or the name of a parameter. */
export type Fault = { readonly message: string; readonly path?: string; readonly [more: string]: unknown };

type Options = {
  /** Several faults at once. Without them, the error's own message is the only fault. */
  readonly faults?: readonly Fault[];
  readonly path?: string;
  /** Further members of `metadata` in the answer. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Further members of the answer, which clients of another protocol read. */
  readonly members?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
};

/** The only error that becomes an answer. Any other error is a bug, and the answer has a fixed text. */
export class RequestError extends Error {
  readonly code: Code;
  readonly faults: readonly Fault[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly members: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: Code, message: string, options: Options = {}) {
    super(message, { cause: options.cause });
    this.name = 'RequestError';
    this.code = code;
    this.faults = options.faults ?? [options.path === undefined ? { message } : { message, path: options.path }];
    this.metadata = options.metadata ?? {};
    this.members = options.members ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * Throws an error with all faults, if there are any, or with the first `most`. Its message has the messages of all, or its first
 * `characters`.
 */
export const refuseFaults = (
  code: Code,
  faults: readonly Fault[],
  { most = Infinity, characters = Infinity } = {},
): void => {
  const message = faults.map((fault) => fault.message).join('; ');
  if (faults.length > 0) throw new RequestError(code, message.slice(0, characters), { faults: faults.slice(0, most) });
};

/** The read models are behind or out of reach. The same request succeeds later. */
export class NotReadable extends RequestError {
  constructor(message: string, cause?: unknown) {
    super('unavailable', message, { retryAfterSeconds: 1, cause });
    this.name = 'NotReadable';
  }
}

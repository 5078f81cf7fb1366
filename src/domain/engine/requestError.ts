/** Every way this service refuses. The HTTP status of each is in src/http/engine/errors.ts and nowhere else. */
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
  | 'unprocessable'
  | 'limited'
  | 'internal'
  | 'adapter_failed'
  | 'unavailable';

/** One fault within a refusal: `path` is a JSON pointer into the body, or the name of the parameter. */
export type Fault = { readonly message: string; readonly path?: string; readonly [more: string]: unknown };

type Options = {
  /** Several faults at once; without them the refusal's own message is the only one. */
  readonly faults?: readonly Fault[];
  readonly path?: string;
  /** Further members of `metadata` in the answer. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
};

/** The only error that is an answer. Anything else thrown is a bug and answered with a fixed text. */
export class RequestError extends Error {
  readonly code: Code;
  readonly faults: readonly Fault[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: Code, message: string, options: Options = {}) {
    super(message, { cause: options.cause });
    this.name = 'RequestError';
    this.code = code;
    this.faults = options.faults ?? [options.path === undefined ? { message } : { message, path: options.path }];
    this.metadata = options.metadata ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/**
 * The read models cannot tell now what is asked: they are behind or cannot be reached. They will, so asking again
 * helps.
 */
export class NotReadable extends RequestError {
  constructor(message: string, cause?: unknown) {
    super('unavailable', message, { retryAfterSeconds: 1, cause });
    this.name = 'NotReadable';
  }
}

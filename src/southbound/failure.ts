import { isObject, redacted } from '@automation-platform/json';
import { RequestError } from '../domain/engine/requestError.ts';
import { isSecretName } from '../domain/engine/secretFields.ts';

type Answered = { readonly status?: number | null; readonly body?: unknown };

/**
 * The error `adapter_failed` with the reason. `status` and `body` are the answer of the southbound system; null if
 * there is none.
 */
export const adapterFailure = (
  name: string,
  reason: string,
  { status = null, body = null }: Answered = {},
): RequestError =>
  new RequestError('adapter_failed', `Adapter ${JSON.stringify(name)}: ${reason}`, {
    metadata: { adapter: { name, status, body } },
  });

/** The same for an authentication provider. */
export const providerFailure = (name: string, reason: string): RequestError =>
  new RequestError('adapter_failed', `Authentication provider ${JSON.stringify(name)}: ${reason}`, {
    metadata: { provider: { name } },
  });

/** Nobody knows whether the device took a configuration: no outcome may be stored, and nobody may send it again. */
export class UnknownOutcome extends RequestError {
  constructor(adapter: string, reason: string) {
    super(
      'unavailable',
      `Adapter ${JSON.stringify(adapter)}: ${reason}, after it was sent what takes effect: nobody knows whether the device took ` +
        'it. Look at the device; another Idempotency-Key is another attempt',
    );
  }
}

/** An answer has more bytes than are allowed. */
export class TooMuch extends Error {}

/** HTTP allows the answer, but not to this request. The message says what the answer was. */
export class Unexpected extends Error {}

/** Why a connection failed, in words that repeat nothing of the request. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof TooMuch) return 'the answer is too large';
  if (error instanceof Unexpected || error instanceof RequestError) return error.message;
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === 'OutboundRefused') return message;
  if (name === 'TimeoutError') return 'there was no answer in time';
  if (name === 'AbortError') return 'the service is shutting down';
  if (code === undefined) return 'the connection failed';
  return words[code] ?? (code.startsWith('HPE_') ? 'the answer is not HTTP' : `the connection failed (${code})`);
};

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  ENOTFOUND: 'the host is not known',
  EAI_AGAIN: 'the host cannot be looked up now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
};

/**
 * Replaces every secret by ******** in all texts of a value, but for members with the name of a secret: these are sealed by
 * their names where the value is stored.
 */
export const redactedIn = (value: unknown, secrets: readonly string[]): unknown => {
  if (typeof value === 'string') return redacted(value, secrets);
  if (Array.isArray(value)) return value.map((item) => redactedIn(item, secrets));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([member, inside]) => [
      member,
      isSecretName(member) ? inside : redactedIn(inside, secrets),
    ]),
  );
};

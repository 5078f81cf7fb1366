import { RequestError } from '../domain/engine/requestError.ts';

type Answered = { readonly status?: number | null; readonly body?: unknown };

/**
 * `adapter_failed` with the reason. `status` and `body` are the answer of the southbound system, null without one.
 */
export const adapterFailure = (
  name: string,
  reason: string,
  { status = null, body = null }: Answered = {},
): RequestError =>
  new RequestError('adapter_failed', `Adapter ${JSON.stringify(name)}: ${reason}`, {
    metadata: { adapter: { name, status, body } },
  });

/** More bytes than were allowed. */
export class TooMuch extends Error {}

/** An answer that HTTP allows, but not to this request. The message says which. */
export class Unexpected extends Error {}

/** Why a connection failed, in words that contain nothing of the request. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof TooMuch) return 'the answer is too large';
  if (error instanceof Unexpected) return error.message;
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

/** The work, or the signal's reason as soon as it is aborted. */
export const abortable = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

/** The text with every secret in it as ********. */
export const redacted = (text: string, secrets: readonly string[]): string =>
  secrets.filter((secret) => secret.length > 0).reduce((shown, secret) => shown.replaceAll(secret, '********'), text);

import {
  AccessDeniedError,
  convertToCommandError,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  UnavailableError,
} from '@eventstore/db-client';
import { status } from '@grpc/grpc-js';
import { RequestError } from '../../domain/engine/requestError.ts';
import { TamperedStream, WrongRevision } from '../port.ts';
import type { Server } from './url.ts';

/** The connection was given up. The server may have carried out the call. */
export class Silence extends Error {
  constructor(message = 'The connection was given up') {
    super(message);
    this.name = 'Silence';
  }
}

/** There is no connection yet, or none can be made. `cause` says why. */
export class NoConnection extends Error {
  constructor(cause: unknown) {
    super('There is no connection', { cause });
    this.name = 'NoConnection';
  }
}

/** The outcome of a call is unknown. Another call over the same connection settles it. */
export class TryAgain extends Error {
  constructor(message = 'No answer in time') {
    super(message);
    this.name = 'TryAgain';
  }
}

/** EventStoreDB denies the user the action `what`. `password`: the user or the password is wrong. */
export class Denied extends Error {
  readonly what: string;
  readonly password: boolean;
  constructor(what: string, password: boolean) {
    super(`EventStoreDB denies access: ${password ? 'wrong user or password' : `the user may not ${what}`}`);
    this.name = 'Denied';
    this.what = what;
    this.password = password;
  }
}

/** The log contains something that this service cannot read. Another try does not help. */
export class Unreadable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unreadable';
  }
}

export const unavailable = (cause: unknown): RequestError =>
  new RequestError('unavailable', 'EventStoreDB does not answer', { cause, retryAfterSeconds: 1 });

/** The error when the server refuses a request. Another try does not help. */
export const refusedByServer = (words: string, cause?: unknown): RequestError =>
  new RequestError('unavailable', `EventStoreDB refuses: ${words}`, { cause });

export const closed = (): RequestError => new RequestError('unavailable', 'The log is closed');

/** Converts the error of a call: denied access becomes `Denied`, other errors become those of the client. */
export const toError = (error: unknown, what: string): Error => {
  const commandError = convertToCommandError(error as Error);
  return commandError instanceof AccessDeniedError
    ? new Denied(what, commandError.code === status.UNAUTHENTICATED)
    : commandError;
};

/** The error for the caller when another try does not help. Undefined for all other errors. */
export const finalError = (error: unknown): Error | undefined => {
  if (
    error instanceof RequestError ||
    error instanceof WrongRevision ||
    error instanceof Unreadable ||
    error instanceof TamperedStream
  )
    return error;
  if (error instanceof Denied) return new RequestError('unavailable', error.message, { cause: error });
  if (error instanceof MaxAppendSizeExceededError)
    return new RequestError('too_large', `EventStoreDB takes ${error.maxAppendSize} bytes at once`, { cause: error });
  if (error instanceof InvalidArgumentError) return refusedByServer(error.message || error.type, error);
  return undefined;
};

/** True if another node of the cluster must be asked: this one is not the leader, or does not know the leader yet. */
export const isElsewhere = (error: unknown): boolean =>
  error instanceof NotLeaderError ||
  (error instanceof Error && /no leader info|server is not ready/i.test(error.message));

/** The innermost cause. The errors around it add nothing. */
const innermost = (error: unknown): unknown => {
  const isAround = error instanceof NoConnection || (error instanceof RequestError && error.cause !== undefined);
  return isAround ? innermost(error.cause) : error;
};

/** The message of an error without the additions of the gRPC library. */
const wordsOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error))
    .replace(/^\d+ [A-Z_]+: /, '')
    .replace(/^No connection established\. Last error: (Error: )?/, '')
    .replace(/\.? *Resolution note:.*$/s, '')
    .replace(/ \(\d{4}-[\d:.TZ-]+\)/, '')
    .replace(/\s+/g, ' ')
    .trim();

const hasNoTls = /wrong version number|packet length too long|EPROTO|SSL routines/i;
const isNotTrusted = /certificate|self.signed|altnames|CERT_/i;
const isNowhere = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT/;

/** True if a server seems to be there and answers later: it is starting, busy, or has no leader yet. */
export const isSlow = (error: unknown): boolean => {
  const cause = innermost(error);
  const words = wordsOf(cause);
  const isWrong = hasNoTls.test(words) || isNotTrusted.test(words) || isNowhere.test(words);
  return !isWrong && finalError(cause) === undefined;
};

/** Describes an error for the operator, and names the setting to check. The text never contains the password. */
export const explain = (error: unknown, { user, tls }: Server): string => {
  const cause = innermost(error);
  const words = wordsOf(cause);
  const who = user === undefined ? 'EVENTSTORE_URL names no user' : `the user is ${user}`;
  const isNew = error instanceof NoConnection || (error instanceof RequestError && error.cause instanceof NoConnection);
  const isDown = cause instanceof UnavailableError || cause instanceof Silence;
  if (cause instanceof Denied && cause.password)
    return `EventStoreDB does not accept user and password (${who}): look at user:password@ in EVENTSTORE_URL`;
  if (cause instanceof Denied)
    return `EventStoreDB does not let the service ${cause.what} (${who}): look at the user in EVENTSTORE_URL, and at what it may do`;
  if (hasNoTls.test(words))
    return `The server answers without TLS (${words}): give it a certificate, or set tls=false in EVENTSTORE_URL, without user:password@`;
  if (isNotTrusted.test(words))
    return `The server's certificate is not trusted (${words}): look at tlsCAFile in EVENTSTORE_URL, and at the host name there`;
  if (isDown && isNew && !tls && !isNowhere.test(words))
    return `The server ends or ignores connections (${words}): it is starting or stands still, or it has TLS, and tls in EVENTSTORE_URL is false`;
  if (isDown) return `No server answers (${words}): look whether it runs, and at hosts and ports in EVENTSTORE_URL`;
  return words;
};

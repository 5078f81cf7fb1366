import { AccessDeniedError, InvalidArgumentError, MaxAppendSizeExceededError, StreamDeletedError } from '@eventstore/db-client';
import { Refusal } from '../domain/refusal.ts';
import { WrongRevision } from './port.ts';

/** EventStoreDB did not answer in time, or the connection was given up meanwhile: what was asked for may have been done. */
export class Silence extends Error {
  constructor(message = 'No answer in time') {
    super(message);
    this.name = 'Silence';
  }
}

/** The log has something that this service cannot work with, however often it tries. */
export class Unreadable extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'Unreadable';
  }
}

export const unavailable = (cause: unknown): Refusal =>
  new Refusal('unavailable', 'EventStoreDB does not answer', { cause, retryAfterSeconds: 1 });

/** What it will say however often it is asked. */
export const refusedByServer = (words: string, cause?: unknown): Refusal =>
  new Refusal('unavailable', `EventStoreDB refuses: ${words}`, { cause });

export const closed = (): Refusal => new Refusal('unavailable', 'The log is closed');

/** What the caller is told of an error that trying again does not mend; undefined for all others. */
export const finalError = (error: unknown): Error | undefined => {
  if (error instanceof Refusal || error instanceof WrongRevision || error instanceof Unreadable) return error;
  if (error instanceof AccessDeniedError) return new Refusal('unavailable', 'EventStoreDB denies access: wrong user or password, or the user may not do this', { cause: error });
  if (error instanceof MaxAppendSizeExceededError) return new Refusal('too_large', `EventStoreDB takes ${error.maxAppendSize} bytes at once`, { cause: error });
  if (error instanceof StreamDeletedError || error instanceof InvalidArgumentError) return refusedByServer(error.message || error.type, error);
  return undefined;
};

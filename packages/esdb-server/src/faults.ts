import shared from '@eventstore/db-client/generated/shared_pb.js';
import { Metadata, status } from '@grpc/grpc-js';
import { streamIdentifier } from './identifiers.ts';

/** The state of the stream that a write expects: a revision, or a word of EventStoreDB. */
export type Expected = number | 'any' | 'no_stream' | 'stream_exists';

type Message = { serializeBinary(): Uint8Array };

/** The error in the answer to a batch: the message, and its name in EventStoreDB's protocol. */
export type Detail = { readonly name: string; readonly message: Message };

type Options = {
  /** Trailers that clients turn into errors of their own. `exception` names the kind. */
  readonly trailers?: Readonly<Record<string, string>>;
  readonly detail?: Detail;
  /** Set when the stream was at another revision (-1: no such stream). */
  readonly wrong?: { readonly expected: Expected; readonly actual: number };
};

const mostTold = 1500;

/** The failure of a call, in gRPC's form. */
export class Fault extends Error {
  readonly code: status;
  readonly details: string;
  readonly metadata = new Metadata();
  readonly detail: Detail;
  readonly wrong: Options['wrong'];

  constructor(code: status, details: string, { trailers = {}, detail, wrong }: Options = {}) {
    // The message may contain text of the caller. The cut may leave half of a surrogate pair, which gRPC does not
    // accept.
    const detailText = Buffer.from(details.slice(0, mostTold)).toString();
    super(detailText);
    this.name = 'Fault';
    this.code = code;
    this.details = detailText;
    this.detail = detail ?? { name: 'event_store.client.Unknown', message: new shared.Unknown() };
    this.wrong = wrong;
    // Trailers are ASCII.
    for (const [name, value] of Object.entries(trailers))
      this.metadata.set(name, value.replace(/[^ -~]/gu, encodeURIComponent));
  }
}

const wrongRequest = (message: string): Detail => ({
  name: 'event_store.client.BadRequest',
  message: new shared.BadRequest().setMessage(message),
});

/**
 * The fault for a message that no caller may send. In answers to batches, this is the only fault whose text clients
 * show.
 */
export const badRequest = (message: string): Fault =>
  new Fault(status.INVALID_ARGUMENT, message, { detail: wrongRequest(message) });

export const missingMetadata = (names: readonly string[]): Fault => {
  const message = `Required metadata is missing: ${names.join(', ')}`;
  return new Fault(status.INVALID_ARGUMENT, message, {
    trailers: { exception: 'missing-required-metadata-property', 'required-metadata-properties': names.join(',') },
    detail: wrongRequest(message),
  });
};

/** The fault for an action that this caller may not do, but another caller may. */
export const accessDenied = (message: string): Fault =>
  new Fault(status.PERMISSION_DENIED, message, {
    trailers: { exception: 'access-denied' },
    detail: { name: 'event_store.client.AccessDenied', message: new shared.AccessDenied() },
  });

export const streamDeleted = (stream: string): Fault => {
  const identifier = streamIdentifier(stream);
  return new Fault(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    trailers: { exception: 'stream-deleted', 'stream-name': stream },
    detail: {
      name: 'event_store.client.StreamDeleted',
      message: new shared.StreamDeleted().setStreamIdentifier(identifier),
    },
  });
};

/** `most`: how many bytes an append, or one event, may have. */
export const tooLarge = (most: number, message = `Maximum Append Size of ${most} Exceeded.`): Fault =>
  new Fault(status.INVALID_ARGUMENT, message, {
    trailers: { exception: 'maximum-append-size-exceeded', 'maximum-append-size': String(most) },
    detail: {
      name: 'event_store.client.MaximumAppendSizeExceeded',
      message: new shared.MaximumAppendSizeExceeded().setMaxappendsize(most),
    },
  });

export const timedOut = (): Fault =>
  new Fault(status.DEADLINE_EXCEEDED, 'The deadline has passed', {
    detail: { name: 'event_store.client.Timeout', message: new shared.Timeout() },
  });

export const unavailable = (message: string): Fault => new Fault(status.UNAVAILABLE, message);

export const exhausted = (message: string): Fault => new Fault(status.RESOURCE_EXHAUSTED, message);

/** The codes of errors that callers get to see, with the words of the error. */
const codes: Readonly<Record<string, status>> = {
  unauthenticated: status.UNAUTHENTICATED,
  limited: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
  invalid: status.INVALID_ARGUMENT,
};

/** Converts any error to a fault. A bug is given to `report`, and the caller gets a fixed text. */
export const faultOf = (error: unknown, report: (error: unknown) => void): Fault => {
  if (error instanceof Fault) return error;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    if (error.code === 'forbidden') return accessDenied(error.message);
    if (Object.hasOwn(codes, error.code)) return new Fault(codes[error.code] as status, error.message);
  }
  report(error);
  return new Fault(status.INTERNAL, 'The server has failed');
};

import { randomUUID } from 'node:crypto';
import { MaxAppendSizeExceededError, StreamDeletedError } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import streams, { type BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { Message } from 'google-protobuf';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { type Appended, type NewEvent, WrongRevision } from '../port.ts';
import { Denied, refusedByServer, Silence, TryAgain, toError } from './errors.ts';
import { streamIdentifier, toPosition, toRevision, uuidText } from './events.ts';

/** A call that carries many appends. */
export type BatchCall = ClientDuplexStream<BatchAppendReq, BatchAppendResp>;

type Waiting = {
  readonly stream: string;
  readonly expected: number;
  readonly resolve: (appended: Appended) => void;
  readonly reject: (error: unknown) => void;
};

const message = ({ id, type, data, metadata }: NewEvent): BatchAppendReq.ProposedMessage => {
  const proposed = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(Buffer.from(data))
    .setCustomMetadata(Buffer.from(metadata));
  // The content type is JSON, so that EventStoreDB's own tools and other clients can read the event.
  proposed.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return proposed;
};

// The request has no deadline, because EventStoreDB would compare it with its own clock. EventStoreDB has its own time
// limit for each write.
const request = (id: string, stream: string, expected: number, events: readonly NewEvent[]): BatchAppendReq => {
  const options = new streams.BatchAppendReq.Options().setStreamIdentifier(streamIdentifier(stream));
  if (expected < 0) options.setNoStream(new empty.Empty());
  else options.setStreamPosition(String(expected));
  return new streams.BatchAppendReq()
    .setCorrelationId(new shared.UUID().setString(id))
    .setOptions(options)
    .setProposedMessagesList(events.map(message))
    .setIsFinal(true);
};

const protocol = 'event_store.client.';

/**
 * The error in an answer. The client does not know some of these errors, or takes them for faults of the connection.
 */
const errorOf = (error: Status, { stream, expected }: Waiting): Error => {
  const details = error.getDetails();
  const name = details?.getTypeName() ?? '';
  const unpack = <T extends Message>(read: (bytes: Uint8Array) => T): T | undefined =>
    details?.unpack(read, name) ?? undefined;
  switch (name.replace(protocol, '')) {
    case 'BadRequest':
      return refusedByServer(error.getMessage());
    case 'AccessDenied':
      return new Denied(`append to ${stream}`, false);
    case 'Timeout':
      return new TryAgain('EventStoreDB could not store it in time');
    case 'StreamDeleted':
      return new StreamDeletedError(undefined, stream);
    case 'MaximumAppendSizeExceeded': {
      const exceeded = unpack(shared.MaximumAppendSizeExceeded.deserializeBinary);
      if (exceeded) return new MaxAppendSizeExceededError(undefined, exceeded.getMaxappendsize());
      break;
    }
    case 'WrongExpectedVersion': {
      const wrong = unpack(shared.WrongExpectedVersion.deserializeBinary);
      if (!wrong) break;
      const actual = wrong.hasCurrentStreamRevision() ? toRevision(wrong.getCurrentStreamRevision()) : -1;
      return new WrongRevision(stream, expected, actual);
    }
  }
  return new TryAgain(error.getMessage());
};

const appendedIn = (answer: BatchAppendResp, waiting: Waiting): Appended => {
  const error = answer.getError();
  if (error) throw errorOf(error, waiting);
  // An answer has either an error or a success.
  const success = answer.getSuccess()!;
  const position = success.getPosition();
  return {
    revision: toRevision(success.getCurrentRevision()),
    position: position ? toPosition(position.getCommitPosition()) : 0,
  };
};

type Sent = { readonly answer: Promise<Appended>; readonly forget: () => void };

/**
 * Sends appends over one call, many at the same time. `open` starts the call, and starts it again when it has ended.
 * `onAnswer` is called for every answer.
 */
export const batchAppends = (open: () => Promise<BatchCall>, onAnswer: () => void, closing: AbortSignal) => {
  type Opened = { readonly call: BatchCall; readonly asked: Map<string, Waiting> };
  let current: Promise<Opened> | undefined;

  const start = async (): Promise<Opened> => {
    const waitingByRequest = new Map<string, Waiting>();
    const call = await open();
    const answered = (answer: BatchAppendResp): void => {
      onAnswer();
      const id = uuidText(answer.getCorrelationId());
      const entry = waitingByRequest.get(id);
      waitingByRequest.delete(id);
      try {
        entry?.resolve(appendedIn(answer, entry));
      } catch (error) {
        entry?.reject(error);
      }
    };
    const over = (error: unknown): void => {
      if (current === opening) current = undefined;
      closing.removeEventListener('abort', onAbort);
      for (const { reject } of waitingByRequest.values()) reject(error);
      waitingByRequest.clear();
    };
    const onAbort = (): void => {
      over(new Silence());
      call.cancel();
    };
    call
      .on('data', answered)
      .on('error', (error) => over(toError(error, 'append')))
      .on('end', () => over(new TryAgain('EventStoreDB has ended the call')));
    closing.addEventListener('abort', onAbort);
    if (closing.aborted) onAbort();
    return { call, asked: waitingByRequest };
  };
  let opening: Promise<Opened> | undefined;

  /** Sends an append. The caller calls `forget` when the answer is no longer needed. */
  return async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Sent> => {
    if (!current) {
      opening = start();
      current = opening;
      opening.catch(() => {
        current = undefined;
      });
    }
    const { call, asked } = await current;
    const id = randomUUID();
    const answer = new Promise<Appended>((resolve, reject) => {
      asked.set(id, { stream, expected, resolve, reject });
      call.write(request(id, stream, expected, events));
    });
    return { answer, forget: () => asked.delete(id) };
  };
};

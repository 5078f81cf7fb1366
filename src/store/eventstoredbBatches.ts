import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { convertToCommandError } from '@eventstore/db-client';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import streamsService, { type IStreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams, { type BatchAppendReq, type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import timestamp from 'google-protobuf/google/protobuf/timestamp_pb.js';
import { refusedByServer, Silence } from './eventstoredbErrors.ts';
import { toPosition } from './eventstoredbEvents.ts';
import type { NewEvent } from './port.ts';

/** Sends an append; the position that the answer names, 0 if none. */
export type BatchAppend = (stream: string, expected: number, events: readonly NewEvent[]) => Promise<number>;

/** The client's ways to make a call over its connection, with its credentials. */
export type BatchCalls = {
  GRPCStreamCreator(service: unknown, name: string, make: (client: IStreamsClient) => Duplex): () => Promise<Duplex>;
  callArguments(options: object, call: object): Parameters<IStreamsClient['batchAppend']>;
};

type Waiting = { readonly stream: string; readonly resolve: (position: number) => void; readonly reject: (error: unknown) => void };

// A point in time, to be compared with the server's clock: enough for clocks that differ. Who asks gives up much earlier.
const serverPatience = 60_000;

const message = ({ id, type, data, metadata }: NewEvent): BatchAppendReq.ProposedMessage => {
  const proposed = new streams.BatchAppendReq.ProposedMessage().setId(new shared.UUID().setString(id)).setData(Buffer.from(data)).setCustomMetadata(Buffer.from(metadata));
  // As JSON, so that EventStoreDB's own tools and other clients can read it.
  proposed.getMetadataMap().set('type', type).set('content-type', 'application/json');
  return proposed;
};

const request = (id: string, stream: string, expected: number, events: readonly NewEvent[]): BatchAppendReq => {
  const options = new streams.BatchAppendReq.Options().setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
    .setDeadline(timestamp.Timestamp.fromDate(new Date(Date.now() + serverPatience)));
  if (expected < 0) options.setNoStream(new empty.Empty());
  else options.setStreamPosition(String(expected));
  return new streams.BatchAppendReq().setCorrelationId(new shared.UUID().setString(id)).setOptions(options).setProposedMessagesList(events.map(message)).setIsFinal(true);
};

/** The client knows no error for a bad request, and would take it for a fault of the connection. */
const errorOf = (error: Status, stream: string): Error =>
  (error.getDetails()?.getTypeName() === 'event_store.client.BadRequest' ? refusedByServer(error.getMessage()) : unpackToCommandError(error, stream));

const positionIn = (answer: BatchAppendResp, stream: string): number => {
  const error = answer.getError();
  if (error) throw errorOf(error, stream);
  const position = answer.getSuccess()?.getPosition();
  return toPosition(position && { commit: BigInt(position.getCommitPosition()), prepare: BigInt(position.getPreparePosition()) });
};

/**
 * Appends over one call, many under way at once. The client's own has a table of those that wait which all calls of the
 * process share: one that breaks rejects the appends of the others, whose answers then throw where nobody can catch.
 */
export const batchAppends = (client: BatchCalls): BatchAppend => {
  let open: Promise<Duplex> | undefined;
  const waiting = new WeakMap<Duplex, Map<string, Waiting>>();

  const start = (): Promise<Duplex> => {
    const asked = new Map<string, Waiting>();
    const answered = (answer: BatchAppendResp): void => {
      const id = parseUUID(answer.getCorrelationId()) as string;
      const entry = asked.get(id);
      asked.delete(id);
      try { entry?.resolve(positionIn(answer, entry.stream)); } catch (error) { entry?.reject(error); }
    };
    const over = (error: unknown): void => {
      if (open === opening) open = undefined;
      for (const { reject } of asked.values()) reject(error);
      asked.clear();
    };
    const opening = client.GRPCStreamCreator(streamsService.StreamsClient, 'batchAppend', (streamsClient) => {
      const call = streamsClient.batchAppend(...client.callArguments({}, { deadline: Infinity })) as unknown as Duplex; // but for what nobody uses
      waiting.set(call, asked);
      return call.on('data', answered).on('error', (error) => over(convertToCommandError(error))).on('end', () => over(new Silence('EventStoreDB has ended the call')));
    })();
    opening.catch(over);
    return opening;
  };

  return async (stream, expected, events) => {
    const call = await (open ??= start());
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      waiting.get(call)!.set(id, { stream, resolve, reject });
      call.write(request(id, stream, expected, events));
    });
  };
};

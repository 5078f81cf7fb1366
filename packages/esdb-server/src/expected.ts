import shared from '@eventstore/db-client/generated/shared_pb.js';
import type {
  AppendReq,
  AppendResp,
  BatchAppendReq,
  DeleteReq,
  TombstoneReq,
} from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { badRequest, type Expected, Fault } from './faults.ts';

type Words = { hasAny(): boolean; hasNoStream(): boolean; hasStreamExists(): boolean };

const wordIn = (options: Words): Expected => {
  if (options.hasAny()) return 'any';
  if (options.hasNoStream()) return 'no_stream';
  if (options.hasStreamExists()) return 'stream_exists';
  throw badRequest('The expected revision is missing');
};

const revisionIn = (text: string): number => {
  const revision = Number(text);
  if (!Number.isSafeInteger(revision)) throw badRequest('No stream has so many events as the expected revision says');
  return revision;
};

/** The expected revision in the options of an append, a delete or a tombstone. */
export const expectedIn = (options: AppendReq.Options | DeleteReq.Options | TombstoneReq.Options): Expected =>
  options.hasRevision() ? revisionIn(options.getRevision()) : wordIn(options);

/** The expected revision in the options of a batch. */
export const expectedInBatch = (options: BatchAppendReq.Options): Expected =>
  options.hasStreamPosition() ? revisionIn(options.getStreamPosition()) : wordIn(options);

// EventStoreDB's numbers for these words.
const numbers = { any: -2, no_stream: -1, stream_exists: -4 };

/** The fault when a stream is at another revision. `actual` is -1 when there is no such stream. */
export const wrongVersion = (
  operation: 'Append' | 'Delete',
  stream: string,
  expected: Expected,
  actual: number,
): Fault => {
  const message = new shared.WrongExpectedVersion();
  if (actual < 0) message.setCurrentNoStream(new empty.Empty());
  else message.setCurrentStreamRevision(String(actual));
  if (expected === 'any') message.setExpectedAny(new empty.Empty());
  else if (expected === 'no_stream') message.setExpectedNoStream(new empty.Empty());
  else if (expected === 'stream_exists') message.setExpectedStreamExists(new empty.Empty());
  else message.setExpectedStreamPosition(String(expected));
  const number = typeof expected === 'number' ? expected : numbers[expected];
  const trailers = { exception: 'wrong-expected-version', 'stream-name': stream, 'expected-version': String(number) };
  return new Fault(
    status.FAILED_PRECONDITION,
    `${operation} failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${number}, Actual version: ${actual}`,
    {
      trailers: actual < 0 ? trailers : { ...trailers, 'actual-version': String(actual) },
      detail: { name: 'event_store.client.WrongExpectedVersion', message },
      wrong: { expected, actual },
    },
  );
};

/** The same fault as an answer to Append, which has its own message for it. */
export const wrongVersionAnswer = ({ expected, actual }: NonNullable<Fault['wrong']>): AppendResp => {
  const wrong = new streams.AppendResp.WrongExpectedVersion();
  if (actual < 0) wrong.setCurrentNoStream(new shared.Empty());
  else wrong.setCurrentRevision(String(actual));
  if (expected === 'any') wrong.setExpectedAny(new shared.Empty());
  else if (expected === 'no_stream') wrong.setExpectedNoStream(new shared.Empty());
  else if (expected === 'stream_exists') wrong.setExpectedStreamExists(new shared.Empty());
  else wrong.setExpectedRevision(String(expected));
  return new streams.AppendResp().setWrongExpectedVersion(wrong);
};

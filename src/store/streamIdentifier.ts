import shared, { type StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js';

/** A stream's name in the form of EventStoreDB's messages. */
export const streamIdentifier = (stream: string): StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream));

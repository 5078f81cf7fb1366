import shared, { type StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js';

/** A stream's name as messages of EventStoreDB have it. */
export const streamIdentifier = (stream: string): StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream));

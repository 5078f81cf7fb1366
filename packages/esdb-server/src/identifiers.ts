import shared, { type StreamIdentifier, type UUID } from '@eventstore/db-client/generated/shared_pb.js';

/** The name of a stream as a message of EventStoreDB's protocol. */
export const streamIdentifier = (stream: string): StreamIdentifier =>
  new shared.StreamIdentifier().setStreamName(Buffer.from(stream));

/** The text of an id, which a message has as text or as two signed numbers; '' without one. */
export const uuidText = (uuid: UUID | undefined): string => {
  const structured = uuid?.getStructured();
  if (!structured) return uuid?.getString().toLowerCase() ?? '';
  return [structured.getMostSignificantBits(), structured.getLeastSignificantBits()]
    .map((bits) => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0'))
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};

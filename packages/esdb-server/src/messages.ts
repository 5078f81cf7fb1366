import { type Foreign, type StoredEvent, unwrapForeign } from '@automation-platform/event-log';
import type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { badRequest } from './faults.ts';
import { streamIdentifier, uuidText } from './identifiers.ts';
import { utf8 } from './utf8.ts';

const maxName = 1024;

/** Reads the name of a stream. Throws unless it has 1 to 1024 bytes of UTF-8 without control characters. */
export const streamIn = (identifier: StreamIdentifier | undefined): string => {
  const bytes = identifier?.getStreamName_asU8() ?? new Uint8Array();
  if (bytes.length === 0 || bytes.length > maxName) throw badRequest(`A stream's name has 1 to ${maxName} bytes`);
  let name: string;
  try {
    name = utf8.decode(bytes);
  } catch {
    throw badRequest("The stream's name is not UTF-8");
  }
  if (/\p{Cc}/u.test(name)) throw badRequest("A stream's name has no control characters");
  return name;
};

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Reads a UUID in either form. Returns it as text in lower case. */
export const uuidIn = (uuid: UUID | undefined, what: string): string => {
  const text = uuidText(uuid);
  if (!uuidForm.test(text)) throw badRequest(`${what} is no UUID`);
  return text;
};

/** A UUID in the form that the caller wants: two signed numbers, or text. */
export const uuidOf = (text: string, structured = false): UUID => {
  if (!structured) return new shared.UUID().setString(text);
  const hex = text.replaceAll('-', '');
  const half = (from: number): string => BigInt.asIntN(64, BigInt(`0x${hex.slice(from, from + 16)}`)).toString();
  return new shared.UUID().setStructured(
    new shared.UUID.Structured().setMostSignificantBits(half(0)).setLeastSignificantBits(half(16)),
  );
};

const timeIn = (metadata: string): Date => {
  try {
    const { at } = JSON.parse(metadata) as { readonly at: string };
    return Number.isNaN(Date.parse(at)) ? new Date(0) : new Date(at);
  } catch {
    // An event is shown whatever its metadata contain.
    return new Date(0);
  }
};

/**
 * The content of an event. Foreign events have the bytes that were sent, the platform's own have the texts of the log.
 */
const contentOf = (event: StoredEvent): Foreign =>
  unwrapForeign(event) ?? {
    data: Buffer.from(event.data),
    metadata: Buffer.from(event.metadata),
    contentType: 'application/json',
    created: timeIn(event.metadata),
  };

/**
 * An event as the answer to a read. Its position is sent as `commit` and as `prepare`. `created` counts units of 100
 * nanoseconds since 1970.
 */
export const eventAnswer = (event: StoredEvent, structured: boolean): ReadResp => {
  const { data, metadata, contentType, created } = contentOf(event);
  const position = String(event.position);
  const recorded = new streams.ReadResp.ReadEvent.RecordedEvent()
    .setId(uuidOf(event.id, structured))
    .setStreamIdentifier(streamIdentifier(event.stream))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(position)
    .setPreparePosition(position)
    .setCustomMetadata(metadata)
    .setData(data);
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('content-type', contentType)
    .set('created', String(BigInt(created.getTime()) * 10_000n));
  return new streams.ReadResp().setEvent(
    new streams.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(position),
  );
};

/** About how many bytes an event takes in an answer. */
export const sizeOf = ({ data, metadata }: StoredEvent): number => data.length + metadata.length;

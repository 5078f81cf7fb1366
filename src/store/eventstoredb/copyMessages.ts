import {
  type Foreign,
  isForeign,
  isText,
  tombstoneType,
  unwrapForeign,
  wrapForeign,
} from '@automation-platform/event-log';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams, { type AppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import { isOwnStream } from '../foreignEvents.ts';
import type { NewEvent, StoredEvent } from '../port.ts';
import type { Answer, Told } from './answer.ts';
import { Unreadable } from './errors.ts';
import { streamIdentifier } from './identifiers.ts';

const json = 'application/json';

const bytesOf = (event: NewEvent): Omit<Foreign, 'created'> =>
  unwrapForeign(event) ?? { data: Buffer.from(event.data), metadata: Buffer.from(event.metadata), contentType: json };

const proposed = (event: NewEvent): AppendReq => {
  const { data, metadata, contentType } = bytesOf(event);
  const message = new streams.AppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(event.id))
    .setData(data)
    .setCustomMetadata(metadata);
  message.getMetadataMap().set('type', event.type).set('content-type', contentType);
  return new streams.AppendReq().setProposedMessage(message);
};

/** The messages of an append: the options, then the events. `expected` is -1 for a stream that must not exist. */
export const appendRequests = (stream: string, expected: number, events: readonly NewEvent[]): readonly AppendReq[] => {
  const options = new streams.AppendReq.Options().setStreamIdentifier(streamIdentifier(stream));
  if (expected < 0) options.setNoStream(new shared.Empty());
  else options.setRevision(String(expected));
  return [new streams.AppendReq().setOptions(options), ...events.map(proposed)];
};

/**
 * The revision of the end of a stream. EventStoreDB gives it the largest 64-bit revision, which no number of JavaScript
 * holds.
 */
export const lastRevision = Number.MAX_SAFE_INTEGER;

const revisionOf = ({ revision, type }: Told): number => {
  const exact = Number(revision);
  if (Number.isSafeInteger(exact)) return exact;
  if (type === tombstoneType) return lastRevision;
  throw new Unreadable(`EventStoreDB's revision ${revision} is beyond 2^53`);
};

const storedEvent = (told: Told): StoredEvent => {
  const { type, stream, contentType, data, metadata, created } = told;
  const id = told.id.toLowerCase();
  const place = { stream, revision: revisionOf(told), position: Number(told.position) };
  if (isOwnStream(stream) && contentType === json && metadata.length > 0 && isText(data) && isText(metadata)) {
    const event = { ...place, id, type, data: data.toString(), metadata: metadata.toString() };
    // An event that looks like a wrapped one is wrapped again below. Otherwise it would be unwrapped to another event.
    if (!isForeign(event)) return event;
  }
  const time = new Date(Number(BigInt(created) / 10_000n));
  return { ...wrapForeign({ id, type, data, metadata, contentType, created: time }), ...place };
};

/**
 * The events in answers, as a log in a file stores them: the platform's own as texts, all others wrapped with their
 * bytes.
 */
export const eventsIn = (answers: readonly Answer[]): readonly StoredEvent[] =>
  answers
    .map(({ event }) => event)
    .filter((event) => event !== undefined)
    .map(storedEvent);

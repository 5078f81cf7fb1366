import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams, { type AppendReq, type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { Unreadable } from './eventstoredbErrors.ts';
import { type Foreign, isForeign, isText, unwrapForeign, wrapForeign } from './foreign.ts';
import { tombstoneType } from './grpc/foreignStream.ts';
import type { Filter, NewEvent, StoredEvent } from './port.ts';

const json = 'application/json';
// How many events the server looks at in one step.
const searchWindow = 1000;

const filterOf = (filter: Filter): ReadReq.Options.FilterOptions => {
  const types = new streams.ReadReq.Options.FilterOptions.Expression().setPrefixList([...filter]);
  return new streams.ReadReq.Options.FilterOptions().setEventType(types).setMax(searchWindow)
    .setCheckpointintervalmultiplier(1);
};

/** A read of everything from a position on, that event included; or of the newest event. */
export const readRequest = (from: number | 'newest', filter?: Filter): ReadReq => {
  const { AllOptions, Position, ReadDirection, UUIDOption } = streams.ReadReq.Options;
  const place = new AllOptions();
  if (from === 'newest') place.setEnd(new shared.Empty());
  else if (from === 0) place.setStart(new shared.Empty());
  else place.setPosition(new Position().setCommitPosition(String(from)).setPreparePosition(String(from)));
  const options = new streams.ReadReq.Options().setAll(place).setUuidOption(new UUIDOption().setString(new shared.Empty()));
  if (from === 'newest') options.setReadDirection(ReadDirection.BACKWARDS).setCount('1');
  else options.setReadDirection(ReadDirection.FORWARDS).setCount(String(Number.MAX_SAFE_INTEGER));
  if (filter) options.setFilter(filterOf(filter));
  else options.setNoFilter(new shared.Empty());
  return new streams.ReadReq().setOptions(options);
};

const bytesOf = (event: NewEvent): Omit<Foreign, 'created'> =>
  unwrapForeign(event) ?? { data: Buffer.from(event.data), metadata: Buffer.from(event.metadata), contentType: json };

const proposed = (event: NewEvent): AppendReq => {
  const { data, metadata, contentType } = bytesOf(event);
  const message = new streams.AppendReq.ProposedMessage().setId(new shared.UUID().setString(event.id))
    .setData(data).setCustomMetadata(metadata);
  message.getMetadataMap().set('type', event.type).set('content-type', contentType);
  return new streams.AppendReq().setProposedMessage(message);
};

/** An append: its options, then its events. `expected` is -1 for a stream that is not there. */
export const appendRequests = (stream: string, expected: number, events: readonly NewEvent[]): readonly AppendReq[] => {
  const identifier = new shared.StreamIdentifier().setStreamName(Buffer.from(stream));
  const options = new streams.AppendReq.Options().setStreamIdentifier(identifier);
  if (expected < 0) options.setNoStream(new shared.Empty());
  else options.setRevision(String(expected));
  return [new streams.AppendReq().setOptions(options), ...events.map(proposed)];
};

type Recorded = NonNullable<ReturnType<NonNullable<ReturnType<ReadResp['getEvent']>>['getEvent']>>;

/** Of the end of a stream: EventStoreDB gives it the largest revision that it has, which no number of JavaScript is. */
export const lastRevision = Number.MAX_SAFE_INTEGER;

const revisionOf = (recorded: Recorded, type: string): number => {
  const revision = Number(recorded.getStreamRevision());
  if (Number.isSafeInteger(revision)) return revision;
  if (type === tombstoneType) return lastRevision;
  throw new Unreadable(`EventStoreDB's revision ${recorded.getStreamRevision()} is beyond 2^53`);
};

const storedEvent = (recorded: Recorded, own: (stream: string) => boolean): StoredEvent => {
  const about = recorded.getMetadataMap();
  const [type, contentType] = [about.get('type') ?? '', about.get('content-type') ?? ''];
  const stream = Buffer.from(recorded.getStreamIdentifier()!.getStreamName_asU8()).toString();
  const [data, metadata] = [recorded.getData_asU8(), recorded.getCustomMetadata_asU8()];
  const place = { stream, revision: revisionOf(recorded, type), position: Number(recorded.getCommitPosition()) };
  const id = parseUUID(recorded.getId())!.toLowerCase();
  if (own(stream) && contentType === json && metadata.length > 0 && isText(data) && isText(metadata)) {
    const event = { ...place, id, type, data: Buffer.from(data).toString(), metadata: Buffer.from(metadata).toString() };
    // Else it would pass for one that is another event.
    if (!isForeign(event)) return event;
  }
  // In units of 100 nanoseconds.
  const created = new Date(Number(BigInt(about.get('created') ?? 0) / 10_000n));
  return { ...wrapForeign({ id, type, data, metadata, contentType, created }), ...place };
};

/** Events of answers, as a log in a file has them: the platform's own as texts, all others as the bytes that they are. */
export const eventsIn = (answers: readonly ReadResp[], own: (stream: string) => boolean): readonly StoredEvent[] => {
  const recorded = answers.map((answer) => answer.getEvent()?.getEvent()).filter((event) => event !== undefined);
  return recorded.map((event) => storedEvent(event, own));
};

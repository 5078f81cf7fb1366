import type { Readable } from 'node:stream';
import { BACKWARDS, convertToCommandError, END, StreamDeletedError, StreamNotFoundError } from '@eventstore/db-client';
import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streamsService, { type IStreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streams, { type AppendReq, type AppendResp, type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { Refusal } from '../domain/refusal.ts';
import type { CopyEnd } from './copyLog.ts';
import { openEventStoreDb } from './eventstoredb.ts';
import { arriving } from './eventstoredbArriving.ts';
import { type Connection, connections as connectionsTo, usualTimes, within } from './eventstoredbConnection.ts';
import { Unreadable } from './eventstoredbErrors.ts';
import { type Foreign, isForeign, isText, unwrapForeign, wrapForeign } from './foreign.ts';
import { tombstoneType } from './grpc/foreignStream.ts';
import { type Appended, type Batch, type Filter, type NewEvent, type StoredEvent, WrongRevision } from './port.ts';

type Options = { readonly url: string; readonly log: (message: string, about: Record<string, unknown>) => void; readonly own: (stream: string) => boolean };

/** The client's ways to make a call over its connection, with its credentials. */
type Calls = {
  GRPCStreamCreator(service: unknown, name: string, make: (client: IStreamsClient) => Readable): () => Promise<Readable & { cancel(): void }>;
  execute<T>(service: unknown, name: string, work: (client: IStreamsClient) => Promise<T>): Promise<T>;
  callArguments(options: object, call?: object): [Parameters<IStreamsClient['append']>[0], object];
};

// The client parses what it reads, and drops digits of numbers; these calls are its own but for that.
const callsOf = ({ client }: Connection): Calls => client as unknown as Calls; // not in its types

const json = 'application/json';
// How many events the server looks at before it says how far it is.
const searchWindow = 1000;

/** A read of everything from a position on, that event included; or of the newest event. */
const readRequest = (from: number | 'newest', filter?: Filter): ReadReq => {
  const options = new streams.ReadReq.Options();
  const place = new streams.ReadReq.Options.AllOptions();
  const { ReadDirection, FilterOptions, Position, UUIDOption } = streams.ReadReq.Options;
  if (from === 'newest') place.setEnd(new shared.Empty());
  else if (from === 0) place.setStart(new shared.Empty());
  else place.setPosition(new Position().setCommitPosition(String(from)).setPreparePosition(String(from)));
  options.setAll(place).setReadDirection(from === 'newest' ? ReadDirection.BACKWARDS : ReadDirection.FORWARDS)
    .setCount(String(from === 'newest' ? 1 : Number.MAX_SAFE_INTEGER)).setUuidOption(new UUIDOption().setString(new shared.Empty()));
  if (!filter) options.setNoFilter(new shared.Empty());
  else options.setFilter(new FilterOptions().setEventType(new FilterOptions.Expression().setPrefixList([...filter])).setMax(searchWindow).setCheckpointintervalmultiplier(1));
  return new streams.ReadReq().setOptions(options);
};

const bytesOf = (event: NewEvent): Omit<Foreign, 'created'> =>
  unwrapForeign(event) ?? { data: Buffer.from(event.data), metadata: Buffer.from(event.metadata), contentType: json };

const appendMessages = (stream: string, expected: number, events: readonly NewEvent[]): readonly AppendReq[] => {
  const options = new streams.AppendReq.Options().setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)));
  if (expected < 0) options.setNoStream(new shared.Empty());
  else options.setRevision(String(expected));
  return [new streams.AppendReq().setOptions(options), ...events.map((event) => {
    const { data, metadata, contentType } = bytesOf(event);
    const message = new streams.AppendReq.ProposedMessage().setId(new shared.UUID().setString(event.id)).setData(data).setCustomMetadata(metadata);
    message.getMetadataMap().set('type', event.type).set('content-type', contentType);
    return new streams.AppendReq().setProposedMessage(message);
  })];
};

type Recorded = ReturnType<NonNullable<ReturnType<ReadResp['getEvent']>>['getEvent']> & {};

// Of the end of a stream: EventStoreDB gives it the largest revision that it has, which no number of JavaScript is.
const lastRevision = Number.MAX_SAFE_INTEGER;

const revisionOf = (recorded: Recorded, type: string): number => {
  const revision = Number(recorded.getStreamRevision());
  if (Number.isSafeInteger(revision)) return revision;
  if (type === tombstoneType) return lastRevision;
  throw new Unreadable(`EventStoreDB's revision ${recorded.getStreamRevision()} is beyond 2^53`);
};

/** An event as a log in a file has it: the platform's own as its texts, all others as the bytes that they are. */
const storedEvent = (recorded: Recorded, own: (stream: string) => boolean): StoredEvent => {
  const about = recorded.getMetadataMap();
  const [type, contentType] = [about.get('type') ?? '', about.get('content-type') ?? ''];
  const stream = Buffer.from(recorded.getStreamIdentifier()!.getStreamName_asU8()).toString();
  const [data, metadata] = [recorded.getData_asU8(), recorded.getCustomMetadata_asU8()];
  const place = { stream, revision: revisionOf(recorded, type), position: Number(recorded.getCommitPosition()) };
  const id = parseUUID(recorded.getId())!.toLowerCase();
  if (own(stream) && contentType === json && metadata.length > 0 && isText(data) && isText(metadata)) {
    const event = { ...place, id, type, data: Buffer.from(data).toString(), metadata: Buffer.from(metadata).toString() };
    if (!isForeign(event)) return event;
  }
  // In units of 100 nanoseconds.
  const created = new Date(Number(BigInt(about.get('created') ?? 0) / 10_000n));
  return { ...wrapForeign({ id, type, data, metadata, contentType, created }), ...place };
};

/**
 * A log in EventStoreDB as one end of a copy: events come and go byte by byte, with their content types.
 */
export const openEventStoreDbToCopy = async ({ url, log, own }: Options): Promise<CopyEnd & { readonly id: string; close(): Promise<void> }> => {
  const store = await openEventStoreDb({ url, log });
  const connections = connectionsTo(url, usualTimes);
  const { answer } = connections.times;

  /** Work that is tried again as long as it may help. */
  const insist = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    for (const tries = connections.tries(); ; ) {
      const connection = connections.current();
      try { return await work(connection); } catch (error) { await tries.next(connection, convertToCommandError(error as Error)); }
    }
  };

  const reading = async function* (connection: Connection, request: ReadReq, patience?: number): AsyncGenerator<readonly StoredEvent[]> {
    const calls = callsOf(connection);
    const call = await calls.GRPCStreamCreator(streamsService.StreamsClient, 'copy', (client) => client.read(request, ...calls.callArguments({}, { deadline: Infinity })))();
    for await (const answers of arriving<ReadResp>(call, async () => call.cancel(), { gone: connection.gone, ...(patience && { patience }) })) {
      const recorded = answers.map((message) => message.getEvent()?.getEvent()).filter((event) => event !== undefined);
      if (recorded.length > 0) yield recorded.map((event) => storedEvent(event, own));
    }
  };

  const ended = new Map<string, Promise<boolean>>();
  const isEnded = (stream: string): Promise<boolean> => insist(async ({ client }) => {
    try {
      await within(answer, client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 }).toArray());
      log(`Left out: an event of the type ${tombstoneType} in stream ${stream}, which ends no stream`, {});
      return false;
    } catch (error) {
      if (error instanceof StreamNotFoundError) return false;
      if (error instanceof StreamDeletedError) return true;
      throw error;
    }
  });
  /** Whether an event is what it says: EventStoreDB lets anybody write one of the type that ends streams, and does nothing then. */
  const isTrue = ({ stream, type, revision }: StoredEvent): boolean | Promise<boolean> => {
    if (type !== tombstoneType || revision === lastRevision) return true;
    const known = ended.get(stream) ?? isEnded(stream);
    ended.set(stream, known);
    return known;
  };
  const trueOnes = async (events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> => {
    const found: StoredEvent[] = [];
    for (const event of events) if (await isTrue(event)) found.push(event);
    return found;
  };

  const head = (): Promise<number> => insist(async (connection) => {
    let position = 0;
    for await (const [event] of reading(connection, readRequest('newest'), answer)) position = event!.position;
    return position;
  });

  const readAll = async function* (after: number, filter?: Filter): AsyncGenerator<Batch> {
    const end = await head();
    let position = after;
    for (const tries = connections.tries(); position < end; ) {
      const connection = connections.current();
      try {
        // A server that looks for few events in many is silent meanwhile.
        for await (const events of reading(connection, readRequest(position, filter), filter ? undefined : answer)) {
          const news = events.filter((event) => event.position > position && event.position <= end);
          position = Math.max(position, events.at(-1)!.position);
          yield { events: news.some(({ type }) => type === tombstoneType) ? await trueOnes(news) : news, position: Math.min(position, end) };
          tries.progress();
          if (position >= end) return;
        }
        return;
      } catch (error) {
        await tries.next(connection, convertToCommandError(error as Error));
      }
    }
  };

  const appendOnce = async (connection: Connection, stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
    const calls = callsOf(connection);
    const response = await within(answer, calls.execute(streamsService.StreamsClient, 'copy', (client) => new Promise<AppendResp>((resolve, reject) => {
      const sink = client.append(...calls.callArguments({}), (error, appended) => (error ? reject(error) : resolve(appended)));
      for (const message of appendMessages(stream, expected, events)) sink.write(message);
      sink.end();
    })));
    const wrong = response.getWrongExpectedVersion();
    if (wrong) throw new WrongRevision(stream, expected, wrong.hasCurrentRevision() ? Number(wrong.getCurrentRevision()) : -1);
    return { revision: expected + events.length, position: Number(response.getSuccess()?.getPosition()?.getCommitPosition() ?? 0) };
  };

  const append = async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
    try {
      return await insist((connection) => appendOnce(connection, stream, expected, events));
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'too_large') || events.length === 1) throw error;
      // A server may be set to take less at once.
      const half = Math.ceil(events.length / 2);
      const { revision } = await append(stream, expected, events.slice(0, half));
      return append(stream, revision, events.slice(half));
    }
  };

  return {
    id: store.id,
    read: store.read, checkpoint: store.checkpoint, setCheckpoint: store.setCheckpoint,
    head, readAll, append,
    end: (stream) => insist(async ({ client }) => {
      await within(answer, client.tombstoneStream(stream)).catch((error: unknown) => { if (!(error instanceof StreamDeletedError)) throw error; });
    }),
    close: async () => {
      connections.close();
      await store.close();
    },
  };
};

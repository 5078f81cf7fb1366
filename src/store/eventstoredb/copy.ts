import type { Log } from '@automation-platform/concurrency';
import {
  type Foreign,
  isForeign,
  isText,
  tombstoneType,
  unwrapForeign,
  wrapForeign,
} from '@automation-platform/event-log';
import { StreamDeletedError } from '@eventstore/db-client';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { AppendReq, AppendResp, ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { RequestError } from '../../domain/engine/requestError.ts';
import { isOwnStream } from '../anyEvent.ts';
import type { CopyEnd } from '../moving/appends.ts';
import {
  type Appended,
  type Batch,
  type Filter,
  type NewEvent,
  type StoredEvent,
  TamperedStream,
  WrongRevision,
} from '../port.ts';
import type { Answer, Told } from './answer.ts';
import { arriving } from './arriving.ts';
import { type Connection, connections as connectionsTo, usualTimes } from './connection.ts';
import { toError, Unreadable } from './errors.ts';
import { streamIdentifier } from './events.ts';
import { within } from './patience.ts';
import { newestOfAll, newestOfStream, readOfAll } from './requests.ts';
import { openEventStoreDb } from './store.ts';

type Options = {
  readonly url: string;
  readonly log: Log;
};

type Opened = CopyEnd & { close(): Promise<void> };

// The most bytes that wait for the reader.
const ahead = 8 * 1024 * 1024;

/** Reads events from EventStoreDB. `late`: for how many milliseconds it may be silent. */
const reading = async function* (connection: Connection, request: ReadReq, late?: number) {
  const limits = { what: 'read $all', bytes: ahead };
  const patient = late === undefined ? limits : { ...limits, patience: { suspect: (late * 2) / 3, late } };
  for await (const answers of arriving(connection, () => connection.read(request), patient)) {
    const events = eventsIn(answers);
    if (events.length > 0) yield events;
  }
};

/** Appends events with their bytes unchanged, in one try. */
const appending = async (connection: Connection, ...append: Parameters<typeof appendRequests>): Promise<AppendResp> => {
  const { client, metadata, options } = await connection.calls(true);
  return new Promise((resolve, reject) => {
    const sink = client.append(metadata, options, (error, answer) => (error ? reject(error) : resolve(answer)));
    for (const request of appendRequests(...append)) sink.write(request);
    sink.end();
  });
};

const ending = async (connection: Connection, stream: string): Promise<void> => {
  const { client, metadata, options: call } = await connection.calls(true);
  const options = new streams.TombstoneReq.Options()
    .setStreamIdentifier(streamIdentifier(stream))
    .setAny(new shared.Empty());
  return new Promise((resolve, reject) => {
    client.tombstone(new streams.TombstoneReq().setOptions(options), metadata, call, (error) =>
      error ? reject(error) : resolve(),
    );
  });
};

/** The position of the last event of an append. Throws `WrongRevision`. */
const positionOf = (appended: streams.AppendResp, stream: string, expected: number): number => {
  const wrong = appended.getWrongExpectedVersion();
  if (wrong)
    throw new WrongRevision(stream, expected, wrong.hasCurrentRevision() ? Number(wrong.getCurrentRevision()) : -1);
  return Number(appended.getSuccess()?.getPosition()?.getCommitPosition() ?? 0);
};

/**
 * Opens a log in EventStoreDB as one end of a copy. Events are read and appended byte for byte, with their content
 * types.
 */
export const openEventStoreDbToCopy = async ({ url, log }: Options): Promise<Opened> => {
  const store = await openEventStoreDb({ url, log });
  const connections = connectionsTo(url, usualTimes, () => undefined); // the messages of `store` are enough
  const { answer } = connections.times;

  /** Tries the work again as long as that may help. */
  const retryUntilDone = async <T>(work: (connection: Connection) => Promise<T>): Promise<T> => {
    for (const tries = connections.tries('appends'); ; ) {
      const connection = connections.current();
      try {
        return await work(connection);
      } catch (error) {
        await tries.next(connection, toError(error, 'copy'));
      }
    }
  };

  const isEnded = (stream: string): Promise<boolean> =>
    retryUntilDone(async (connection) => {
      try {
        for await (const _ of reading(connection, newestOfStream(stream), answer)) break;
      } catch (error) {
        if (error instanceof StreamDeletedError) return true;
        throw error;
      }
      log(`left out: an event of the type ${tombstoneType} in stream ${stream}, which ends no stream`, {});
      return false;
    });

  const verdicts = new Map<string, boolean>();
  /**
   * Leaves out events that have the type of a stream's end but do not end a stream. EventStoreDB lets every client
   * append such events.
   */
  const trueOnes = async (events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> => {
    const found: StoredEvent[] = [];
    for (const event of events) {
      const { stream, type, revision } = event;
      const doubtful = type === tombstoneType && revision !== lastRevision;
      if (doubtful && !verdicts.has(stream)) verdicts.set(stream, await isEnded(stream));
      if (!doubtful || verdicts.get(stream)) found.push(event);
    }
    return found;
  };

  const head = (): Promise<number> =>
    retryUntilDone(async (connection) => {
      let position = 0;
      for await (const [event] of reading(connection, newestOfAll('everything'), answer))
        position = event?.position ?? position;
      return position;
    });

  const readAll = async function* (after: number, filter?: Filter): AsyncGenerator<Batch> {
    const end = await head();
    let position = after;
    // A server is silent while it searches a long part of the log for events of the filter.
    const patience = filter ? undefined : answer;
    for (const tries = connections.tries('reads'); position < end; ) {
      const connection = connections.current();
      try {
        for await (const events of reading(connection, readOfAll(position, filter ?? 'everything'), patience)) {
          const news = await trueOnes(events.filter((event) => event.position > position && event.position <= end));
          position = Math.max(position, events.at(-1)?.position ?? position);
          yield { events: news, position: Math.min(position, end) };
          tries.progress();
          if (position >= end) return;
        }
        return;
      } catch (error) {
        await tries.next(connection, toError(error, 'copy'));
      }
    }
  };

  const appendOnce = async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
    const appended = await retryUntilDone((connection) =>
      within(answer, appending(connection, stream, expected, events)),
    );
    return { revision: expected + events.length, position: positionOf(appended, stream, expected) };
  };

  const append = async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
    try {
      return await appendOnce(stream, expected, events);
    } catch (error) {
      if (!(error instanceof RequestError && error.code === 'too_large') || events.length === 1) throw error;
      // This server may have a lower limit for the bytes of an append.
      const half = Math.ceil(events.length / 2);
      const { revision } = await append(stream, expected, events.slice(0, half));
      return append(stream, revision, events.slice(half));
    }
  };

  const end = (stream: string): Promise<void> =>
    retryUntilDone(async (connection) => {
      try {
        await within(answer, ending(connection, stream));
      } catch (error) {
        if (!(toError(error, 'end a stream') instanceof StreamDeletedError)) throw error;
      }
    });

  const close = async (): Promise<void> => {
    connections.close();
    await store.close();
  };
  /** A deleted stream yields nothing. This is no error: the copy of its metadata says that it was deleted. */
  const read = async function* (stream: string, from?: number): AsyncGenerator<readonly StoredEvent[]> {
    try {
      yield* store.read(stream, from);
    } catch (error) {
      if (!(error instanceof TamperedStream)) throw error;
    }
  };
  const { id, checkpoint, checkpointsOf, setCheckpoint, removeCheckpoint } = store;
  const checkpoints = { checkpoint, checkpointsOf, setCheckpoint, removeCheckpoint };
  return { id, read, ...checkpoints, head, readAll, append, end, close };
};

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

const storedEvent = (recorded: Told): StoredEvent => {
  const { type, stream, contentType, data, metadata, created } = recorded;
  const id = recorded.id.toLowerCase();
  const place = { stream, revision: revisionOf(recorded), position: Number(recorded.position) };
  if (isOwnStream(stream) && contentType === json && metadata.length > 0 && isText(data) && isText(metadata)) {
    const event = { ...place, id, type, data: data.toString(), metadata: metadata.toString() };
    // An event that looks like a wrapped one is wrapped again below. Otherwise it would be unwrapped to another event.
    if (!isForeign(event)) return event;
  }
  const time = new Date(Number(BigInt(created) / 10_000n));
  return { ...wrapForeign({ id, type, data, metadata, contentType, created: time }), ...place };
};

/**
 * The events in answers, as a log in a file stores them: the platform's own as texts, all other ones wrapped with their
 * bytes.
 */
export const eventsIn = (answers: readonly Answer[]): readonly StoredEvent[] =>
  answers
    .map(({ event }) => event)
    .filter((event) => event !== undefined)
    .map(storedEvent);

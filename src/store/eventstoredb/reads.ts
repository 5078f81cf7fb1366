import { StreamDeletedError, UnknownError } from '@eventstore/db-client';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type Batch, type Filter, type StoredEvent, TamperedStream } from '../port.ts';
import type { Answer } from './answer.ts';
import { arriving } from './arriving.ts';
import type { Connection, Connections } from './connection.ts';
import { Denied } from './errors.ts';
import { isCountable, passes, toRevision, toStoredEvent } from './events.ts';
import { newestOfAll, newestOfStream, readOfAll, readOfStream } from './requests.ts';

const pageEvents = 256;
const pageLength = 1024 * 1024;

// The most bytes that wait for the reader.
const ahead = 4 * 1024 * 1024;
// Milliseconds for a search: EventStoreDB may read a long part of the log before it finds an event that passes a
// filter.
const searching = 60_000;

/** Joins the small pieces that arrive into pages. Pieces before a failure are a page too, so that they count as read. */
const pages = async function* (pieces: AsyncIterable<readonly StoredEvent[]>): AsyncGenerator<StoredEvent[]> {
  let page: StoredEvent[] = [];
  let length = 0;
  try {
    for await (const piece of pieces) {
      page.push(...piece);
      for (const { data, metadata } of piece) length += data.length + metadata.length;
      if (page.length < pageEvents && length < pageLength) continue;
      yield page;
      page = [];
      length = 0;
    }
  } catch (error) {
    if (page.length > 0) yield page;
    throw error;
  }
  if (page.length > 0) yield page;
};

/**
 * True if a stream may lack its first events: old checkpoints are removed, and the server removes events of its own
 * streams.
 */
const mayBeCut = (stream: string): boolean => stream.startsWith('checkpoint-') || stream.startsWith('$');

/** True if the metadata of a stream say that it was deleted. An append brings such a stream back. */
const saysDeleted = (metadata: StoredEvent | undefined): boolean => {
  try {
    const { $tb } = JSON.parse(metadata?.data ?? '{}') as { readonly $tb?: unknown };
    return typeof $tb === 'number' && $tb > Number.MAX_SAFE_INTEGER;
  } catch {
    return false;
  }
};

/**
 * Returns a function that converts the answers of a read from a revision on. It throws `TamperedStream` when an event
 * is missing.
 */
const unbroken = (stream: string, from: number) => {
  let next = from;
  const upTo = (revision: number): void => {
    if (revision > next && !mayBeCut(stream))
      throw new TamperedStream(stream, `goes on at revision ${revision}, where ${next} was to come`);
  };
  return (answers: readonly Answer[]): StoredEvent[] => {
    const events: StoredEvent[] = [];
    for (const { event: told, firstRevision, lastRevision } of answers) {
      if (told) {
        const event = toStoredEvent(told);
        upTo(event.revision);
        next = event.revision + 1;
        events.push(event);
      }
      if (firstRevision !== undefined) upTo(toRevision(firstRevision));
      if (lastRevision !== undefined) upTo(toRevision(lastRevision) + 1);
    }
    return events;
  };
};

type Asked = {
  /** The action for error messages. */
  readonly what: string;
  readonly isSearch?: boolean;
  readonly stop?: AbortSignal | undefined;
};

/** Which events to read from `$all`. */
type Range = {
  readonly after: number;
  readonly end: number;
  readonly filter?: Filter | undefined;
  readonly stop?: AbortSignal | undefined;
};

const whole: Asked = { what: 'read $all' };
const searched: Asked = { ...whole, isSearch: true };

/** Reads over the current connection. A read that breaks off is tried again over the next one. */
const askingOver = (connections: Connections) => {
  const { answer: late, ping } = connections.times;
  const patience = { suspect: late - ping, late };

  const retryUntilDone = async function* <T>(read: (connection: Connection) => AsyncIterable<T>): AsyncGenerator<T> {
    for (const tries = connections.tries('reads'); ; ) {
      const connection = connections.current();
      try {
        for await (const part of read(connection)) {
          connections.answered();
          yield part;
          tries.progress();
        }
        connections.answered();
        tries.progress();
        return;
      } catch (error) {
        await tries.next(connection, error);
      }
    }
  };

  const first = async (
    read: (connection: Connection) => AsyncIterable<StoredEvent | undefined>,
  ): Promise<StoredEvent | undefined> => {
    let found: StoredEvent | undefined;
    // The loop runs to the end, which is near. To leave it early would cancel the call.
    for await (const event of retryUntilDone(read)) found ??= event;
    return found;
  };

  const ask = (
    connection: Connection,
    request: ReadReq,
    { what, isSearch = false, stop }: Asked,
  ): AsyncGenerator<readonly Answer[]> =>
    arriving(connection, () => connection.read(request), {
      what,
      bytes: ahead,
      ...defined({ stop }),
      patience: isSearch ? { ...patience, late: Math.max(late, searching) } : patience,
    });

  /** Yields the event of a read that asks for one event. */
  const only = async function* (
    connection: Connection,
    request: ReadReq,
    asked: Asked,
  ): AsyncGenerator<StoredEvent | undefined> {
    for await (const [answer] of ask(connection, request, asked)) {
      yield answer?.event && toStoredEvent(answer.event);
    }
  };

  /** Yields the newest event of a stream. Yields nothing if the stream was deleted for ever. */
  const newestIn = async function* (connection: Connection, stream: string): AsyncGenerator<StoredEvent | undefined> {
    try {
      yield* only(connection, newestOfStream(stream), { what: `read stream ${stream}` });
    } catch (error) {
      if (!(error instanceof StreamDeletedError)) throw error;
    }
  };

  /** Events of `$all` from a position on, including the event there. */
  const allFrom = (connection: Connection, { after, filter, stop }: Range): AsyncGenerator<StoredEvent[]> => {
    const toEvent = ({ event }: Answer): StoredEvent | undefined =>
      event && passes(event, filter) && isCountable(event) ? toStoredEvent(event) : undefined;
    return pages(
      (async function* () {
        const request = readOfAll(after, filter ?? 'clients');
        for await (const answers of ask(connection, request, { ...searched, stop }))
          yield answers.map(toEvent).filter((event) => event !== undefined);
      })(),
    );
  };

  /** Events after a position up to another one, over one connection. Ends when the signal aborts. */
  const upTo = async function* (connection: Connection, range: Range): AsyncGenerator<Batch> {
    const { after, end, stop } = range;
    let position = after;
    if (position >= end) return;
    for await (const events of allFrom(connection, range)) {
      const news = events.filter((event) => event.position > position && event.position <= end);
      position = Math.max(position, Math.min(end, events.at(-1)?.position ?? position));
      yield { events: news, position };
      if (position >= end) return;
    }
    if (!stop?.aborted) yield { events: [], position: end };
  };

  /**
   * The events before a position that followers get, the newest first. The filter `clients` passes a few events of the
   * server's own streams, which are skipped here.
   */
  const followedBack = async function* (connection: Connection, until?: number): AsyncGenerator<StoredEvent[]> {
    for (let before = until; ; ) {
      let found = false;
      for await (const answers of ask(connection, newestOfAll('clients', 16, before), searched)) {
        const recordedEvents = answers.flatMap(({ event }) => event ?? []);
        const last = recordedEvents.at(-1);
        if (!last) continue;
        found = true;
        before = Number(last.position);
        const events = recordedEvents
          .filter((event) => passes(event, undefined) && isCountable(event))
          .map(toStoredEvent);
        if (events.length > 0) yield events;
      }
      if (!found) return;
    }
  };

  return { retryUntilDone, first, ask, only, newestIn, upTo, followedBack };
};

type Asking = ReturnType<typeof askingOver>;

/** Finds the newest event that followers without a filter get. */
const headFinder = ({ retryUntilDone, first, ask, followedBack }: Asking) => {
  /** The last result: the positions of the newest event of all, and of the newest one that followers get. */
  let positions = { newest: 0, followed: 0 };

  /** Position of the newest event that followers get; 0 if there is none. */
  const head = async (): Promise<number> => {
    let [newest, followed] = [0, 0];
    for await (const found of retryUntilDone(async function* (connection) {
      // Mostly the newest event of all is one that followers get. If not, EventStoreDB searches once for the newest
      // such event.
      for await (const [answer] of ask(connection, newestOfAll('everything'), whole)) {
        const recordedEvent = answer?.event;
        if (!recordedEvent) continue;
        newest = Number(recordedEvent.position);
        if (passes(recordedEvent, undefined) && isCountable(recordedEvent)) yield newest;
      }
    }))
      followed = found;
    if (followed === 0 && newest > 0) followed = newest === positions.newest ? positions.followed : await search();
    positions = { newest, followed };
    return followed;
  };

  const search = async (): Promise<number> =>
    (
      await first(async function* (connection) {
        for await (const [event] of followedBack(connection)) return yield event;
      })
    )?.position ?? 0;

  return head;
};

/**
 * Reads of the log. A read that breaks off continues at its position. Throws `RequestError('unavailable')` when nothing
 * has arrived for some seconds.
 */
export const eventStoreDbReads = (connections: Connections) => {
  const asking = askingOver(connections);
  const { retryUntilDone, first, ask, only, newestIn, upTo, followedBack } = asking;
  const head = headFinder(asking);

  /** Position of the newest event of all, including the server's own. */
  const newestPosition = async (): Promise<number> =>
    (await first((connection) => only(connection, newestOfAll('everything'), whole)))?.position ?? 0;

  /** The same over one connection, without another try. 0 also when the signal aborts. */
  const newestOver = async (connection: Connection, stop?: AbortSignal): Promise<number> => {
    let newest = 0;
    for await (const [answer] of ask(connection, newestOfAll('everything'), { ...whole, stop }))
      if (answer?.event) newest = Number(answer.event.position);
    return newest;
  };

  const isDeleted = async (stream: string): Promise<boolean> => {
    try {
      return saysDeleted(await reads.newest(`$$${stream}`));
    } catch (error) {
      // Without the right to read the metadata the stream counts as not deleted.
      if (error instanceof RequestError && error.cause instanceof Denied) return false;
      throw error;
    }
  };

  const reads = {
    head,
    /** The newest event of a stream. */
    newest: (stream: string): Promise<StoredEvent | undefined> => first((connection) => newestIn(connection, stream)),
    at: (position: number): Promise<StoredEvent | undefined> =>
      first(async function* (connection) {
        if (position <= 0) return;
        try {
          for await (const event of only(connection, readOfAll(position, 'everything', 1), whole))
            if (event?.position === position) yield event;
        } catch (error) {
          // EventStoreDB answers with this error for a position between events.
          if (!(error instanceof UnknownError)) throw error;
        }
      }),
    async *read(stream: string, from = 0): AsyncGenerator<readonly StoredEvent[]> {
      let next = from;
      let missing = false;
      yield* retryUntilDone(async function* (connection) {
        const take = unbroken(stream, next);
        const pieces = async function* (): AsyncGenerator<readonly StoredEvent[]> {
          for await (const answers of ask(connection, readOfStream(stream, next), { what: `read stream ${stream}` })) {
            if (answers.some(({ streamNotFound }) => streamNotFound)) missing = true;
            yield take(answers);
          }
        };
        try {
          for await (const events of pages(pieces())) {
            const last = events.at(-1);
            if (last) next = last.revision + 1;
            yield events;
          }
        } catch (error) {
          if (!(error instanceof StreamDeletedError)) throw error;
          throw new TamperedStream(stream, 'was deleted for ever');
        }
      });
      // A deleted stream and one that never existed give the same answer. The metadata show the difference.
      if (missing && !mayBeCut(stream) && (await isDeleted(stream))) throw new TamperedStream(stream, 'was deleted');
    },
    /** Everything before a position, the newest first, some at a time. */
    async *readAllBack(before: number): AsyncGenerator<readonly StoredEvent[]> {
      let next = Number.isFinite(before) ? before : undefined;
      yield* retryUntilDone(async function* (connection) {
        for await (const events of followedBack(connection, next)) {
          yield events;
          next = events.at(-1)?.position;
        }
      });
    },
    readAll(after: number, filter?: Filter): AsyncGenerator<Batch> {
      const until = filter ? newestPosition() : head();
      until.catch(() => undefined); // the iteration below throws the error
      let position = after;
      return retryUntilDone(async function* (connection) {
        for await (const batch of upTo(connection, { after: position, end: await until, filter })) {
          position = batch.position;
          yield batch;
        }
      });
    },
    newestOver,
    upTo,
  };
  return reads;
};

export type EventStoreDbReads = ReturnType<typeof eventStoreDbReads>;

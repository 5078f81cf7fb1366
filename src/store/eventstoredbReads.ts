import { type AllStreamResolvedEvent, BACKWARDS, END, type ResolvedEvent, StreamNotFoundError, UnknownError } from '@eventstore/db-client';
import { arriving } from './eventstoredbArriving.ts';
import type { Connection, Connections } from './eventstoredbConnection.ts';
import { fromPosition, toStoredEvent } from './eventstoredbEvents.ts';
import type { Batch, Filter, StoredEvent } from './port.ts';

const pageEvents = 256;
const pageLength = 1024 * 1024;

/** Events that wait to be taken, at most. */
export const buffered = { highWaterMark: 128 };

const toEvents = (resolved: readonly (ResolvedEvent | AllStreamResolvedEvent)[]): StoredEvent[] =>
  resolved.map(toStoredEvent).filter((event) => event !== undefined);

/** Pages of some size out of what arrives in small pieces. */
const pages = async function* (pieces: AsyncIterable<readonly (ResolvedEvent | AllStreamResolvedEvent)[]>): AsyncGenerator<StoredEvent[]> {
  let page: StoredEvent[] = [];
  let length = 0;
  for await (const piece of pieces) {
    const events = toEvents(piece);
    page.push(...events);
    for (const { data, metadata } of events) length += data.length + metadata.length;
    if (page.length < pageEvents && length < pageLength) continue;
    yield page;
    page = [];
    length = 0;
  }
  if (page.length > 0) yield page;
};

const passes = (filter: Filter | undefined) => ({ type }: StoredEvent): boolean => !filter || filter.some((prefix) => type.startsWith(prefix));

/** Reads of the log. One that breaks off goes on where it was, until nothing has come for some seconds: `Refusal('unavailable')`. */
export const eventStoreDbReads = (connections: Connections) => {
  const patience = connections.times.answer;

  const insist = async function* <T>(read: (connection: Connection) => AsyncIterable<T>): AsyncGenerator<T> {
    for (const tries = connections.tries(); ; ) {
      const connection = connections.current();
      try {
        for await (const part of read(connection)) {
          connections.answered();
          yield part;
          tries.progress();
        }
        connections.answered();
        return;
      } catch (error) {
        await tries.next(connection, error);
      }
    }
  };

  const first = async (read: (connection: Connection) => AsyncIterable<StoredEvent | undefined>): Promise<StoredEvent | undefined> => {
    let found: StoredEvent | undefined;
    // To its end, which is near: a call that is left is cancelled.
    for await (const event of insist(read)) found ??= event;
    return found;
  };

  /** Parts of `$all` from a position on, that event included. */
  const allFrom = async function* ({ client, gone }: Connection, position: number, maxCount?: number): AsyncGenerator<StoredEvent[]> {
    const reading = client.readAll({ fromPosition: fromPosition(position), ...(maxCount && { maxCount }) }, buffered);
    yield* pages(arriving<AllStreamResolvedEvent>(reading, () => reading.cancel(), { gone, patience }));
  };

  const newestOf = async function* ({ client, gone }: Connection, stream?: string): AsyncGenerator<StoredEvent | undefined> {
    const last = { direction: BACKWARDS, maxCount: 1 } as const;
    const reading = stream === undefined ? client.readAll({ ...last, fromPosition: END }) : client.readStream(stream, { ...last, fromRevision: END });
    try {
      for await (const part of arriving<ResolvedEvent | AllStreamResolvedEvent>(reading, () => reading.cancel(), { gone, patience })) yield toEvents(part)[0];
    } catch (error) {
      if (!(error instanceof StreamNotFoundError)) throw error;
    }
  };

  const head = async (): Promise<number> => (await first(newestOf))?.position ?? 0;

  return {
    head,
    /** The newest event of a stream. */
    newest: (stream: string): Promise<StoredEvent | undefined> => first((connection) => newestOf(connection, stream)),
    at: (position: number): Promise<StoredEvent | undefined> => first(async function* (connection) {
      if (position <= 0) return;
      try {
        for await (const [event] of allFrom(connection, position, 1)) if (event?.position === position) yield event;
      } catch (error) {
        // Positions between events are none of its positions.
        if (!(error instanceof UnknownError)) throw error;
      }
    }),
    read(stream: string, from = 0): AsyncGenerator<readonly StoredEvent[]> {
      let next = from;
      return insist(async function* ({ client, gone }) {
        const reading = client.readStream(stream, { fromRevision: BigInt(next) }, buffered);
        try {
          for await (const events of pages(arriving<ResolvedEvent>(reading, () => reading.cancel(), { gone, patience }))) {
            next = events.at(-1)!.revision + 1;
            yield events;
          }
        } catch (error) {
          if (!(error instanceof StreamNotFoundError)) throw error;
        }
      });
    },
    readAll(after: number, filter?: Filter): AsyncGenerator<Batch> {
      const until = head();
      until.catch(() => undefined); // told to whoever iterates
      let position = after;
      return insist(async function* (connection) {
        const end = await until;
        if (position >= end) return;
        for await (const events of allFrom(connection, position)) {
          const news = events.filter((event) => event.position > position && event.position <= end);
          position = Math.max(position, Math.min(end, events.at(-1)!.position));
          yield { events: news.filter(passes(filter)), position };
          if (position >= end) return;
        }
      });
    },
  };
};

export type EventStoreDbReads = ReturnType<typeof eventStoreDbReads>;

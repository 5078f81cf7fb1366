import { LRUCache } from 'lru-cache';
import type { Aggregate } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { BadEvent, decode, type Recorded } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { TamperedStreams } from '../../store/tampered.ts';
import { type End, type LoadedStream, loading } from './loaded.ts';

const maxBytes = 64 * 1024 * 1024;
const streamBytes = 500;

/**
 * Loads streams as states and documents, and caches them. `refresh` reads the events that a cached stream lacks. A
 * tampered stream is not served from the cache: each attempt to load it reads it again, and fails as long as it is
 * tampered.
 */
export const streams = (
  store: EventStore,
  aggregates: readonly Aggregate[],
  projections: readonly Projection[],
  tampered: Pick<TamperedStreams, 'has'> = { has: () => false },
) => {
  const { kindOf, nothing, extend } = loading(aggregates, projections);
  const cache = new LRUCache<string, LoadedStream>({
    maxSize: maxBytes,
    // A stream counts as half of the cache at most, so that even the longest is kept. To read such a stream anew for
    // every command would cost more than the memory above the limit.
    sizeCalculation: ({ dataBytes, keys }) => Math.min(streamBytes + dataBytes + keys.bytes(), maxBytes / 2),
  });

  const cachedStream = (stream: string): LoadedStream | undefined =>
    tampered.has(stream) ? undefined : cache.get(stream);

  /** Caches the stream with its new stored events. */
  const keep = (stream: string, loaded: LoadedStream, events: readonly Recorded[], bytes: number): LoadedStream => {
    loaded.keys.remember(events);
    loaded.dataBytes = (cache.peek(stream)?.dataBytes ?? 0) + bytes;
    cache.set(stream, loaded);
    return loaded;
  };

  /**
   * The stream with further events of the store. `whole`: no later events are left out, so the result may be cached.
   */
  const withStored = (
    stream: string,
    loaded: LoadedStream,
    stored: readonly StoredEvent[],
    whole: boolean,
  ): LoadedStream => {
    const events = stored.map(decode);
    const grown = extend(stream, loaded, events);
    if (!whole) return grown;
    const bytes = stored.reduce((sum, { data }) => sum + data.length, 0);
    return keep(stream, grown, events, bytes);
  };

  /** Like `withStored`. If an event cannot be read or folded, it finds that event and throws an error that names it. */
  const withReadable = (
    stream: string,
    loaded: LoadedStream,
    stored: readonly StoredEvent[],
    whole: boolean,
  ): LoadedStream => {
    try {
      return withStored(stream, loaded, stored, whole);
    } catch (error) {
      let before = loaded;
      for (const event of stored) {
        try {
          before = withStored(stream, before, [event], false);
        } catch (cause) {
          throw unusable(event, cause);
        }
      }
      throw error;
    }
  };

  const readOn = async (stream: string, from: LoadedStream, to = Infinity): Promise<LoadedStream> => {
    let loaded = from;
    for await (const events of store.read(stream, from.revision + 1)) {
      const eventsUpTo = events.filter(({ revision }) => revision <= to);
      loaded = withReadable(stream, loaded, eventsUpTo, to === Infinity);
      if (eventsUpTo.length < events.length) break;
    }
    return loaded;
  };

  /** The stream as the store has it now. */
  const refresh = (stream: string): Promise<LoadedStream> => readOn(stream, cachedStream(stream) ?? nothing(stream));

  return {
    extend,
    /** A stream before its first event. Nothing is read: if there are events, an append to it fails. */
    nothing,
    keep,
    /** The present end of a stream, even if the stream cannot be folded. */
    end: async (stream: string): Promise<End> => {
      try {
        return await refresh(stream);
      } catch (error) {
        if (!(error instanceof RequestError && error.code === 'internal')) throw error;
        const last = await lastOf(store, stream);
        return { revision: last?.revision ?? -1, hash: last ? hashOf(last) : '' };
      }
    },
    /** The stream as this node last saw it. It may be stale: then an append at its revision fails. */
    load: (stream: string): LoadedStream | Promise<LoadedStream> =>
      cachedStream(stream) ?? readOn(stream, nothing(stream)),
    refresh,
    /** The stream just after a revision; -1: before its first event. */
    asOf: (stream: string, revision: number): Promise<LoadedStream> =>
      revision < 0 ? Promise.resolve(nothing(stream)) : readOn(stream, nothing(stream), revision),
    /** The events from the first to the last revision, both included. */
    events: async (stream: string, first: number, last: number): Promise<readonly Recorded[]> => {
      const found: Recorded[] = [];
      for await (const events of store.read(stream, first)) {
        for (const event of events) if (event.revision <= last) found.push(decoded(event));
        const end = events.at(-1);
        if (end && end.revision >= last) break;
      }
      return found;
    },
    forget: (stream: string): void => void cache.delete(stream),
    kindOf,
  };
};

export type Streams = ReturnType<typeof streams>;

const lastOf = async (store: EventStore, stream: string): Promise<StoredEvent | undefined> => {
  let last: StoredEvent | undefined;
  for await (const events of store.read(stream)) last = events.at(-1) ?? last;
  return last;
};

/** The error when an event of a stream cannot be used. */
const unusable = ({ stream, revision }: StoredEvent, cause: unknown): RequestError =>
  new RequestError(
    'internal',
    cause instanceof BadEvent ? cause.message : `Event ${revision} of ${stream} cannot be folded`,
    { cause },
  );

/** The hash of the last event, which the next event is linked to; empty if it cannot be read. */
const hashOf = (event: StoredEvent): string => {
  try {
    return decode({ ...event, data: 'null' }).metadata.hash ?? '';
  } catch {
    return '';
  }
};

const decoded = (event: StoredEvent): Recorded => {
  try {
    return decode(event);
  } catch (error) {
    throw unusable(event, error);
  }
};

import { setTimeout as pause } from 'node:timers/promises';
import type { Batch, StoredEvent } from '../port.ts';
import type { Answer } from './answer.ts';
import { arriving } from './arriving.ts';
import type { Connection, Connections } from './connection.ts';
import { finalError, NoConnection, Silence, Unreadable } from './errors.ts';
import { isCountable, passes, toStoredEvent } from './events.ts';
import type { EventStoreDbReads } from './reads.ts';
import { subscriptionToAll } from './requests.ts';

// The longest pauses between two attempts, in milliseconds: usually, and when EventStoreDB refuses them.
const longestWait = 500;
const longestRefused = 2000;
// The most bytes of the newest events that are kept for followers.
const most = 8 * 1024 * 1024;
// EventStoreDB sends the events of a subscription one by one. In a burst it falls seconds behind with that, and ends the
// subscription in the end, while a read of the same events takes a fraction of the time. So a tail that is `far` behind
// ends its subscription and reads, at intervals, until less than `near` comes in one. In positions, which are bytes.
const near = 16 * 1024;
const far = 64 * 1024;
const readEvery = 50;
// After this number of events the tail looks whether the subscription keeps up.
const lookEvery = 64;
// The most bytes that wait to be taken. They are taken at once.
const ahead = 32 * 1024 * 1024;

/**
 * Yields the batches of an attempt over the current connection. When the attempt ends or fails, the next one begins
 * after a pause, until the signal aborts. `lastPosition` says how far the batches have been taken. Throws `Unreadable`.
 */
export const attempts = async function* (
  connections: Connections,
  lastPosition: () => number,
  stop: AbortSignal,
  attempt: (connection: Connection) => AsyncGenerator<Batch>,
): AsyncGenerator<Batch> {
  for (let failures = 0; !stop.aborted; failures++) {
    const connection = connections.current();
    const before = lastPosition();
    let error: unknown;
    try {
      yield* attempt(connection);
    } catch (failure) {
      error = failure;
    }
    if (error instanceof Unreadable) throw error;
    if (lastPosition() > before) failures = 0;
    if (error !== undefined) {
      connections.failed(connection, error);
      // The connection logs its own faults.
      const isToldThere = connection.gone.aborted || error instanceof Silence || error instanceof NoConnection;
      const about = { position: lastPosition(), reason: connections.explain(error) };
      if (!isToldThere) connections.tell('Following EventStoreDB was interrupted', about);
    }
    const longest = finalError(error) ? longestRefused : longestWait;
    if (!stop.aborted)
      await pause(Math.min(50 * 2 ** failures, longest), undefined, { signal: stop }).catch(() => undefined);
  }
};

/** The position of the checkpoint in an answer; 0 if there is none that can be used. */
const reachedIn = ({ checkpoint }: Answer): number => {
  const { commit, prepare } = checkpoint ?? {};
  return commit === prepare && Number.isSafeInteger(Number(commit)) ? Number(commit) : 0;
};

type Reads = Pick<EventStoreDbReads, 'newestOver' | 'upTo'>;

const sizeOf = ({ events }: Batch): number =>
  events.reduce((sum, { data, metadata }) => sum + 200 + data.length + metadata.length, 200);

/** Batches that come after each other, limited in bytes: the oldest ones are dropped. */
const keptBatches = () => {
  const batches: Batch[] = [];
  let bytes = 0;
  // How many batches came before those that are kept.
  let dropped = 0;
  // All events after this position are kept.
  let start: number | undefined;
  return {
    begun: () => start !== undefined,
    begin: (position: number): void => {
      start = position;
    },
    add: (batch: Batch): void => {
      batches.push(batch);
      bytes += sizeOf(batch);
      let count = 0;
      for (const oldest of batches) {
        if (bytes <= most || oldest === batch) break;
        bytes -= sizeOf(oldest);
        start = oldest.position;
        count++;
      }
      batches.splice(0, count);
      dropped += count;
    },
    /** The number of the first batch after a position; undefined if events after it are not kept. */
    next: (after: number): number | undefined => {
      if (start === undefined || after < start) return undefined;
      const index = batches.findIndex(({ position }) => position > after);
      return dropped + (index < 0 ? batches.length : index);
    },
    /** The batches from a number on; undefined if that one is no longer kept. */
    from: (next: number): readonly Batch[] | undefined => (next < dropped ? undefined : batches.slice(next - dropped)),
  };
};

/**
 * The newest events of the log, as one subscription brings them. All followers near the end of the log share it: each
 * event is sent and parsed once, however many they are. When the subscription ends, breaks or falls silent, a new one
 * continues at the same position.
 */
export const beginTail = (connections: Connections, { newestOver, upTo }: Reads) => {
  const stop = new AbortController();
  const wakers = new Set<() => void>();
  const batchCache = keptBatches();
  let position = 0;
  let failure: unknown;
  let subscription: { readonly renew: () => void } | undefined;

  const wake = (): void => {
    for (const waker of wakers) waker();
  };

  // An event at or before the last one is a repetition. Checkpoints do not count here, so a checkpoint never suppresses
  // an event.
  let last = 0;
  const batchOf = (answers: readonly Answer[]): Batch => {
    const events: StoredEvent[] = [];
    let lastPosition = position;
    for (const answer of answers) {
      const recordedEvent = answer.event;
      if (recordedEvent && passes(recordedEvent, undefined) && isCountable(recordedEvent)) {
        const event = toStoredEvent(recordedEvent);
        if (event.position > last) {
          events.push(event);
          last = event.position;
        }
      }
      lastPosition = Math.max(lastPosition, last, reachedIn(answer));
    }
    return { events, position: lastPosition };
  };

  /** Reads while much is there to be read. */
  const read = async function* (connection: Connection): AsyncGenerator<Batch> {
    for (;;) {
      const end = await newestOver(connection, stop.signal);
      if (!batchCache.begun()) {
        batchCache.begin(end);
        position = end;
        wake();
      }
      if (end - position <= near) return;
      yield* upTo(connection, { after: position, end, stop: stop.signal });
      await pause(readEvery, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };

  const subscribe = async function* (connection: Connection): AsyncGenerator<Batch> {
    if (stop.signal.aborted) return;
    const end = new AbortController();
    const renew = (): void => end.abort();
    subscription = { renew };
    stop.signal.addEventListener('abort', renew);
    last = position;
    let unlooked = 0;
    const look = (count: number): void => {
      unlooked += count;
      if (unlooked < lookEvery) return;
      unlooked = -Infinity;
      newestOver(connection, end.signal).then(
        (newest) => {
          unlooked = 0;
          if (newest - position > far) renew();
        },
        () => {
          unlooked = 0;
        },
      );
    };
    const open = () => connection.read(subscriptionToAll(last));
    try {
      for await (const answers of arriving(connection, open, { what: 'read $all', bytes: ahead, stop: end.signal })) {
        const batch = batchOf(answers);
        look(batch.events.length);
        if (batch.position > position || batch.events.length > 0) yield batch;
      }
    } finally {
      end.abort();
      subscription = undefined;
      stop.signal.removeEventListener('abort', renew);
    }
  };

  const follow = async function* (connection: Connection): AsyncGenerator<Batch> {
    yield* read(connection);
    yield* subscribe(connection);
  };

  const run = async (): Promise<void> => {
    for await (const batch of attempts(connections, () => position, stop.signal, follow)) {
      position = batch.position;
      batchCache.add(batch);
      wake();
    }
  };
  run().catch((error: unknown) => {
    failure = error;
    wake();
  });

  /** Resolves when the tail has changed, or the signal has aborted. */
  const changed = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const finish = (): void => {
        wakers.delete(finish);
        signal.removeEventListener('abort', finish);
        resolve();
      };
      wakers.add(finish);
      signal.addEventListener('abort', finish);
    });

  return {
    /** Resolves when the tail has a beginning, or the signal has aborted. */
    begun: async (signal: AbortSignal): Promise<void> => {
      while (!batchCache.begun() && failure === undefined && !signal.aborted) await changed(signal);
      if (failure !== undefined) throw failure;
    },
    /** True if all events after a position are kept, or will come. */
    holds: (after: number): boolean => batchCache.next(after) !== undefined,
    /**
     * Yields the events after a position, then new ones, until the signal aborts. Ends also when the taker is so slow
     * that events are no longer kept.
     */
    take: async function* (after: number, signal: AbortSignal): AsyncGenerator<Batch> {
      for (let next = batchCache.next(after); next !== undefined && !signal.aborted; ) {
        const news = batchCache.from(next);
        const last = news?.at(-1);
        if (!news) return;
        if (last) {
          next += news.length;
          const events = news.flatMap((batch) => batch.events).filter((event) => event.position > after);
          yield { events, position: last.position };
        } else {
          if (failure !== undefined) throw failure;
          await changed(signal);
        }
      }
    },
    /** Position of the last event or checkpoint, and the subscription under way. */
    state: () => ({ position, subscription }),
    end: (): void => stop.abort(),
  };
};

export type Tail = ReturnType<typeof beginTail>;

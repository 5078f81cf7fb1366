import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '@automation-platform/concurrency';
import { StreamDeletedError } from '@eventstore/db-client';
import { RequestError } from '../../domain/engine/requestError.ts';
import { ensureIdentity } from '../identity.ts';
import {
  type Appended,
  checkSize,
  type EventStore,
  type NewEvent,
  type StoredEvent,
  TamperedStream,
  WrongRevision,
} from '../port.ts';
import { eventStoreDbCheckpoints } from './checkpoints.ts';
import {
  type Connection,
  type Connections,
  connections as connectionsTo,
  restMs,
  type Times,
  usualTimes,
} from './connection.ts';
import { closed, isSlow, TryAgain } from './errors.ts';
import { eventStoreDbFollowers, eventStoreDbWatch } from './follow.ts';
import { eventStoreDbLead, type LeadNotes } from './lead.ts';
import { type EventStoreDbReads, eventStoreDbReads } from './reads.ts';

/**
 * Appends that are stored once, even when an answer is lost. When the outcome is unknown, the append is tried again
 * with the same ids at the same revision, for some seconds.
 */
const eventStoreDbAppends = (connections: Connections, reads: EventStoreDbReads) => {
  const under = new Set<Promise<Appended>>();
  let closing = false;

  const storedFrom = async (stream: string, revision: number, count: number): Promise<StoredEvent[]> => {
    const stored: StoredEvent[] = [];
    for await (const events of reads.read(stream, revision)) {
      stored.push(...events);
      if (stored.length >= count) break;
    }
    return stored.slice(0, count);
  };

  /**
   * The outcome of an append that was refused because of another revision. An earlier try may have stored its events.
   */
  const findOut = async (
    stream: string,
    expected: number,
    events: readonly NewEvent[],
    wrong: WrongRevision,
  ): Promise<Appended> => {
    const stored = await storedFrom(stream, expected + 1, events.length);
    const isStored = stored.length === events.length && stored.every(({ id }, n) => id === events[n]?.id.toLowerCase());
    const last = stored.at(-1);
    if (isStored && last) return { revision: expected + events.length, position: last.position };
    // The refusal counts events that this node has written. Reads show them only when other nodes have them as well.
    if (stored.length < Math.min(events.length, wrong.actual - expected))
      throw new TryAgain('The node refuses on events that it does not show yet');
    throw wrong;
  };

  const tryOnce = async (
    connection: Connection,
    stream: string,
    expected: number,
    events: readonly NewEvent[],
  ): Promise<Appended> => {
    const { revision, position } = await connection.append(stream, expected, events);
    connections.answered();
    if (revision !== expected + events.length)
      throw new TamperedStream(stream, `took events after revision ${expected} in at ${revision}: it had been deleted`);
    // The answer has one position. For several events it is not clear whose position this is.
    const knownPosition = events.length === 1 ? position : 0;
    return { revision, position: knownPosition || (await positionAt(stream, revision)) };
  };

  const positionAt = async (stream: string, revision: number): Promise<number> => {
    const [stored] = await storedFrom(stream, revision, 1);
    if (!stored) throw new TryAgain('The node does not show yet what it has stored');
    return stored.position;
  };

  const store = async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
    for (const tries = connections.tries('appends'); ; ) {
      const connection = connections.current();
      try {
        const appended = await tryOnce(connection, stream, expected, events).catch((error: unknown) => {
          if (error instanceof StreamDeletedError) throw new TamperedStream(stream, 'was deleted for ever');
          if (!(error instanceof WrongRevision)) throw error;
          return findOut(stream, expected, events, error);
        });
        tries.progress();
        return appended;
      } catch (error) {
        await tries.next(connection, error);
      }
    }
  };

  return {
    append: async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
      checkSize(events);
      if (closing) throw closed();
      const storing = store(stream, expected, events);
      under.add(storing);
      try {
        return await storing;
      } finally {
        under.delete(storing);
      }
    },
    /** Refuses later appends, and waits for the appends under way. */
    close: async (): Promise<void> => {
      closing = true;
      await Promise.allSettled(under);
    },
  };
};

type EventStoreDbAppends = ReturnType<typeof eventStoreDbAppends>;

/** The event store in EventStoreDB, version 22.10 or later. */
export type EventStoreDb = EventStore & {
  /**
   * How far the slowest follower was behind the head at the last check, in positions. A position of EventStoreDB is an
   * offset in bytes.
   */
  lag(): number;
  /** True if the log is that of a process of the platform, which leads. */
  serverLeads(): boolean;
  /** The leader, as the log has it. */
  readonly lead: LeadNotes;
  /** Everything before a position, the newest first, some at a time. */
  readAllBack: EventStoreDbReads['readAllBack'];
};

type Options = {
  readonly url: string;
  readonly log: Log;
  readonly times?: Partial<Times>;
  /** Until it aborts, a server that answers slowly is waited for. Without it, for about 10 seconds. */
  readonly waits?: AbortSignal;
};

/** Returns the log's id. Throws when the user lacks a right that the service needs. */
const begin = async ({ head, read }: EventStoreDbReads, { append }: EventStoreDbAppends): Promise<string> => {
  await head();
  return ensureIdentity({ read, append });
};

/** Does the work again while the server answers slowly. Each try has its own limit. */
const whileSlow = async <T>(waits: AbortSignal | undefined, work: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!waits || !isSlow(error)) throw error;
      await pause(restMs, undefined, { signal: waits }).catch(() => undefined);
      if (waits.aborted) throw error;
    }
  }
};

/**
 * Connects to EventStoreDB (`esdb://` or `esdb+discover://`, with user, password and options as in its client). Throws
 * `RequestError('unavailable')` when there is no connection within about 10 seconds (see `waits`), and another Error when the URL is
 * wrong. Neither errors nor log lines contain the password.
 */
export const openEventStoreDb = async ({ url, log, times, waits }: Options): Promise<EventStoreDb> => {
  const connections = connectionsTo(url, { ...usualTimes, ...times }, log);
  const reads = eventStoreDbReads(connections);
  const appends = eventStoreDbAppends(connections, reads);
  const followers = eventStoreDbFollowers(connections, reads);
  const checkpoints = eventStoreDbCheckpoints(reads, appends.append);
  let closing: Promise<void> | undefined;
  const open = (): void => {
    if (closing) throw closed();
  };

  const id = await whileSlow(waits, () => begin(reads, appends)).catch((error: unknown) => {
    connections.close();
    if (!(error instanceof RequestError)) throw error;
    throw new RequestError(error.code, `No connection to ${connections.shown}: ${connections.explain(error)}`, {
      cause: error,
    });
  });
  const watch = eventStoreDbWatch(connections, reads, followers);

  const close = async (): Promise<void> => {
    followers.close();
    await appends.close();
    const watched = watch.close();
    connections.close();
    await watched;
  };

  return {
    id,
    append: appends.append,
    read: reads.read,
    readAll: reads.readAll,
    readAllBack: reads.readAllBack,
    follow: followers.follow,
    at: async (position) => {
      open();
      return reads.at(position);
    },
    head: async () => {
      open();
      return reads.head();
    },
    checkpoint: async (name) => {
      open();
      return checkpoints.checkpoint(name);
    },
    checkpointsOf: async (reader) => {
      open();
      return checkpoints.checkpointsOf(reader);
    },
    setCheckpoint: async (name, position) => {
      open();
      return checkpoints.setCheckpoint(name, position);
    },
    removeCheckpoint: async (name) => {
      open();
      return checkpoints.removeCheckpoint(name);
    },
    takeCheckpoint: async (name) => {
      open();
      return checkpoints.takeCheckpoint(name);
    },
    keepCheckpoint: async (name, position) => {
      open();
      return checkpoints.keepCheckpoint(name, position);
    },
    // No fault is permanent, because EventStoreDB may come back.
    fault: () => undefined,
    connected: connections.up,
    lag: watch.lag,
    serverLeads: connections.leads,
    lead: eventStoreDbLead(reads, appends.append),
    close: () => (closing ??= close()),
  };
};

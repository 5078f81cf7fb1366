import { StreamDeletedError } from '@eventstore/db-client';
import { type Appended, checkSize, type NewEvent, type StoredEvent, TamperedStream, WrongRevision } from '../port.ts';
import type { Connection, Connections } from './connection.ts';
import { closed, TryAgain } from './errors.ts';
import type { EventStoreDbReads } from './reads.ts';

/**
 * Appends that are stored once, even when an answer is lost. When the outcome is unknown, the append is tried again
 * with the same ids at the same revision, for some seconds.
 */
export const eventStoreDbAppends = (connections: Connections, reads: EventStoreDbReads) => {
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
  const settled = async (
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
    const known = events.length === 1 ? position : 0;
    return { revision, position: known || (await positionAt(stream, revision)) };
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
          return settled(stream, expected, events, error);
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

export type EventStoreDbAppends = ReturnType<typeof eventStoreDbAppends>;

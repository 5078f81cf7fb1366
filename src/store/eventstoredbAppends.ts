import { WrongExpectedVersionError } from '@eventstore/db-client';
import { type Connection, type Connections, within } from './eventstoredbConnection.ts';
import { closed, Silence } from './eventstoredbErrors.ts';
import { toRevision } from './eventstoredbEvents.ts';
import type { EventStoreDbReads } from './eventstoredbReads.ts';
import { type Appended, checkSize, type NewEvent, type StoredEvent, WrongRevision } from './port.ts';

/**
 * Appends that happen once, whatever becomes of the answer: an outcome that is unknown is settled by trying again with
 * the same ids at the same revision, for some seconds.
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

  /** What the stream says of an append that met another revision: it may have been stored by an earlier try. */
  const settled = async (stream: string, expected: number, events: readonly NewEvent[], actual: number): Promise<Appended> => {
    const stored = await storedFrom(stream, expected + 1, events.length);
    if (stored.length === events.length && stored.every(({ id }, n) => id === events[n]!.id.toLowerCase())) {
      return { revision: expected + events.length, position: stored.at(-1)!.position };
    }
    if (stored.length < Math.min(events.length, actual - expected)) throw new Silence('The node that was asked is behind');
    throw new WrongRevision(stream, expected, actual);
  };

  const tryOnce = async (connection: Connection, stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
    const { answer } = connections.times;
    const named = await within(answer, connection.append(stream, expected, events));
    connections.answered();
    const revision = expected + events.length;
    // Of several events the answer names the position of one.
    const known = events.length === 1 ? named : 0;
    return { revision, position: known || (await storedFrom(stream, revision, 1))[0]!.position };
  };

  const store = async (stream: string, expected: number, events: readonly NewEvent[]): Promise<Appended> => {
    for (const tries = connections.tries(); ; ) {
      const connection = connections.current();
      try {
        return await tryOnce(connection, stream, expected, events).catch((error: unknown) => {
          if (!(error instanceof WrongExpectedVersionError)) throw error;
          return settled(stream, expected, events, toRevision(error.actualVersion));
        });
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
      try { return await storing; } finally { under.delete(storing); }
    },
    /** Refuses what comes later, and waits for what is under way. */
    close: async (): Promise<void> => {
      closing = true;
      await Promise.allSettled(under);
    },
  };
};

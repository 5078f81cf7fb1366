import { setMaxListeners } from 'node:events';
import type { Batch, Filter } from '../port.ts';
import type { Connection, Connections } from './connection.ts';
import { passes } from './events.ts';
import type { EventStoreDbReads } from './reads.ts';
import { attempts, beginTail, type Tail } from './tail.ts';

/** A follower of the log, as the watch uses it. */
export type Follower = {
  /** Position of the last delivery. */
  position: number;
};

/**
 * The followers of the log. Near its end they share the tail. Those that are further behind read until they have reached
 * it.
 */
export const eventStoreDbFollowers = (connections: Connections, reads: EventStoreDbReads) => {
  const all = new Set<Follower>();
  const closing = new AbortController();
  // Each follower adds a listener. Node must not warn of many.
  setMaxListeners(0, closing.signal);
  let tail: Tail | undefined;

  const join = (follower: Follower): Tail => {
    all.add(follower);
    tail ??= beginTail(connections, reads);
    return tail;
  };
  const leave = (follower: Follower): void => {
    all.delete(follower);
    if (all.size > 0) return;
    tail?.end();
    tail = undefined;
  };

  return {
    all,
    tail: () => tail,
    follow: async function* (after: number, filter: Filter | undefined, signal: AbortSignal): AsyncGenerator<Batch> {
      if (signal.aborted || closing.signal.aborted) return;
      const stop = new AbortController();
      const abort = (): void => stop.abort();
      signal.addEventListener('abort', abort);
      closing.signal.addEventListener('abort', abort);
      const follower: Follower = { position: after };
      const shared = join(follower);
      const attempt = async function* (connection: Connection): AsyncGenerator<Batch> {
        await shared.begun(stop.signal);
        if (!shared.holds(follower.position)) {
          // The end is that of the same server: another one may not have all events yet.
          const end = await reads.newestOver(connection, stop.signal);
          yield* reads.upTo(connection, { after: follower.position, end, filter, stop: stop.signal });
        }
        for await (const { events, position } of shared.take(follower.position, stop.signal))
          yield { events: filter ? events.filter((event) => passes(event, filter)) : events, position };
      };
      try {
        for await (const { events, position } of attempts(connections, () => follower.position, stop.signal, attempt)) {
          follower.position = Math.max(follower.position, position);
          yield { events, position: follower.position };
        }
      } finally {
        leave(follower);
        signal.removeEventListener('abort', abort);
        closing.signal.removeEventListener('abort', abort);
      }
    },
    close: (): void => {
      closing.abort();
      tail?.end();
    },
  };
};

export type Followers = ReturnType<typeof eventStoreDbFollowers>;

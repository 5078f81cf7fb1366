import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
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

/**
 * Compares tail and followers with the head at intervals. If the tail waits for events and stays behind the head, its
 * subscription has fallen silent and is replaced. `lag` returns how far the slowest follower was behind at the last
 * check.
 */
export const eventStoreDbWatch = (connections: Connections, reads: EventStoreDbReads, followers: Followers) => {
  const stop = new AbortController();
  let before: ReturnType<Tail['state']> | undefined;
  let lag = 0;

  const look = async (): Promise<void> => {
    const head = await reads.head();
    lag = Math.max(0, ...[...followers.all].map(({ position }) => head - position));
    const now = followers.tail()?.state();
    const last = before;
    before = now;
    const { position, subscription } = now ?? { position: head, subscription: undefined };
    const isSame = subscription === last?.subscription && position === last?.position;
    if (!subscription || !isSame || position >= head) return;
    connections.tell('The subscription to EventStoreDB has fallen silent and is replaced', { position, head });
    subscription.renew();
  };

  const watching = (async () => {
    for (let wait = connections.times.watch; !stop.signal.aborted; ) {
      await pause(wait, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (stop.signal.aborted) return;
      const begin = performance.now();
      await look().catch((error: unknown) => {
        if (!stop.signal.aborted) connections.down('EventStoreDB cannot be asked', error);
      });
      // If a check takes long, as among thousands of the server's own events, it is made less often.
      wait = Math.max(connections.times.watch, 10 * (performance.now() - begin));
    }
  })();

  return {
    lag: () => lag,
    close: (): Promise<void> => {
      stop.abort();
      return watching;
    },
  };
};

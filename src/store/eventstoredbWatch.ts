import { setTimeout as pause } from 'node:timers/promises';
import type { Connections } from './eventstoredbConnection.ts';
import type { Follower, Followers, Log } from './eventstoredbFollow.ts';
import type { EventStoreDbReads } from './eventstoredbReads.ts';

/**
 * Looks at the head now and then. A follower that stays behind it although it waits for events has a subscription that
 * has fallen silent: the connection is replaced, and with it the subscription. `lag` is how far behind the slowest was.
 */
export const eventStoreDbWatch = (connections: Connections, reads: EventStoreDbReads, followers: Followers, log: Log) => {
  const stop = new AbortController();
  const seen = new WeakMap<Follower, number>();
  let lag = 0;
  let failing = false;

  /** Whether an event should have come. If none up to the head passes the filter, the follower is at the head. */
  const misses = async ({ position, filter, mark }: Follower, head: number): Promise<boolean> => {
    for await (const { events: [next] } of reads.readAll(position, filter)) if (next) return next.position <= head;
    mark(head);
    return false;
  };

  const look = async (): Promise<void> => {
    const connection = connections.current();
    const head = await reads.head();
    const followed = [...followers.all];
    lag = Math.max(0, ...followed.map(({ position }) => head - position));
    for (const follower of followed) {
      const { position } = follower;
      const still = (): boolean => follower.waiting && follower.position === position && position < head;
      const before = seen.get(follower);
      seen.set(follower, position);
      if (before !== position || !still() || !(await misses(follower, head)) || !still()) continue;
      log('A subscription to EventStoreDB has fallen silent', { position, head });
      connections.replace(connection);
    }
  };

  const watching = (async () => {
    while (!stop.signal.aborted) {
      await pause(connections.times.watch, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (stop.signal.aborted) return;
      const reason = await look().then(() => undefined, (error: Error) => error.message);
      if (stop.signal.aborted) return;
      if (reason !== undefined) connections.down();
      if (reason !== undefined && !failing) log('EventStoreDB cannot be asked', { reason });
      if (reason === undefined && failing) log('EventStoreDB answers again', {});
      failing = reason !== undefined;
    }
  })();

  return {
    lag: () => lag,
    close: (): Promise<void> => { stop.abort(); return watching; },
  };
};

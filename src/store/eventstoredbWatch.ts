import { setTimeout as pause } from 'node:timers/promises';
import type { Connections } from './eventstoredbConnection.ts';
import type { Follower, Followers } from './eventstoredbFollow.ts';
import type { EventStoreDbReads } from './eventstoredbReads.ts';

/**
 * Looks at the head now and then. A follower that stays behind it although it waits for events has a subscription that
 * has fallen silent: it gets a new one. `lag` is how far behind the slowest was.
 */
export const eventStoreDbWatch = (connections: Connections, reads: EventStoreDbReads, followers: Followers) => {
  const stop = new AbortController();
  const seen = new WeakMap<Follower, number>();
  let lag = 0;

  /** Whether an event should have come. If none up to the head passes the filter, the follower is at the head. */
  const misses = async ({ position, filter, mark }: Follower, head: number): Promise<boolean> => {
    for await (const {
      events: [next],
    } of reads.readAll(position, filter))
      if (next) return next.position <= head;
    mark(head);
    return false;
  };

  const look = async (): Promise<void> => {
    const head = await reads.head();
    const followed = [...followers.all];
    lag = Math.max(0, ...followed.map(({ position }) => head - position));
    for (const follower of followed) {
      const { position } = follower;
      const still = (): boolean => follower.waiting && follower.position === position && position < head;
      const before = seen.get(follower);
      seen.set(follower, position);
      if (before !== position || !still() || !(await misses(follower, head)) || !still()) continue;
      connections.tell('A subscription to EventStoreDB has fallen silent and is replaced', { position, head });
      follower.renew();
    }
  };

  const watching = (async () => {
    for (let wait = connections.times.watch; !stop.signal.aborted; ) {
      await pause(wait, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (stop.signal.aborted) return;
      const begin = performance.now();
      await look().catch((error: unknown) => {
        if (!stop.signal.aborted) connections.down('EventStoreDB cannot be asked', error);
      });
      // Where looking makes much work, as among thousands of the server's own events, it is done less often.
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

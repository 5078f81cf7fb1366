import { setTimeout as pause } from 'node:timers/promises';
import type { Connections } from './eventstoredbConnection.ts';
import type { Follower, Followers } from './eventstoredbFollow.ts';
import type { EventStoreDbReads } from './eventstoredbReads.ts';

/**
 * Compares followers with the head at intervals. If a follower waits for events and stays behind the head, its
 * subscription has fallen silent and is replaced. `lag` returns how far the slowest follower was behind at the last
 * check.
 */
export const eventStoreDbWatch = (connections: Connections, reads: EventStoreDbReads, followers: Followers) => {
  const stop = new AbortController();
  const seen = new WeakMap<Follower, number>();
  let lag = 0;

  /**
   * Whether an event up to the head should have reached the follower. If no event up to the head passes its filter, the
   * follower gets a checkpoint there.
   */
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

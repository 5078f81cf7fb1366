import { setTimeout as pause } from 'node:timers/promises';
import type { Connections } from './connection.ts';
import type { Followers } from './follow.ts';
import type { EventStoreDbReads } from './reads.ts';
import type { Tail } from './tail.ts';

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

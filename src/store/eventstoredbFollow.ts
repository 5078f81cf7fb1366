import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { type AllStreamResolvedEvent, eventTypeFilter } from '@eventstore/db-client';
import { arriving } from './eventstoredbArriving.ts';
import type { Connection, Connections } from './eventstoredbConnection.ts';
import { Unreadable } from './eventstoredbErrors.ts';
import { fromPosition, toPosition, toStoredEvent } from './eventstoredbEvents.ts';
import { buffered } from './eventstoredbReads.ts';
import type { Batch, Filter, StoredEvent } from './port.ts';

export type Log = (message: string, about: Record<string, unknown>) => void;

/** That everything up to a position has been delivered, in its place among the events. */
type Mark = { readonly reached: number };

/** One who follows the log, as the watch sees it. */
export type Follower = {
  readonly filter: Filter | undefined;
  /** What it was last given. */
  position: number;
  /** Whether it waits for events; else it is at work, or between two subscriptions. */
  waiting: boolean;
  /** Puts a mark behind what has arrived. */
  mark(position: number): void;
};

const longestWait = 2000;

const subscribe = async function* ({ client, gone }: Connection, follower: Follower, stop: AbortSignal): AsyncGenerator<Batch> {
  const { filter } = follower;
  const subscription = client.subscribeToAll({
    fromPosition: fromPosition(follower.position),
    ...(filter && {
      filter: eventTypeFilter({
        prefixes: [...filter], maxSearchWindow: 32, checkpointInterval: 1,
        // It runs when the checkpoint arrives, not when the events before it are handled: hence a mark in the queue. The
        // client waits for it, and for ever if it rejects: it is synchronous and does not throw.
        checkpointReached: (itself, { commit, prepare }) => {
          if (commit === prepare && commit <= BigInt(Number.MAX_SAFE_INTEGER)) itself.push({ reached: toPosition({ commit, prepare }) } satisfies Mark);
        },
      }),
    }),
  }, buffered);
  follower.mark = (reached) => void subscription.push({ reached } satisfies Mark);
  let last = follower.position;
  for await (const arrived of arriving<AllStreamResolvedEvent | Mark>(subscription, () => subscription.unsubscribe(), { gone, stop })) {
    const events: StoredEvent[] = [];
    let { position } = follower;
    for (const element of arrived) {
      const event = 'reached' in element ? undefined : toStoredEvent(element);
      // Only an event makes another a repetition: whatever a mark says, nothing that comes is left out.
      if (event && event.position > last) {
        events.push(event);
        last = event.position;
      }
      position = Math.max(position, 'reached' in element ? element.reached : last);
    }
    if (position > follower.position || events.length > 0) yield { events, position };
  }
};

/** Those who follow the log. Each has a subscription, and a new one from where it was when that ends, breaks or falls silent. */
export const eventStoreDbFollowers = (connections: Connections, log: Log) => {
  const all = new Set<Follower>();
  const closing = new AbortController();
  // One for each follower.
  setMaxListeners(0, closing.signal);

  const live = async function* (follower: Follower, stop: AbortSignal): AsyncGenerator<Batch> {
    for (let failures = 0; !stop.aborted; failures++) {
      const connection = connections.current();
      try {
        follower.waiting = true;
        for await (const batch of subscribe(connection, follower, stop)) {
          failures = 0;
          follower.position = batch.position;
          follower.waiting = false;
          yield batch;
          follower.waiting = true;
        }
      } catch (error) {
        if (error instanceof Unreadable) throw error;
        connections.failed(connection, error);
        if (failures === 0) log('Following EventStoreDB was interrupted', { position: follower.position, reason: error instanceof Error ? error.message : String(error) });
      } finally {
        follower.waiting = false;
      }
      if (!stop.aborted) await pause(Math.min(50 * 2 ** failures, longestWait), undefined, { signal: stop }).catch(() => undefined);
    }
  };

  return {
    all,
    follow: async function* (after: number, filter: Filter | undefined, signal: AbortSignal): AsyncGenerator<Batch> {
      const stop = new AbortController();
      const abort = (): void => stop.abort();
      const follower: Follower = { filter, position: after, waiting: false, mark: () => undefined };
      if (signal.aborted || closing.signal.aborted) return;
      signal.addEventListener('abort', abort);
      closing.signal.addEventListener('abort', abort);
      all.add(follower);
      try { yield* live(follower, stop.signal); } finally {
        all.delete(follower);
        signal.removeEventListener('abort', abort);
        closing.signal.removeEventListener('abort', abort);
      }
    },
    close: (): void => closing.abort(),
  };
};

export type Followers = ReturnType<typeof eventStoreDbFollowers>;

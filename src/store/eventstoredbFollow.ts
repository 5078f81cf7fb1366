import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer } from './eventstoredbAnswer.ts';
import { arriving } from './eventstoredbArriving.ts';
import type { Connection, Connections } from './eventstoredbConnection.ts';
import { finalError, NoConnection, Silence, Unreadable } from './eventstoredbErrors.ts';
import { isCountable, passes, toStoredEvent } from './eventstoredbEvents.ts';
import { subscriptionToAll } from './eventstoredbRequests.ts';
import type { Batch, Filter, StoredEvent } from './port.ts';

/** A follower of the log, as the watch uses it. */
export type Follower = {
  readonly filter: Filter | undefined;
  /** Position of the last delivery. */
  position: number;
  /** Whether the follower waits for events. Otherwise it is at work, or between two subscriptions. */
  waiting: boolean;
  /** Adds a checkpoint after the events that have arrived: all events up to a position have been delivered. */
  mark(position: number): void;
  /** Replaces the subscription by a new one. */
  renew(): void;
};

// The longest pauses between two subscriptions, in milliseconds: usually, and when EventStoreDB refuses them.
const longestWait = 500;
const longestRefused = 2000;
// The most bytes that wait for a follower. EventStoreDB ends the subscription of a follower that is further behind.
const ahead = 32 * 1024 * 1024;

const checkpointAt = (position: number): Answer => ({
  checkpoint: { commit: String(position), prepare: String(position) },
});

/** The position of the checkpoint in an answer; 0 if there is none that can be used. */
const reachedIn = ({ checkpoint }: Answer): number => {
  const { commit, prepare } = checkpoint ?? {};
  return commit === prepare && Number.isSafeInteger(Number(commit)) ? Number(commit) : 0;
};

const subscribe = async function* (
  connection: Connection,
  follower: Follower,
  stop: AbortSignal,
): AsyncGenerator<Batch> {
  const { filter } = follower;
  const inserted: { put?: (answer: Answer) => void } = {};
  follower.mark = (position) => inserted.put?.(checkpointAt(position));
  let last = follower.position;
  const open = () => connection.read(subscriptionToAll(follower.position, filter ?? 'clients'));
  for await (const answers of arriving(connection, open, { what: 'read $all', bytes: ahead, stop, inserted })) {
    const events: StoredEvent[] = [];
    let { position } = follower;
    for (const answer of answers) {
      const told = answer.event;
      if (told && passes(told, filter) && isCountable(told)) {
        const event = toStoredEvent(told);
        // An event at or before the last one is a repetition. Checkpoints do not count here, so a checkpoint never
        // suppresses an event.
        if (event.position > last) {
          events.push(event);
          last = event.position;
        }
      }
      position = Math.max(position, last, reachedIn(answer));
    }
    if (position > follower.position || events.length > 0) yield { events, position };
  }
};

/**
 * The followers of the log. Each has a subscription. When the subscription ends, breaks or falls silent, a new one
 * continues at the same position.
 */
export const eventStoreDbFollowers = (connections: Connections) => {
  const all = new Set<Follower>();
  const closing = new AbortController();
  // Each follower adds a listener. Node must not warn of many.
  setMaxListeners(0, closing.signal);

  /** Yields the batches of a subscription until it ends. Returns the error if it has failed. */
  const once = async function* (
    follower: Follower,
    connection: Connection,
    stop: AbortSignal,
  ): AsyncGenerator<Batch, unknown> {
    const end = new AbortController();
    const abort = (): void => end.abort();
    follower.renew = abort;
    stop.addEventListener('abort', abort);
    try {
      follower.waiting = true;
      for await (const batch of subscribe(connection, follower, end.signal)) {
        follower.position = batch.position;
        follower.waiting = false;
        yield batch;
        follower.waiting = true;
      }
      return undefined;
    } catch (error) {
      return error;
    } finally {
      follower.waiting = false;
      stop.removeEventListener('abort', abort);
    }
  };

  const live = async function* (follower: Follower, stop: AbortSignal): AsyncGenerator<Batch> {
    for (let failures = 0; !stop.aborted; failures++) {
      const connection = connections.current();
      const { position } = follower;
      const error = yield* once(follower, connection, stop);
      if (error instanceof Unreadable) throw error;
      if (follower.position > position) failures = 0;
      if (error !== undefined) {
        connections.failed(connection, error);
        // The connection logs its own faults.
        const isToldThere = connection.gone.aborted || error instanceof Silence || error instanceof NoConnection;
        const about = { position: follower.position, reason: connections.explain(error) };
        if (!isToldThere) connections.tell('Following EventStoreDB was interrupted', about);
      }
      const longest = finalError(error) ? longestRefused : longestWait;
      if (!stop.aborted)
        await pause(Math.min(50 * 2 ** failures, longest), undefined, { signal: stop }).catch(() => undefined);
    }
  };

  return {
    all,
    follow: async function* (after: number, filter: Filter | undefined, signal: AbortSignal): AsyncGenerator<Batch> {
      const stop = new AbortController();
      const abort = (): void => stop.abort();
      const follower: Follower = {
        filter,
        position: after,
        waiting: false,
        mark: () => undefined,
        renew: () => undefined,
      };
      if (signal.aborted || closing.signal.aborted) return;
      signal.addEventListener('abort', abort);
      closing.signal.addEventListener('abort', abort);
      all.add(follower);
      try {
        yield* live(follower, stop.signal);
      } finally {
        all.delete(follower);
        signal.removeEventListener('abort', abort);
        closing.signal.removeEventListener('abort', abort);
      }
    },
    close: (): void => closing.abort(),
  };
};

export type Followers = ReturnType<typeof eventStoreDbFollowers>;

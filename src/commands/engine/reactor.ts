import type { Leadership } from '../../concurrency/leadership.ts';
import type { Log } from '../../concurrency/log.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import type { Recorded } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import type { Tools } from './define.ts';
import type { Handle } from './handle.ts';
import { completeReaction } from './parkedReactions.ts';
import { reactionReader } from './reactionReader.ts';
import { type ReactionRuns, reactionRuns } from './reactionRuns.ts';
import { type Reaction, reactionTable, requestFor } from './reactions.ts';
import type { Streams } from './streams.ts';

type Needs = {
  readonly store: EventStore;
  readonly tools: Tools;
  readonly handle: Handle;
  /** The events of a stream between two revisions. */
  readonly events: Streams['events'];
  readonly reactions: readonly Reaction[];
  /** Waits until the read models hold everything up to the position. */
  readonly reached: (position: number) => Promise<void>;
  /** The leader alone reads the log. */
  readonly leadership: Leadership;
  /**
   * Resolves when the read models show everything that the log held when this process began to follow it. Resolves also
   * when the signal aborts.
   */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** How long a request waits for the reactions to its events; 2 s by default. */
  readonly patienceMs?: number;
  readonly log: Log;
};

/**
 * Carries out reactions. Those to events of this node run at once. While this process leads, it also reads the log, for
 * events whose reactions a stopped process left undone.
 */
export const reactor = ({ reactions, patienceMs = 2000, ...needs }: Needs) => {
  const table = reactionTable(reactions);
  const away = (): boolean => needs.store.fault() !== undefined || !needs.store.connected();
  const runsUntil = (stop: AbortSignal): ReactionRuns => reactionRuns({ ...needs, table, away, stop });
  const { runs, ...reading } = reactionReader({ ...needs, table, runsUntil });

  /** The events with reactions that the request waits for. */
  const waitedFor = (events: readonly Recorded[]): readonly Recorded[] =>
    events.filter(({ stream, source, topic }) =>
      table.following(stream, `${source}:${topic}`).some(({ background }) => !background),
    );

  /**
   * Carries out the reactions to the events but for those in the background, one event after the other. Stops between two events when nobody waits any
   * more.
   */
  const reactToAll = async (events: readonly Recorded[], left: AbortSignal): Promise<number> => {
    let highest = 0;
    for (const event of events)
      if (!left.aborted) highest = Math.max(highest, await runs.reactAtOnce(event).catch(() => 0));
    return highest;
  };

  return {
    /**
     * Carries out the reactions to the events and returns the highest position that they reached. Failed reactions are
     * left to the log reader.
     * After `patienceMs` it returns 0. The run under way goes on, and the leader's log reader finishes the rest. With
     * `waitForAll` it waits for all, however long they take.
     */
    follow: (events: readonly Recorded[], waitForAll: boolean): number | Promise<number> => {
      const concerning = waitedFor(events);
      if (concerning.length === 0) return 0;
      const left = new AbortController();
      const all = reactToAll(concerning, left.signal);
      if (waitForAll) return all;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<number>((resolve) => {
        timer = setTimeout(() => {
          left.abort();
          resolve(0);
        }, patienceMs);
      });
      return Promise.race([all, late]).finally(() => clearTimeout(timer));
    },
    /** Begins to read the log. */
    start: (): void => {
      if (table.types.length > 0) reading.start();
    },
    /** Carries out parked reactions to an event once more. Throws if they fail again; then they stay parked. */
    retry: async ({
      event,
      stream,
      revision,
    }: Pick<StoredEvent, 'stream' | 'revision'> & { readonly event: string }) => {
      const [recorded] = await needs.events(stream, revision, revision);
      if (!recorded) throw new RequestError('not_found', 'The event is gone');
      await runs.parts(recorded);
      await needs.handle(completeReaction, { ...requestFor(recorded), id: event, input: {} });
    },
    /** Stops, and waits for the runs under way. */
    stop: async (): Promise<void> => {
      await reading.stop();
      await runs.ended();
    },
  };
};

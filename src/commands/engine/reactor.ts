import { type Leadership, type Log, persist, places } from '@automation-platform/concurrency';
import { platform } from '../../domain/engine/core.ts';
import { NotReadable, RequestError } from '../../domain/engine/requestError.ts';
import { parkedReactions } from '../../projections/engine/parkedReactions.ts';
import { decode, type Recorded } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { reactionsReader } from '../../store/readers.ts';
import { type Pauses, reader } from '../../store/reading/reader.ts';
import type { Tools } from './define.ts';
import type { Handle } from './handle.ts';
import { completeReaction } from './parkedReactions.ts';
import { type ReactionRuns, reactionRuns } from './reactionRuns.ts';
import { type Reaction, type ReactionTable, reactionTable, requestFor } from './reactions.ts';
import type { Request } from './requests.ts';
import type { Streams } from './streams.ts';

type Needs = {
  readonly store: EventStore;
  readonly tools: Tools;
  readonly handle: Handle;
  /** The events of a stream between two revisions. */
  readonly events: Streams['events'];
  readonly reactions: readonly Reaction[];
  /** Waits until the read models hold everything up to the position. */
  readonly whenProjected: (position: number) => Promise<void>;
  /** The leader alone reads the log. */
  readonly leadership: Leadership;
  /**
   * Resolves when the read models show everything that the log held when this process began to follow it. Resolves also
   * when the signal aborts.
   */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** How long a request waits for the reactions to its events; 2 s by default. */
  readonly patienceMs?: number;
  readonly pauses?: Pauses;
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
    events.filter((event) => table.following(event).some(({ background }) => !background));

  /**
   * Carries out the reactions to the events but for those in the background, one event after the other. Stops between two events when nobody waits any
   * more.
   */
  const reactToAll = async (events: readonly Recorded[], leaving: AbortSignal): Promise<number> => {
    let highest = 0;
    for (const event of events)
      if (!leaving.aborted) highest = Math.max(highest, await runs.reactAtOnce(event).catch(() => 0));
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
      const leaving = new AbortController();
      const all = reactToAll(concerning, leaving.signal);
      if (waitForAll) return all;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<number>((resolve) => {
        timer = setTimeout(() => {
          leaving.abort();
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

type ReaderNeeds = {
  readonly store: EventStore;
  readonly table: ReactionTable;
  /** Makes the runs, which end when the signal aborts. */
  readonly runsUntil: (stop: AbortSignal) => ReactionRuns;
  readonly tools: Tools;
  readonly handle: Handle;
  /** The events of a stream between two revisions. */
  readonly events: Streams['events'];
  readonly leadership: Leadership;
  /**
   * Resolves when the read models show everything that the log held when this process began to follow it. Resolves also
   * when the signal aborts.
   */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly pauses?: Pauses;
  readonly log: Log;
};

const askAgainMs = 100;
/** How many events of the log are reacted to at once. */
const mostAtOnce = 16;

/** The platform itself parks an event that cannot be read, because the event's actor is unknown. */
const requestForUnreadable = ({ id }: StoredEvent): Omit<Request, 'id' | 'input'> => ({
  actor: platform,
  operation: 'reactions',
  requestId: id,
  causation: id,
});

/**
 * Carries out reactions while this process leads: first the parked ones, then those of the log, of each stream in the
 * order of its events.
 */
const reactionReader = (needs: ReaderNeeds) => {
  const { store, table, runsUntil, tools, handle, events, leadership, ready, pauses, log } = needs;
  const atPlace = places(() => mostAtOnce);
  const { start, stop, stopping } = reader<StoredEvent>({
    store,
    name: reactionsReader,
    on: leadership,
    ready: async (term) => {
      await ready(term);
      if (!term.aborted) await retryParked(term);
    },
    first: 'beginning',
    begin: () => ({
      types: table.types,
      itemsOf: (event) => (table.concerns(event) ? [event] : []),
      key: ({ stream }) => stream,
      take: async (event) => {
        await atPlace(() => react(event));
        return undefined;
      },
    }),
    pauses,
    failure: 'The reader of reactions failed',
    log,
  });
  const runs: ReactionRuns = runsUntil(stopping);

  /** Repeats the work while the read models are not available. That is no failure of the work. */
  const whenReadable = <T>(work: () => Promise<T>, signal: AbortSignal, about: Record<string, unknown>): Promise<T> =>
    persist(work, {
      signal,
      pauseMs: askAgainMs,
      onFailure: (error, { attempts }) => {
        if (!(error instanceof NotReadable)) throw error;
        if (attempts === 1) log('A reaction waits for the read models', { ...about, error });
      },
    });

  const retryAll = async (term: AbortSignal): Promise<void> => {
    const reaction = { field: 'kind', op: 'equals', value: 'reaction' } as const;
    const parked = await whenReadable(() => tools.query(parkedReactions, reaction), term, {});
    for (const { event, stream, revision } of parked) {
      try {
        const [recorded] = await events(stream, revision, revision);
        if (!recorded) continue;
        await whenReadable(() => runs.parts(recorded), term, { event, stream });
        await handle(completeReaction, { ...requestFor(recorded), id: event, input: {} });
      } catch (error) {
        if (term.aborted) return;
        log('A parked reaction failed again', { event, error });
      }
    }
  };

  /** Tries parked reactions again: a reaction that failed in an earlier process may work now. */
  const retryParked = (term: AbortSignal): Promise<void> =>
    retryAll(term).catch((error: unknown) => {
      if (!term.aborted) log('Parked reactions could not be read', { error });
    });

  /** Carries out the reactions to one event of the log, or parks the event if it cannot be read. */
  const react = async (stored: StoredEvent): Promise<void> => {
    let event: Recorded;
    try {
      event = decode(stored);
    } catch (error) {
      log('A reaction cannot be carried out', { event: stored.id, stream: stored.stream, error });
      await runs.park(stored, requestForUnreadable(stored), error);
      return;
    }
    await runs.react(event);
  };

  return { runs, start, stop };
};

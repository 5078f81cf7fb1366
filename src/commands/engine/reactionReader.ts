import type { Leadership } from '../../concurrency/leadership.ts';
import type { Log } from '../../concurrency/log.ts';
import { places } from '../../concurrency/places.ts';
import { persist } from '../../concurrency/supervise.ts';
import { platform } from '../../domain/engine/core.ts';
import { NotReadable } from '../../domain/engine/requestError.ts';
import { parkedReactions } from '../../projections/engine/parkedReactions.ts';
import { decode, type Recorded } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { reactionsReader } from '../../store/readers.ts';
import { reader } from '../../store/reading/reader.ts';
import type { Tools } from './define.ts';
import type { Handle } from './handle.ts';
import { completeReaction } from './parkedReactions.ts';
import type { ReactionRuns } from './reactionRuns.ts';
import { type ReactionTable, requestFor } from './reactions.ts';
import type { Request } from './requests.ts';
import type { Streams } from './streams.ts';

type Needs = {
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
export const reactionReader = ({ store, table, runsUntil, tools, handle, events, leadership, ready, log }: Needs) => {
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
      itemsOf: (event) => (table.following(event.stream, event.type).length > 0 ? [event] : []),
      key: ({ stream }) => stream,
      take: async (event) => {
        await atPlace(() => react(event));
        return undefined;
      },
    }),
    failure: 'The reader of reactions failed',
    log,
  });
  const runs: ReactionRuns = runsUntil(stopping);

  /** Repeats the work while the read models are not available. That is no failure of the work. */
  const whenReadable = <T>(work: () => Promise<T>, signal: AbortSignal, about: Record<string, unknown>): Promise<T> =>
    persist(work, {
      signal,
      pauseMs: askAgainMs,
      onFailure: (error, { tried }) => {
        if (!(error instanceof NotReadable)) throw error;
        if (tried === 1) log('A reaction waits for the read models', { ...about, error });
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

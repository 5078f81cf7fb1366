import type { Log } from '../../concurrency/log.ts';
import { persist } from '../../concurrency/supervise.ts';
import { platform } from '../../domain/engine/core.ts';
import { NotReadable } from '../../domain/engine/requestError.ts';
import { parkedReactions } from '../../projections/engine/parkedReactions.ts';
import { decode, type Recorded } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { reactionsReader } from '../../store/readers.ts';
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
  readonly runs: ReactionRuns;
  readonly tools: Tools;
  readonly handle: Handle;
  /** The events of a stream between two revisions. */
  readonly events: Streams['events'];
  /**
   * Resolves when the read models show everything that the log held when this process began to follow it. Resolves also
   * when the signal aborts.
   */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
};

const keepEvery = 1000;
const askAgainMs = 100;

/** The platform itself parks an event that cannot be read, because the event's actor is unknown. */
const requestForUnreadable = ({ id }: StoredEvent): Omit<Request, 'id' | 'input'> => ({
  actor: platform,
  operation: 'reactions',
  requestId: id,
  causation: id,
});

/** Carries out reactions for one term as leader: first the parked ones, then those of the log. */
export const reactionReader = ({ store, table, runs, tools, handle, events, ready, log }: Needs) => {
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

  /** Carries out the reactions to one event of the log, or parks the event if it cannot be read. */
  const meet = async (stored: StoredEvent): Promise<void> => {
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

  const readLog = async (signal: AbortSignal, goesOn: () => void): Promise<void> => {
    let kept = (await store.checkpoint(reactionsReader)) ?? 0;
    let done = kept;
    let keptAt = 0;
    const keep = async (): Promise<void> => {
      if (done === kept) return;
      await store.setCheckpoint(reactionsReader, done);
      kept = done;
      keptAt = performance.now();
    };
    try {
      for await (const { events: read, position } of store.follow(kept, table.types, signal)) {
        for (const event of read) if (table.following(event.stream, event.type).length > 0) await meet(event);
        if (read.length > 0) done = position;
        // To keep a checkpoint may cost an append. So it is kept once a second at most. After a crash the reactions of
        // that second run again and change nothing.
        if (performance.now() - keptAt >= keepEvery) await keep();
        goesOn();
      }
    } finally {
      await keep();
    }
  };

  return {
    /** Tries parked reactions again: a reaction that failed in an earlier process may work now. */
    retryParked: async (term: AbortSignal): Promise<void> => {
      await ready(term);
      if (term.aborted) return;
      await retryAll(term).catch((error: unknown) => {
        if (!term.aborted) log('Parked reactions could not be read', { error });
      });
    },
    readLog,
  };
};

import { type Leadership, leaderWork } from '../../concurrency/leadership.ts';
import type { Log } from '../../concurrency/log.ts';
import type { Actor } from '../../domain/engine/core.ts';
import type { EventStore } from '../../store/port.ts';
import { triggersReader } from '../../store/readers.ts';
import { beginning } from './beginning.ts';
import type { MayFire } from './firing.ts';
import { type ReaderState, triggerReader } from './reader.ts';
import { retrying } from './retrying.ts';
import { type StartingNeeds, starting } from './starting.ts';

type Needs<Viewer> = StartingNeeds<Viewer> & {
  readonly store: EventStore;
  readonly mayFire: MayFire;
  /** How many events are decided at once. */
  readonly decidedAtOnce: () => number;
  /** How many jobs a trigger may start in a minute. */
  readonly rate: number;
  /** The leader alone reads the log. */
  readonly leadership: Leadership;
  /** Resolves when the read models show what the log held when this process began, or the signal aborts. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Milliseconds since some moment, whatever becomes of the clock. */
  readonly elapsed?: () => number;
  readonly log: Log;
  readonly info: Log;
};

const againMs = 1000;
const longestAgainMs = 5000;

/** Fires event triggers while this process leads (docs/decisions/event-triggers.md). */
export const eventTriggers = <Viewer extends { readonly actor: Actor }>(needs: Needs<Viewer>) => {
  const { store, leadership, ready, log, info } = needs;
  const state: ReaderState = {};
  const { start, stop, stopping } = leaderWork({
    leadership,
    ready,
    work: (term, goesOn) => read(term, goesOn),
    pauseMs: againMs,
    longestPauseMs: longestAgainMs,
    onFailure: (error, isNew) => {
      if (isNew) log('The reader of event triggers begins again', { error });
    },
  });
  const working = starting(needs, stopping);

  const read = triggerReader({
    store,
    ...working,
    away: () => store.fault() !== undefined || !store.connected(),
    decidedAtOnce: needs.decidedAtOnce,
    rate: needs.rate,
    mayFire: needs.mayFire,
    state,
    elapsed: needs.elapsed ?? (() => performance.now()),
    log,
  });

  return {
    /**
     * To be called before the first request is taken. A log that was never read begins at its head. `isUpgrade`: it had
     * events before this start.
     */
    prepare: async (isUpgrade: boolean): Promise<void> => {
      if ((await store.checkpoint(triggersReader)) !== undefined) return;
      const position = await beginning(store, triggersReader);
      if (isUpgrade) info('Event triggers begin at the head of the log', { position, head: await store.head() });
    },
    start,
    /** Starts nothing more, and waits for the starts under way. The rest is left to the next start or leader. */
    stop,
    retry: retrying(needs, working),
    /** How many runs wait, and how many triggers are behind the common reader. Only the leader knows. */
    status: (): { readonly waiting: number; readonly behind: number } => {
      const lanes = [...(state.reading?.lanes.values() ?? [])];
      return {
        waiting: lanes.reduce((sum, lane) => sum + lane.waiting(), 0),
        behind: lanes.filter((lane) => lane.behind()).length,
      };
    },
    /** The position up to which everything is settled, also by triggers that are behind; undefined: it does not read. */
    settled: (): number | undefined => {
      const { reading } = state;
      if (!reading) return undefined;
      const places = [...reading.lanes.values()].map((lane) => lane.place() ?? Infinity);
      return places.reduce((least, place) => Math.min(least, place), reading.settled());
    },
  };
};

export type EventTriggers = ReturnType<typeof eventTriggers>;

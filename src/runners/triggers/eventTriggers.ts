import type { Leadership, Log } from '@automation-platform/concurrency';
import type { Actor } from '../../domain/engine/core.ts';
import type { EventStore } from '../../store/port.ts';
import { triggersReader } from '../../store/readers.ts';
import { type Pauses, reader } from '../../store/reading/reader.ts';
import { backlog } from './backlog.ts';
import type { Carried } from './carrying.ts';
import { pastDefinitions } from './definitions.ts';
import type { MayFire } from './firing.ts';
import { rateLimits } from './rate.ts';
import { retrying } from './retrying.ts';
import { type Starting, type StartingNeeds, starting } from './starting.ts';
import { triggerReading } from './triggerReading.ts';

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
  readonly pauses?: Pauses;
  /** Milliseconds since some moment, whatever becomes of the clock. */
  readonly elapsed?: () => number;
  readonly log: Log;
  readonly info: Log;
};

/** Fires event triggers while this process leads (docs/decisions/event-triggers.md). */
export const eventTriggers = <Viewer extends { readonly actor: Actor }>(needs: Needs<Viewer>) => {
  const {
    store,
    leadership,
    ready,
    mayFire,
    decidedAtOnce,
    pauses,
    elapsed = () => performance.now(),
    log,
    info,
  } = needs;
  const past = pastDefinitions(store);
  const rates = rateLimits(needs.rate, elapsed);
  const { start, stop, stopping, status, acked, isNew, beginAtHead } = reader<Carried>({
    store,
    name: triggersReader,
    on: leadership,
    ready,
    first: 'head',
    begin: (term) => begin(term),
    backlog: (trigger, from) => backlog(trigger, from, { store, past, fits: working.fits, mayFire }),
    pauses,
    elapsed,
    failure: 'The reader of event triggers begins again',
    log,
  });
  const working: Starting = starting(needs, stopping);
  const begin = triggerReading({ store, ...working, mayFire, decidedAtOnce, rates, pauses, log });

  return {
    /**
     * To be called before the first request is taken. A log that was never read begins at its head. `isUpgrade`: it had
     * events before this start.
     */
    prepare: async (isUpgrade: boolean): Promise<void> => {
      if (!(await isNew())) return;
      const position = await beginAtHead();
      if (isUpgrade) info('Event triggers begin at the head of the log', { position, head: await store.head() });
    },
    start,
    /** Starts nothing more, and waits for the starts under way. The rest is left to the next start or leader. */
    stop,
    retry: retrying(needs, working),
    /** How many runs wait, and how many triggers are behind the common reader. Only the leader knows. */
    status: (): { readonly waiting: number; readonly behind: number } => {
      const { inFlight, behind } = status();
      return { waiting: inFlight, behind };
    },
    /** The position up to which everything is settled, also by triggers that are behind; undefined: it does not read. */
    settled: acked,
  };
};

export type EventTriggers = ReturnType<typeof eventTriggers>;

import type { GuardedClock } from '../../concurrency/guardedClock.ts';
import { type Leadership, leaderWork, onEveryNode } from '../../concurrency/leadership.ts';
import type { Log } from '../../concurrency/log.ts';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type EventNotice, splitStream } from '../../store/event.ts';
import type { EventStore, StoredEvent } from '../../store/port.ts';
import { schedulesReader } from '../../store/readers.ts';
import { reader } from '../../store/reading/reader.ts';
import { scheduleClock } from './clock.ts';
import { clocksApart } from './clocksApart.ts';
import { deciding } from './deciding.ts';
import { firedReading } from './firedReading.ts';
import { retryingRuns } from './retryingRuns.ts';
import { type StartingNeeds, starting } from './starting.ts';
import { timetable } from './timetable.ts';
import { beginAll } from './upgrade.ts';

type Needs = StartingNeeds & {
  readonly store: EventStore;
  readonly model: ReadStore;
  /** The leader alone starts jobs. Every node decides. */
  readonly leadership: Leadership;
  /** Resolves when the read models show what the log held when this process began, or the signal aborts. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly guardedClock: GuardedClock;
  /** Calls a function once; returns what cancels it. */
  readonly timer: (call: () => void, ms: number) => () => void;
  readonly log: Log;
};

/** How many instants are kept in memory that have fired and are not settled. */
const mostFired = 20_000;

/** Runs schedule triggers (docs/schedules.md): the clock says what is due, the log decides, the leader starts jobs. */
export const schedules = (needs: Needs) => {
  const { store, model, handle, leadership, ready, guardedClock, timer, log } = needs;
  const onFailure = (error: unknown, isNew: boolean): void => {
    if (isNew) log('The timetable of schedules begins again', { error });
  };
  const planning = leaderWork({
    leadership: onEveryNode,
    ready,
    work: async () => {
      await table.load();
      clock.start();
    },
    pauseMs: 1000,
    longestPauseMs: 5000,
    onFailure,
  });
  const signal = planning.stopping;
  const set = (id: string, at: number | null): void => clock.set(id, at);
  const table = timetable({ model, moment: guardedClock.moment, set, signal, onFailure });
  const decisions = deciding({ handle, clock: guardedClock, changed: table.changed, timer, signal, log });
  const clock = scheduleClock({ clock: guardedClock, timer, due: decisions.decide });
  const fired = reader<StoredEvent>({
    store,
    name: schedulesReader,
    on: leadership,
    ready,
    first: 'head',
    begin: firedReading({ store, starting: (term) => starting(needs, term), log }),
    mostInFlight: mostFired,
    failure: 'The reader of schedules that have fired begins again',
    log,
  });

  return {
    categories: new Set([trigger.category, triggerSchedule.category]),
    /** To be called with each event of these categories once the read models show it. */
    onEvent: ({ stream }: Pick<EventNotice, 'stream'>): void => table.changed(splitStream(stream).id),
    /** To be called with each event of the log. */
    onStored: clocksApart({ now: guardedClock.now, monotonic: guardedClock.monotonic, log }),
    /** How many schedules are set, mean nothing, and have fired without a job yet. */
    status: () => ({ set: clock.size(), faults: table.faults(), starting: fired.status().inFlight }),
    /**
     * To be called before the first request is taken. In a log of a version that did not run schedules they begin now.
     */
    prepare: async (): Promise<void> => {
      if (!(await fired.isNew())) return;
      // Read models may be made anew after an upgrade. What is due meanwhile is not lost.
      const begun = guardedClock.now();
      await ready(signal);
      await beginAll(begun, { model, handle });
      await fired.beginAtHead();
    },
    start: (): void => {
      planning.start();
      fired.start();
    },
    retry: retryingRuns(needs, starting(needs, signal)),
    /** Decides and starts nothing more, and waits for what is under way. The rest is left to the next start or leader. */
    stop: async (): Promise<void> => {
      const stopped = [planning.stop(), fired.stop(), table.idle()];
      clock.stop();
      await decisions.ended();
      await Promise.all(stopped);
    },
  };
};

export type Schedules = ReturnType<typeof schedules>;

import type { GuardedClock } from '../../concurrency/guardedClock.ts';
import { type Leadership, leaderWork, onEveryNode } from '../../concurrency/leadership.ts';
import type { Log } from '../../concurrency/log.ts';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type EventNotice, splitStream } from '../../store/event.ts';
import type { EventStore } from '../../store/port.ts';
import { schedulesReader } from '../../store/readers.ts';
import { beginning } from '../triggers/beginning.ts';
import { scheduleClock } from './clock.ts';
import { clocksApart } from './clocksApart.ts';
import { deciding } from './deciding.ts';
import { type FiredState, firedReader } from './firedReader.ts';
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

const pauseMs = 1000;
const longestPauseMs = 5000;

/** Runs schedule triggers (docs/schedules.md): the clock says what is due, the log decides, the leader starts jobs. */
export const schedules = (needs: Needs) => {
  const { store, model, handle, leadership, ready, guardedClock, timer, log } = needs;
  const table = timetable({ model, moment: guardedClock.moment, set: (id, at) => clock.set(id, at) });
  const fired: FiredState = {};
  const patience = (subject: string) => ({
    ready,
    pauseMs,
    longestPauseMs,
    onFailure: (error: unknown, isNew: boolean): void => {
      if (isNew) log(`${subject} begins again`, { error });
    },
  });
  const planning = leaderWork({
    leadership: onEveryNode,
    ...patience('The timetable of schedules'),
    work: async (term) => {
      await table.load(term);
      clock.start();
      await table.follow(term);
    },
  });
  const signal = planning.stopping;
  const decisions = deciding({ handle, clock: guardedClock, changed: table.changed, timer, signal, log });
  const clock = scheduleClock({ clock: guardedClock, timer, due: decisions.decide });
  const work = firedReader({ store, starting: (term) => starting(needs, term), state: fired, log });
  const reading = leaderWork({ leadership, ...patience('The reader of schedules that have fired'), work });

  return {
    categories: new Set([trigger.category, triggerSchedule.category]),
    /** To be called with each event of these categories once the read models show it. */
    onEvent: ({ stream }: Pick<EventNotice, 'stream'>): void => table.changed(splitStream(stream).id),
    /** To be called with each event of the log. */
    onStored: clocksApart({ now: guardedClock.now, monotonic: guardedClock.monotonic, log }),
    /** How many schedules are set, mean nothing, and have fired without a job yet. */
    status: () => ({ set: clock.size(), faults: table.faults(), starting: fired.open?.() ?? 0 }),
    /**
     * To be called before the first request is taken. In a log of a version that did not run schedules they begin now.
     */
    prepare: async (): Promise<void> => {
      if ((await store.checkpoint(schedulesReader)) !== undefined) return;
      // Read models may be made anew after an upgrade. What is due meanwhile is not lost.
      const begun = guardedClock.now();
      await ready(signal);
      await beginAll(begun, { model, handle });
      await beginning(store, schedulesReader);
    },
    start: (): void => {
      planning.start();
      reading.start();
    },
    retry: retryingRuns(needs, starting(needs, signal)),
    /** Decides and starts nothing more, and waits for what is under way. The rest is left to the next start or leader. */
    stop: async (): Promise<void> => {
      const stopped = [planning.stop(), reading.stop()];
      clock.stop();
      await decisions.ended();
      await Promise.all(stopped);
    },
  };
};

export type Schedules = ReturnType<typeof schedules>;

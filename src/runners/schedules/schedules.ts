import { setMaxListeners } from 'node:events';
import type { GuardedClock } from '../../concurrency/guardedClock.ts';
import type { Log } from '../../concurrency/log.ts';
import { supervise } from '../../concurrency/supervise.ts';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import { type Leadership, whileLeading } from '../../projections/engine/leadership.ts';
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
  const stop = new AbortController();
  const { signal } = stop;
  // Each start may listen to it.
  setMaxListeners(0, signal);
  const table = timetable({ model, moment: guardedClock.moment, set: (id, at) => clock.set(id, at) });
  const fired: FiredState = {};
  const decisions = deciding({ handle, clock: guardedClock, changed: table.changed, timer, signal, log });
  const clock = scheduleClock({ clock: guardedClock, timer, due: decisions.decide });
  const read = firedReader({ store, starting: (term) => starting(needs, term), state: fired, log });
  let following = Promise.resolve();
  let leading = Promise.resolve();

  const supervised = (term: AbortSignal, what: string, work: (goesOn: () => void) => Promise<void>): Promise<void> =>
    supervise(work, {
      signal: term,
      pauseMs,
      longestPauseMs,
      onFailure: (error, isNew) => {
        if (isNew) log(`${what} begins again`, { error });
      },
    });

  const follow = async (): Promise<void> => {
    await ready(signal);
    if (signal.aborted) return;
    await supervised(signal, 'The timetable of schedules', async () => {
      await table.load(signal);
      clock.start();
      await table.follow(signal);
    });
  };

  const startWhileLeading = async (term: AbortSignal): Promise<void> => {
    await ready(term);
    if (term.aborted) return;
    await supervised(term, 'The reader of schedules that have fired', (goesOn) => read(term, goesOn));
  };

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
      following = follow();
      leading = whileLeading(leadership, signal, startWhileLeading);
    },
    retry: retryingRuns(needs, starting(needs, signal)),
    /** Decides and starts nothing more, and waits for what is under way. The rest is left to the next start or leader. */
    stop: async (): Promise<void> => {
      stop.abort();
      clock.stop();
      await decisions.ended();
      await Promise.all([following, leading]);
    },
  };
};

export type Schedules = ReturnType<typeof schedules>;

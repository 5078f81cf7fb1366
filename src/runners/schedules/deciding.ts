import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Handle } from '../../commands/engine/handle.ts';
import { settleSchedule } from '../../commands/operations-manager/triggerSchedules.ts';
import type { Due } from '../../concurrency/dueQueue.ts';
import type { GuardedClock } from '../../concurrency/guardedClock.ts';
import type { Log } from '../../concurrency/log.ts';
import { places } from '../../concurrency/places.ts';
import { platform } from '../../domain/engine/core.ts';

type Needs = {
  readonly handle: Handle;
  readonly clock: Pick<GuardedClock, 'time' | 'moment'>;
  /** Looks the schedule up again: then the clock says when it is due. */
  readonly changed: (id: string) => void;
  /** Calls a function once after so many milliseconds, whatever becomes of the clock; returns what cancels it. */
  readonly timer: (call: () => void, ms: number) => () => void;
  readonly signal: AbortSignal;
  readonly log: Log;
};

/** How many schedules are decided at once. With more, requests wait longer meanwhile (docs/benchmarks.md). */
const atOnce = 3;
/** Requests have their turns between decisions. */
const restMs = 1;
const againMs = 1000;
const afterFailureMs = 5000;

/** Decides about schedules that are due, in their order, some at once. Any node may: the append decides. */
export const deciding = ({ handle, clock, changed, timer, signal, log }: Needs) => {
  const atPlace = places(
    () => atOnce,
    () => pause(restMs),
  );
  const underWay = new Set<Promise<void>>();
  /** What cancels the looks that are to come. */
  const toCome = new Set<() => void>();

  const lookAgain = (id: string, ms: number): void => {
    const cancel = timer(() => {
      toCome.delete(cancel);
      changed(id);
    }, ms);
    toCome.add(cancel);
  };

  const settle = async (id: string): Promise<void> => {
    if (signal.aborted) return;
    // It may have waited for its turn for long.
    if (clock.time() === undefined) return changed(id);
    // The event of a run begins a correlation of its own.
    const eventId = randomUUID();
    const request = {
      id,
      input: clock.moment(),
      actor: platform,
      operation: settleSchedule.name,
      requestId: eventId,
      eventId,
    };
    try {
      const { changed: isSettled } = await handle(settleSchedule, request);
      // Another node was faster, or the trigger has changed. The log will tell.
      if (!isSettled) lookAgain(id, againMs);
    } catch (error) {
      log('A schedule could not be decided; it is tried again', { trigger: id, error });
      lookAgain(id, afterFailureMs);
    }
  };

  return {
    /** Decides about all of these. */
    decide: (due: readonly Due[]): void => {
      for (const { id } of due) {
        const work = atPlace(() => settle(id));
        underWay.add(work);
        void work.finally(() => underWay.delete(work));
      }
    },
    /** To be called once the signal has aborted. Resolves when all decisions have ended. */
    ended: async (): Promise<void> => {
      await Promise.all(underWay);
      for (const cancel of toCome) cancel();
    },
  };
};

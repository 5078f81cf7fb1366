import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Handle } from '../../commands/engine/handle.ts';
import { settleSchedule } from '../../commands/operations-manager/triggerSchedules.ts';
import type { Due } from '../../concurrency/dueQueue.ts';
import { places } from '../../concurrency/places.ts';
import { platform } from '../../domain/engine/core.ts';
import type { Hold } from './timetable.ts';

type Needs = {
  readonly handle: Handle;
  /** Looks the schedule up again. */
  readonly changed: (id: string, hold: Hold) => void;
  readonly signal: AbortSignal;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** How many schedules are decided at once. With more, requests wait longer meanwhile (docs/benchmarks.md). */
const atOnce = 3;
/** Requests have their turns between decisions. */
const restMs = 1;
const againMs = 1000;
const afterFailureMs = 5000;

/** Decides about schedules that are due, in their order, some at once. Any node may: the append decides. */
export const deciding = ({ handle, changed, signal, log }: Needs) => {
  const atPlace = places(
    () => atOnce,
    () => pause(restMs),
  );
  const underWay = new Set<Promise<void>>();

  const settle = async ({ id, at }: Due, now: number): Promise<void> => {
    if (signal.aborted) return;
    // The event of a run begins a correlation of its own.
    const eventId = randomUUID();
    const request = {
      id,
      input: { now },
      actor: platform,
      operation: settleSchedule.name,
      requestId: eventId,
      eventId,
    };
    try {
      const { changed: isSettled } = await handle(settleSchedule, request);
      // Another node was faster, or the trigger has changed. The log will tell.
      if (!isSettled) changed(id, { at, until: now + againMs });
    } catch (error) {
      log('A schedule could not be decided; it is tried again', { trigger: id, error });
      changed(id, { at, until: now + afterFailureMs });
    }
  };

  return {
    /** Decides about all of these, at the time `now`. */
    decide: (due: readonly Due[], now: number): void => {
      for (const one of due) {
        const work = atPlace(() => settle(one, now));
        underWay.add(work);
        void work.finally(() => underWay.delete(work));
      }
    },
    /** Resolves when all decisions have ended. */
    ended: async (): Promise<void> => {
      await Promise.all(underWay);
    },
  };
};

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Due, type GuardedClock, idBatches, type Log, oneByOne, places } from '@automation-platform/concurrency';
import type { Handle } from '../../commands/engine/handle.ts';
import { settleSchedule } from '../../commands/operations-manager/triggerSchedules.ts';
import { platform } from '../../domain/engine/core.ts';
import { scheduleFault } from '../../domain/operations-manager/scheduleFaults.ts';
import type { Moment } from '../../domain/operations-manager/schedules.ts';
import { nextRun } from '../../domain/operations-manager/triggerSchedules.ts';
import { documentIn, documentsOf, pagesOf } from '../../projections/engine/documents.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import {
  type PlanDoc,
  type ScheduleDoc,
  schedulePlans,
  triggerSchedules,
} from '../../projections/operations-manager/triggerSchedules.ts';

type Needs = {
  readonly model: Pick<ReadStore, 'list' | 'getMany'>;
  readonly moment: () => Moment;
  /** Sets when a schedule is due; null: never. */
  readonly set: (id: string, at: number | null) => void;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown, isNew: boolean) => void;
};

/** How many schedules are looked up at once. */
const most = 500;

/** Tells the clock when schedules are due, by what the read models show. */
export const timetable = ({ model, moment, set, signal, onFailure }: Needs) => {
  /** Schedules that an earlier version has stored and that mean nothing. */
  const faulty = new Set<string>();
  let begin = (): void => undefined;
  const isLoaded = new Promise<void>((resolve) => {
    begin = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

  const setAll = async (plans: readonly PlanDoc[], runs: readonly ScheduleDoc[]): Promise<void> => {
    const byTrigger = new Map(runs.map((one) => [one.trigger, one]));
    await oneByOne(plans, (plan) => {
      if (scheduleFault(plan)) faulty.add(plan.trigger);
      else faulty.delete(plan.trigger);
      set(plan.trigger, nextRun(plan, byTrigger.get(plan.trigger), moment()));
    });
  };

  const lookUp = async (ids: readonly string[]): Promise<void> => {
    const runs = await documentsOf(model, triggerSchedules, ids);
    const plans = await documentsOf(model, schedulePlans, ids);
    const found = new Set(plans.map(({ trigger }) => trigger));
    for (const id of ids) {
      if (found.has(id)) continue;
      set(id, null);
      faulty.delete(id);
    }
    await setAll(plans, runs);
  };

  const changed = idBatches({
    work: async (ids) => {
      await isLoaded;
      if (!signal.aborted) await lookUp(ids);
    },
    most,
    signal,
    onFailure,
  });

  return {
    faults: (): number => faulty.size,
    /** The schedule is looked up again, once all schedules are read. */
    changed: changed.add,
    /** Reads all schedules. From then on, what changes is looked up. */
    load: async (): Promise<void> => {
      for await (const entries of pagesOf(model, schedulePlans, { sort: 'trigger', order: 1 })) {
        const plans = entries.map((entry) => documentIn(schedulePlans, entry));
        const ids = plans.map(({ trigger }) => trigger);
        await setAll(plans, await documentsOf(model, triggerSchedules, ids));
        signal.throwIfAborted();
      }
      begin();
    },
    /** Resolves once nothing is being looked up. */
    idle: changed.idle,
  };
};

type DecidingNeeds = {
  readonly handle: Handle;
  readonly clock: Pick<GuardedClock, 'time' | 'moment'>;
  /** Looks the schedule up again: then the clock says when it is due. */
  readonly changed: (id: string) => void;
  /** Calls a function once after `ms` milliseconds, whatever becomes of the clock; returns what cancels it. */
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
export const deciding = ({ handle, clock, changed, timer, signal, log }: DecidingNeeds) => {
  const atPlace = places(
    () => atOnce,
    () => pause(restMs),
  );
  const underWay = new Set<Promise<void>>();
  /** Functions that cancel the looks that are to come. */
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

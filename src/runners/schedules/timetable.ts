import { idBatches } from '../../concurrency/idBatches.ts';
import { oneByOne } from '../../concurrency/oneByOne.ts';
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

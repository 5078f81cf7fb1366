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
};

/** How many schedules are looked up at once. */
const most = 500;

/** Tells the clock when schedules are due, by what the read models show. */
export const timetable = ({ model, moment, set }: Needs) => {
  /** Schedules to look up. */
  let changed = new Set<string>();
  /** Schedules that an earlier version has stored and that mean nothing. */
  const faulty = new Set<string>();
  let wake = (): void => undefined;

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

  const take = (): readonly string[] => {
    const batch = [...changed].slice(0, most);
    for (const id of batch) changed.delete(id);
    return batch;
  };

  /** Looks up what has changed; whatever fails is looked up again. */
  const drain = async (): Promise<void> => {
    while (changed.size > 0) {
      const batch = take();
      try {
        await lookUp(batch);
      } catch (error) {
        changed = new Set([...batch, ...changed]);
        throw error;
      }
    }
  };

  return {
    faults: (): number => faulty.size,
    /** The schedule is looked up again. */
    changed: (id: string): void => {
      changed.add(id);
      wake();
    },
    /** Reads all schedules. To be called before `follow`, which looks up what has changed meanwhile. */
    load: async (signal: AbortSignal): Promise<void> => {
      for await (const entries of pagesOf(model, schedulePlans, { sort: 'trigger', order: 1 })) {
        const plans = entries.map((entry) => documentIn(schedulePlans, entry));
        const ids = plans.map(({ trigger }) => trigger);
        await setAll(plans, await documentsOf(model, triggerSchedules, ids));
        signal.throwIfAborted();
      }
    },
    /** Looks up what has changed, until the signal aborts. Rejects if the read models cannot be read. */
    follow: async (signal: AbortSignal): Promise<void> => {
      const stop = (): void => wake();
      signal.addEventListener('abort', stop, { once: true });
      try {
        while (!signal.aborted) {
          const news = new Promise<void>((resolve) => {
            wake = resolve;
          });
          await drain();
          await news;
        }
      } finally {
        signal.removeEventListener('abort', stop);
      }
    },
  };
};

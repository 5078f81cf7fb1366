import { aggregate, type Context, type Event } from '../engine/core.ts';
import type { Schedule } from './scheduleFaults.ts';
import { decide, sequenceOf } from './schedules.ts';

export type ScheduleEvent =
  /** The schedule begins anew: all instants up to `since` count as settled. */
  | Event<'scheduleSet', { readonly since: number }>
  /** Instants that were due and do not run: their number, the first and the last. */
  | Event<'runsMissed', { readonly count: number; readonly first: number; readonly last: number }>
  /** The instant runs. `job` is the id of the job that follows. */
  | Event<'scheduleFired', { readonly instant: number; readonly job: string }>;

/** All instants up to `through` are settled; null: the schedule has not begun. */
export type ScheduleState = { readonly through: number | null };

/**
 * What was decided about the instants of a trigger (docs/schedules.md). The id is that of the trigger. It is a stream of
 * its own, so that runs make no revision of the trigger stale. All times are epoch milliseconds.
 */
export const triggerSchedule = aggregate<ScheduleState, ScheduleEvent>({
  area: 'operations-manager',
  category: 'triggerSchedule',
  initial: { through: null },
  evolve: {
    scheduleSet: (_, { since }) => ({ through: since }),
    runsMissed: (_, { last }) => ({ through: last }),
    scheduleFired: (_, { instant }) => ({ through: instant }),
  },
  exists: ({ through }) => through !== null,
});

/** What a trigger says about its runs. */
export type Plan = Schedule & { readonly enabled: boolean; readonly processMissedRuns: 'none' | 'last' };

/** What was due in the minute before a schedule came to be is not missed. */
const grace = 60_000;

/** Where a schedule begins that came to be at this time (ISO 8601). */
export const sinceOf = (at: string): number => Date.parse(at) - grace;

/** `isNew`: the schedule has not begun since the last change of when the trigger runs. */
type SetRefs = { readonly isNew: boolean };

export const set = (
  _: ScheduleState,
  { since }: { readonly since: number },
  { refs: { isNew } }: Context<SetRefs>,
): readonly ScheduleEvent[] => (isNew ? [{ topic: 'scheduleSet', data: { since } }] : []);

type SettleRefs = {
  /** What the trigger says now; undefined if it is gone, or if `through` is still that of an earlier schedule. */
  readonly plan: Plan | undefined;
  /** The id of the job that an instant starts. */
  readonly jobOf: (instant: number) => string;
};

/** Settles what is due at a time: one run at most, and one event for all that are missed. */
export const settle = (
  { through }: ScheduleState,
  { now }: { readonly now: number },
  { refs: { plan, jobOf } }: Context<SettleRefs>,
): readonly ScheduleEvent[] => {
  if (through === null || !plan) return [];
  const { enabled, processMissedRuns } = plan;
  const decision = decide(sequenceOf(plan), { through, now, enabled, processMissedRuns });
  if (!decision) return [];
  const { run, missed } = decision;
  const events: ScheduleEvent[] = [];
  if (missed) events.push({ topic: 'runsMissed', data: missed });
  if (run !== null) events.push({ topic: 'scheduleFired', data: { instant: run, job: jobOf(run) } });
  return events;
};

/** A plan with the event from which it follows, and what a stream shows of the schedule that followed from an event. */
type Caused<T> = T & { readonly cause: string };

/**
 * When a schedule runs next; null: never. A schedule whose stream does not follow yet from its last change is not due.
 */
export const nextRun = (
  plan: Caused<Plan> | undefined,
  runs: Caused<{ readonly through: number }> | undefined,
): number | null => (plan?.enabled && runs?.cause === plan.cause ? sequenceOf(plan).next(runs.through) : null);

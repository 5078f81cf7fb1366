import { Type } from 'typebox';
import { aggregate, type Context, type EventOf } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { moment, text, topicsOf, whole } from '../engine/topics.ts';
import type { Schedule } from './scheduleFaults.ts';
import { decide, grace, type MissedRuns, type Moment, nextOpen, type Progress, sequenceOf } from './schedules.ts';

const topics = topicsOf({
  /**
   * All instants up to `since` count as settled. Of those up to `begun` only the last one may run. `ran`: later
   * instants than `since` that have run already. Events of earlier versions have only `since`.
   */
  scheduleSet: [
    'A schedule began anew at begun: instants up to since are settled, and of those up to begun only the last may run',
    Type.Object({
      since: moment,
      begun: Type.Optional(moment),
      ran: Type.Optional(Type.Array(moment, { description: 'Later instants than since that have run already' })),
    }),
  ],
  runsMissed: [
    'Instants of a schedule were due and do not run',
    Type.Object({ count: whole, first: moment, last: moment }),
  ],
  /** `job` is the id of the job that follows. */
  scheduleFired: ['An instant of a schedule starts a job', Type.Object({ instant: moment, job: text })],
});
export type ScheduleEvent = EventOf<typeof topics>;

/** `through` is null as long as the schedule has not begun. `fired`: the instants that ran last, in the order of runs. */
export type ScheduleState = Omit<Progress, 'through'> & {
  readonly through: number | null;
  readonly fired: readonly number[];
};

/**
 * The number of runs that are remembered, so that a schedule that begins anew does not run them again. Without a clock that went
 * back, only those of the last minute are needed. The job of an older one would not start a second time either: its id
 * is taken.
 */
const mostFired = 1000;

/**
 * The decisions about the instants of a trigger (docs/schedules.md). The id is that of the trigger. It is a stream of
 * its own, so that runs make no revision of the trigger stale. All times are epoch milliseconds.
 */
export const triggerSchedule = aggregate<ScheduleState, ScheduleEvent>({
  area: 'operations-manager',
  category: 'triggerSchedule',
  topics,
  initial: { through: null, fired: [] },
  evolve: {
    scheduleSet: ({ fired }, { since, begun, ran }) => ({ through: since, begun, ran, fired }),
    runsMissed: (state, { last }) => ({ ...state, through: last }),
    scheduleFired: (state, { instant }) => ({
      ...state,
      through: instant,
      fired: [...state.fired.slice(1 - mostFired), instant],
    }),
  },
  exists: ({ through }) => through !== null,
});

/** The members of a trigger that are about its runs. */
export type Plan = Schedule & { readonly enabled: boolean; readonly processMissedRuns: MissedRuns };

const beginning = ({ fired }: ScheduleState, since: number, startedAt?: number): ScheduleEvent => {
  const ran = fired.filter((instant) => instant > since);
  return {
    topic: 'scheduleSet',
    data: { since, ...defined({ begun: startedAt, ran: ran.length > 0 ? ran : undefined }) },
  };
};

/** `isNew`: the schedule has not begun since the last change of when the trigger runs. */
type SetRefs = { readonly isNew: boolean };

export const set = (
  state: ScheduleState,
  { begun }: { readonly begun: number },
  { refs: { isNew } }: Context<SetRefs>,
): readonly ScheduleEvent[] => (isNew ? [beginning(state, begun - grace, begun)] : []);

/** The log brings back a past: what was due since then is not missed. */
export const reset = (state: ScheduleState, { since }: { readonly since: number }): readonly ScheduleEvent[] => [
  beginning(state, since),
];

type SettleRefs = {
  /** The trigger as it is now; undefined if it is gone, or if `through` is still that of an earlier schedule. */
  readonly plan: Plan | undefined;
  /** The id of the job that an instant starts. */
  readonly jobOf: (instant: number) => string;
};

/** Settles what is due at a time: one run at most, and one event for all that are missed. */
export const settle = (
  { through, begun, ran }: ScheduleState,
  moment: Moment,
  { refs: { plan, jobOf } }: Context<SettleRefs>,
): readonly ScheduleEvent[] => {
  if (through === null || !plan) return [];
  const { enabled, processMissedRuns } = plan;
  const decision = decide(sequenceOf(plan), { through, begun, ran, ...moment, enabled, processMissedRuns });
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
 * When a schedule runs next, as seen at a time; null: never. A schedule whose stream does not follow yet from its
 * last change is not due.
 */
export const nextRun = (
  plan: Caused<Plan> | undefined,
  runs: Caused<Progress> | undefined,
  moment: Moment,
): number | null =>
  plan?.enabled && runs?.cause === plan.cause
    ? nextOpen(sequenceOf(plan), runs, { ...moment, processMissedRuns: plan.processMissedRuns })
    : null;

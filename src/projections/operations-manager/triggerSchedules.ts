import { same } from '../../domain/engine/changes.ts';
import { defined } from '../../domain/engine/defined.ts';
import { timing } from '../../domain/operations-manager/scheduleFaults.ts';
import type { Progress } from '../../domain/operations-manager/schedules.ts';
import type { TriggerPatch, Variants } from '../../domain/operations-manager/triggerMembers.ts';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { type TriggerContent, trigger } from '../../domain/operations-manager/triggers.ts';
import type { Recorded } from '../../store/event.ts';
import { idOf, projection } from '../engine/define.ts';

/** The instants between these two, both included. */
type Span = { readonly first: number; readonly last: number };

/** The decisions about the instants of a trigger. No route serves this document; answers of triggers show parts. */
export type ScheduleDoc = Progress & {
  readonly trigger: string;
  /** The event of the trigger from which the present schedule follows. */
  readonly cause: string;
  /** The instant of the last run. */
  readonly lastIntervalStart: number | null;
  /** The spans that were missed last, since the present schedule began. */
  readonly missed: readonly Span[];
};

/** A document remembers this number of spans. */
const mostMissed = 100;

export const triggerSchedules = projection<ScheduleDoc>()(triggerSchedule, {
  collection: 'triggerSchedules',
  on: {
    scheduleSet: (doc, event) => ({
      trigger: idOf(event),
      cause: event.metadata.$causationId,
      through: event.data.since,
      ...defined({ begun: event.data.begun, ran: event.data.ran }),
      lastIntervalStart: doc?.lastIntervalStart ?? null,
      missed: [],
    }),
    runsMissed: (doc, { data: { first, last } }) =>
      doc && { ...doc, through: last, missed: [...doc.missed, { first, last }].slice(-mostMissed) },
    scheduleFired: (doc, { data: { instant } }) =>
      doc && {
        ...doc,
        through: instant,
        lastIntervalStart: instant,
        // Of the instants before the schedule began, those that have run are shown.
        ...(instant <= (doc.begun ?? -Infinity) && { ran: [...(doc.ran ?? []), instant] }),
      },
  },
  sorts: { trigger: ({ trigger }) => trigger },
  filters: {},
});

const members = [...timing, 'enabled', 'processMissedRuns'] as const;

type Said = Pick<Variants['schedule'], (typeof members)[number]>;

/** The plan of a schedule trigger for its runs. No route serves this document. */
export type PlanDoc = Said & {
  readonly trigger: string;
  /** The event that has changed last when the trigger runs, and its time. */
  readonly cause: string;
  readonly at: string;
};

const saidIn = (content: TriggerContent | TriggerPatch): Partial<Said> => {
  const partialContent: Partial<Said> = content;
  return Object.fromEntries(
    members.filter((name) => partialContent[name] !== undefined).map((name) => [name, partialContent[name]]),
  );
};

const sameTiming = (one: Said, other: Said): boolean =>
  timing.every((member) => same(one[member] ?? null, other[member] ?? null));

/** The plan after an event. A change of anything but the timing keeps its cause. */
const planned = (before: PlanDoc | undefined, timing: Said, event: Recorded): PlanDoc => {
  const { cause, at } = before && sameTiming(before, timing) ? before : { cause: event.id, at: event.metadata.at };
  return { ...timing, trigger: idOf(event), cause, at };
};

/** The plans of schedule triggers, for the clock. */
export const schedulePlans = projection<PlanDoc>()(trigger, {
  collection: 'schedulePlans',
  on: {
    triggerCreated: (_, event) => planOf(undefined, event),
    triggerChanged: (doc, event) => doc && planned(doc, { ...doc, ...saidIn(event.data) }, event),
    triggerRestored: planOf,
    triggerDeleted: () => undefined,
  },
  beside: true,
  sorts: { trigger: ({ trigger }) => trigger },
  filters: {},
});

function planOf(before: PlanDoc | undefined, event: Recorded<TriggerContent>): PlanDoc | undefined {
  const content = event.data;
  return content.type === 'schedule' ? planned(before, saidIn(content) as Said, event) : undefined;
}

import type { Progress } from '../../domain/operations-manager/schedules.ts';
import { triggerSchedule } from '../../domain/operations-manager/triggerSchedules.ts';
import { projection } from '../engine/define.ts';
import { idOf } from '../engine/stamps.ts';

/** The instants between these two, both included. */
type Span = { readonly first: number; readonly last: number };

/** What was decided about the instants of a trigger. No route serves this document; answers of triggers show parts. */
export type ScheduleDoc = Progress & {
  readonly trigger: string;
  /** The event of the trigger from which the present schedule follows. */
  readonly cause: string;
  /** The instant of the last run. */
  readonly lastIntervalStart: number | null;
  /** The spans that were missed last, since the present schedule began. */
  readonly missed: readonly Span[];
};

/** A document remembers so many spans. */
const mostMissed = 100;

export const triggerSchedules = projection<ScheduleDoc>()(triggerSchedule, {
  collection: 'triggerSchedules',
  on: {
    scheduleSet: (doc, event) => ({
      trigger: idOf(event),
      cause: event.metadata.$causationId,
      through: event.data.since,
      ...(event.data.begun !== undefined && { begun: event.data.begun }),
      ...(event.data.ran && { ran: event.data.ran }),
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

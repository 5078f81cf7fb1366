import { same } from '../../domain/engine/changes.ts';
import { timing } from '../../domain/operations-manager/scheduleFaults.ts';
import type { TriggerPatch, Variants } from '../../domain/operations-manager/triggerMembers.ts';
import { type TriggerContent, trigger } from '../../domain/operations-manager/triggers.ts';
import type { Recorded } from '../../store/event.ts';
import { projection } from '../engine/define.ts';
import { idOf } from '../engine/stamps.ts';

const members = [...timing, 'enabled', 'processMissedRuns'] as const;

type Said = Pick<Variants['schedule'], (typeof members)[number]>;

/** What a schedule trigger says about its runs. No route serves this document. */
export type PlanDoc = Said & {
  readonly trigger: string;
  /** The event that has changed last when the trigger runs, and its time. */
  readonly cause: string;
  readonly at: string;
};

const saidIn = (content: TriggerContent | TriggerPatch): Partial<Said> => {
  const given: Partial<Said> = content;
  return Object.fromEntries(members.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]));
};

const sameTiming = (one: Said, other: Said): boolean =>
  timing.every((member) => same(one[member] ?? null, other[member] ?? null));

/** The plan after an event. A change of anything but the timing keeps its cause. */
const planned = (before: PlanDoc | undefined, said: Said, event: Recorded): PlanDoc => {
  const { cause, at } = before && sameTiming(before, said) ? before : { cause: event.id, at: event.metadata.at };
  return { ...said, trigger: idOf(event), cause, at };
};

/** What schedule triggers say about their runs, for the clock. */
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

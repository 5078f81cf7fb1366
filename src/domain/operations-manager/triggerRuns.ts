import { Type } from 'typebox';
import { aggregate, type EventOf, type SchemaData } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { moment, text, topicsOf, typed, whole } from '../engine/topics.ts';

/** Why a trigger that should have fired has started no job. */
const refusalReasons = ['loop', 'disabled', 'gone', 'rights', 'form', 'transformation', 'variables'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Refusals of one reason. `event` and `instant` are those of the last one. */
const refused = Type.Object({
  reason: typed<RefusalReason>()(text),
  count: whole,
  event: Type.Optional(text),
  instant: Type.Optional(moment),
  message: text,
});
type RunsRefused = SchemaData<typeof refused>;

/** Runs that have started jobs. `job` is the last one, `at` the time of its start: UTC, ISO 8601 with milliseconds. */
const ran = Type.Object({ count: whole, job: text, at: text });
export type TriggerRan = SchemaData<typeof ran>;

const topics = topicsOf({
  triggerRan: ['A trigger started jobs, of which this is the last', ran],
  runsRefused: ['A trigger that should have fired started no job', refused],
});
export type RunsEvent = EventOf<typeof topics>;

/** `last`: the last event that was refused. */
export type RunsState = { readonly ran: boolean; readonly last?: string | undefined };

/**
 * Outcomes of a trigger's firings; the id is that of the trigger. It is a stream of its own, so that runs make no
 * revision of the trigger stale. It stays when the trigger is deleted.
 */
export const triggerRuns = aggregate<RunsState, RunsEvent>({
  area: 'operations-manager',
  category: 'triggerRuns',
  topics,
  initial: { ran: false },
  evolve: {
    triggerRan: (state) => ({ ...state, ran: true }),
    runsRefused: ({ last }, { event }) => ({ ran: true, last: event ?? last }),
  },
  exists: ({ ran }) => ran,
});

/** Jobs that were started: whether all are counted makes no difference to anything. */
export const noteRuns = (_: RunsState, ran: TriggerRan): readonly RunsEvent[] => [{ topic: 'triggerRan', data: ran }];

/** Refusals of runs by events. `after`: the event of the refusals that the caller knows to be the last ones. */
export type RefusedAfter = RunsRefused & { readonly after: string | null };

/** Throws `conflict` if another node has stored refusals meanwhile: some of these may be among them. */
export const refuseRuns = ({ last }: RunsState, { after, ...refused }: RefusedAfter): readonly RunsEvent[] => {
  if ((last ?? null) !== after) throw new RequestError('conflict', 'Another process has refused runs of this trigger');
  return [{ topic: 'runsRefused', data: refused }];
};

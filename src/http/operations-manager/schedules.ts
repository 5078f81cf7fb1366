import { Type } from 'typebox';
import { type Fault, RequestError, refuseFaults } from '../../domain/engine/requestError.ts';
import { lastMoment, scheduleFault } from '../../domain/operations-manager/scheduleFaults.ts';
import { type Sequence, sequenceOf, upcoming, withoutNeverDue } from '../../domain/operations-manager/schedules.ts';
import { scheduleSchema } from '../../domain/operations-manager/triggerMembers.ts';
import { withInterval } from '../../domain/operations-manager/triggers.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import {
  type ScheduleDoc,
  schedulePlans,
  triggerSchedules,
} from '../../projections/operations-manager/triggerSchedules.ts';
import { type TriggerDoc, triggers } from '../../projections/operations-manager/triggers.ts';
import type { Answer } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';

/** A trigger with the fault of its schedule, if an earlier version has stored one. Exports are without it. */
export const withFault = (doc: TriggerDoc): TriggerDoc & { readonly fault?: Fault } => {
  const fault = doc.type === 'schedule' ? scheduleFault(doc) : undefined;
  return fault ? { ...doc, fault } : doc;
};

const query = {
  count: Type.Integer({ minimum: 1, maximum: 1000, default: 10, description: 'How many instants to answer at most' }),
  after: Type.Integer({
    minimum: -lastMoment,
    maximum: lastMoment,
    description: 'Answers only later instants, epoch milliseconds; now if not given',
  }),
};

const answer = enveloped(
  Type.Array(
    Type.Object({
      at: Type.Integer({ description: 'Epoch milliseconds' }),
      state: Type.Enum(['settled', 'missed', 'next'], {
        description: 'settled: decided already; missed: decided, and did not run; next: still to come',
      }),
    }),
  ),
);

/** The decision about an instant. */
const stateOf = (at: number, runs: ScheduleDoc | undefined): 'settled' | 'missed' | 'next' => {
  if (!runs || (at > runs.through && !runs.ran?.includes(at))) return 'next';
  return runs.missed.some(({ first, last }) => first <= at && at <= last) ? 'missed' : 'settled';
};

const preview = (
  sequence: Pick<Sequence, 'next'>,
  { count = 10, after }: { readonly count?: number; readonly after: number },
  runs?: ScheduleDoc,
): Answer => {
  const instants = upcoming(sequence, after, count);
  return {
    body: {
      message: 'Successfully retrieved instants',
      data: instants.map((at) => ({ at, state: stateOf(at, runs) })),
      metadata: {},
    },
  };
};

export const previewTrigger = actionRoute({
  name: 'previewTrigger',
  method: 'get',
  path: '/triggers/:id/preview',
  access: ['operators', 'readers'],
  summary: 'List the instants of a schedule trigger',
  description: 'Also of a trigger that is not enabled. Another type is 409. See docs/schedules.md.',
  query,
  answer,
  run: async ({ params: { id }, query, actor }, service) => {
    const moment = service.moment();
    const input = { after: moment.now, ...query };
    const { text } = await service.entry(triggers, id, actor);
    const doc = JSON.parse(text) as TriggerDoc;
    if (doc.type !== 'schedule')
      throw new RequestError('conflict', `A trigger of type ${doc.type} has no instants: only a schedule has`);
    const [plan, runs] = await Promise.all([
      documentOf(service.model, schedulePlans, doc._id),
      documentOf(service.model, triggerSchedules, doc._id),
    ]);
    const sequence = sequenceOf(doc);
    if (!runs || plan?.cause !== runs.cause) return preview(sequence, input);
    const present = { ...moment, processMissedRuns: doc.processMissedRuns };
    return preview(withoutNeverDue(sequence, runs, present), input, runs);
  },
});

export const previewSchedule = actionRoute({
  name: 'previewSchedule',
  method: 'post',
  path: '/triggers/preview',
  access: ['operators', 'readers'],
  summary: 'List the instants of a schedule that is not stored',
  description: 'A schedule that no trigger may have is 400, with the path of the node. See docs/schedules.md.',
  query,
  body: Type.Object({ schedule: scheduleSchema }, { additionalProperties: false }),
  answer,
  run: async ({ body, query }, { moment }) => {
    const path = '/schedule';
    const schedule = withInterval(body.schedule, path);
    const fault = scheduleFault(schedule, path);
    refuseFaults('invalid', fault ? [fault] : []);
    return preview(sequenceOf(schedule), { after: moment().now, ...query });
  },
});

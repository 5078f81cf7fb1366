import { Type } from 'typebox';
import { formFaultOf } from '../../commands/operations-manager/neverRunning.ts';
import {
  createTrigger,
  deleteTrigger,
  importTrigger,
  updateTrigger,
} from '../../commands/operations-manager/triggers.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { type Fault, RequestError, refuseFaults } from '../../domain/engine/requestError.ts';
import { importedTriggerSchema, missingInTrigger } from '../../domain/operations-manager/importedTriggers.ts';
import { lastMoment, scheduleFault } from '../../domain/operations-manager/scheduleFaults.ts';
import { type Sequence, sequenceOf, upcoming, withoutNeverDue } from '../../domain/operations-manager/schedules.ts';
import { scheduleSchema, triggerSchema } from '../../domain/operations-manager/triggerMembers.ts';
import { nextRun } from '../../domain/operations-manager/triggerSchedules.ts';
import { trigger, withInterval } from '../../domain/operations-manager/triggers.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { triggerRuns } from '../../projections/operations-manager/triggerRuns.ts';
import {
  type ScheduleDoc,
  schedulePlans,
  triggerSchedules,
} from '../../projections/operations-manager/triggerSchedules.ts';
import { type TriggerDoc, triggers } from '../../projections/operations-manager/triggers.ts';
import { importRoute } from '../engine/imports.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { Answer, Call, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';

/** A trigger with the fault of its schedule, if an earlier version has stored one. Exports are without it. */
const withFault = (doc: TriggerDoc): TriggerDoc & { readonly fault?: Fault } => {
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

const previewTrigger = actionRoute({
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

const previewSchedule = actionRoute({
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

const path = '/triggers/:id';

/** Reads what a projection shows of a trigger. */
type Read = <Doc>(projection: Projection<Doc>) => Promise<Doc | undefined>;

/** A trigger with what came of its runs, and with the fault of its schedule. */
const withRuns = async (doc: TriggerDoc, { moment }: Pick<Service, 'moment'>, read: Read) => {
  const { lastExecuted = null } = (await read(triggerRuns)) ?? {};
  if (doc.type !== 'schedule') return { ...doc, lastExecuted };
  const runs = await read(triggerSchedules);
  const nextRunAt = nextRun(await read(schedulePlans), runs, moment());
  return withFault({ ...doc, lastExecuted, nextRunAt, lastIntervalStart: runs?.lastIntervalStart ?? null });
};

const showTrigger = (doc: TriggerDoc, service: Pick<Service, 'model' | 'moment'>) =>
  withRuns(doc, service, (projection) => documentOf(service.model, projection, doc._id));

type Caller = Pick<Call, 'actor'>;

/** The same, with what its form lacks. Lists are without that: they would look up a form for each trigger. */
const shownAlone = async (doc: TriggerDoc, service: Pick<Service, 'model' | 'moment' | 'tools'>, { actor }: Caller) =>
  withFormFault(await showTrigger(doc, service), actor, service);

/** A trigger that was just changed. The schedule that follows from the change may not be in the read models yet. */
const shownAtOnce = async (doc: TriggerDoc, service: Pick<Service, 'moment' | 'tools'>, { actor }: Caller) =>
  withFormFault(await withRuns(doc, service, (projection) => service.tools.shown(projection, doc._id)), actor, service);

/** A trigger that says why its form lets no run of its schedule pass. */
const withFormFault = async <Doc extends TriggerDoc & { readonly fault?: Fault }>(
  doc: Doc,
  actor: Actor,
  { tools }: Pick<Service, 'tools'>,
): Promise<Doc> => {
  const { content } = await tools.state(trigger, doc._id); // the document has masked secrets
  const fault = doc.fault ?? (content && (await formFaultOf(content, actor, tools)));
  return fault ? { ...doc, fault } : doc;
};

const importTriggers = importRoute({
  name: 'importTriggers',
  method: 'put',
  path: '/triggers',
  access: ['operators'],
  summary: 'Import triggers',
  description:
    'Members that the service does not know are kept. Ids, times and authors are kept. The same document again is no change; other content under a used id is ' +
    '409 unless overwrite is true. A secret in clear is other content, be it right or wrong; ******** keeps ' +
    'the one that is stored.',
  member: 'triggers',
  document: importedTriggerSchema,
  itemSchema: triggerSchema,
  take: async ({ document: trigger, path, overwrite, about }, service, call) => {
    const { id, doc, position, replayed } = await service.handle(importTrigger, {
      ...about,
      id: trigger._id,
      input: { trigger, overwrite },
    });
    const missingSecrets = missingInTrigger(await service.tools.state(importTrigger.aggregate, id), path);
    return { data: await shownAtOnce(doc as TriggerDoc, service, call), position, replayed, missingSecrets };
  },
});

const usual = resourceRoutes({
  noun: 'trigger',
  inMessages: 'triggers',
  path: '/triggers',
  one: path,
  documents: triggers,
  schema: triggerSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  join: showTrigger,
});

/** Triggers of all four types. */
export const triggerRoutes: readonly Route[] = [
  usual.list({ name: 'getTriggers', summary: 'List triggers' }),
  usual.create({
    name: 'createTrigger',
    summary: 'Create a trigger',
    description:
      'type says which members it has: endpoint, eventSystem, manual or schedule. The accounts that may change the ' +
      'automation may create it.',
    command: createTrigger,
    join: shownAtOnce,
  }),
  importTriggers,
  previewSchedule,
  previewTrigger,
  usual.get({
    name: 'getTrigger',
    summary: 'Get a trigger',
    join: shownAlone,
  }),
  usual.update({
    name: 'updateTrigger',
    summary: 'Change a trigger',
    description: 'The type cannot change; another actionId moves it to another automation.',
    command: updateTrigger,
    join: shownAtOnce,
  }),
  usual.remove({
    name: 'deleteTrigger',
    summary: 'Delete a trigger',
    command: deleteTrigger,
  }),
];

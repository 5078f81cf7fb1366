import { Type } from 'typebox';
import { formFaultOf } from '../../commands/operations-manager/neverRunning.ts';
import {
  createTrigger,
  deleteTrigger,
  importTrigger,
  updateTrigger,
} from '../../commands/operations-manager/triggers.ts';
import type { Actor } from '../../domain/engine/core.ts';
import type { Fault } from '../../domain/engine/requestError.ts';
import { importedTriggerSchema, missingInTrigger } from '../../domain/operations-manager/importedTriggers.ts';
import { triggerSchema } from '../../domain/operations-manager/triggerMembers.ts';
import { nextRun } from '../../domain/operations-manager/triggerSchedules.ts';
import { trigger } from '../../domain/operations-manager/triggers.ts';
import type { Projection } from '../../projections/engine/define.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { triggerRuns } from '../../projections/operations-manager/triggerRuns.ts';
import { schedulePlans, triggerSchedules } from '../../projections/operations-manager/triggerSchedules.ts';
import { type TriggerDoc, triggers } from '../../projections/operations-manager/triggers.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import type { Call, Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';
import { previewSchedule, previewTrigger, withFault } from './schedules.ts';

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

/** Triggers of all four types. */
export const triggerRoutes: readonly Route[] = [
  listRoute({
    name: 'getTriggers',
    method: 'get',
    path: '/triggers',
    access: ['operators', 'readers'],
    summary: 'List triggers',
    list: triggers,
    join: showTrigger,
    envelope: resultsWithMessage('Successfully retrieved triggers'),
    answer: enveloped(Type.Array(triggerSchema)),
  }),
  commandRoute({
    name: 'createTrigger',
    method: 'post',
    path: '/triggers',
    access: ['operators'],
    summary: 'Create a trigger',
    description:
      'type says which members it has: endpoint, eventSystem, manual or schedule. Who may change the ' +
      'automation may create it.',
    command: createTrigger,
    join: shownAtOnce,
    envelope: withMessage('Successfully created trigger'),
    answer: enveloped(triggerSchema),
  }),
  importTriggers,
  previewSchedule,
  previewTrigger,
  getRoute({
    name: 'getTrigger',
    method: 'get',
    path,
    access: ['operators', 'readers'],
    summary: 'Get a trigger',
    get: triggers,
    join: shownAlone,
    envelope: withMessage('Successfully retrieved trigger'),
    answer: enveloped(triggerSchema),
  }),
  commandRoute({
    name: 'updateTrigger',
    method: 'patch',
    path,
    access: ['operators'],
    summary: 'Change a trigger',
    description: 'The type cannot change; another actionId moves it to another automation.',
    command: updateTrigger,
    join: shownAtOnce,
    envelope: withMessage('Successfully updated trigger'),
    answer: enveloped(triggerSchema),
  }),
  commandRoute({
    name: 'deleteTrigger',
    method: 'delete',
    path,
    access: ['operators'],
    summary: 'Delete a trigger',
    command: deleteTrigger,
    join: showTrigger,
    envelope: withMessage('Successfully deleted trigger'),
    answer: enveloped(triggerSchema),
  }),
];

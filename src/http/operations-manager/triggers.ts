import { Type } from 'typebox';
import {
  createTrigger,
  deleteTrigger,
  importTrigger,
  updateTrigger,
} from '../../commands/operations-manager/triggers.ts';
import { importedTriggerSchema, missingInTrigger } from '../../domain/operations-manager/importedTriggers.ts';
import { triggerSchema } from '../../domain/operations-manager/triggerMembers.ts';
import { documentOf } from '../../projections/engine/documents.ts';
import { triggerRuns } from '../../projections/operations-manager/triggerRuns.ts';
import { type TriggerDoc, triggers } from '../../projections/operations-manager/triggers.ts';
import { resultsWithMessage, withMessage } from '../engine/envelopes.ts';
import { importRoute } from '../engine/imports.ts';
import type { Route } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { enveloped } from '../engine/schemas.ts';
import type { Service } from '../engine/service.ts';
import { previewSchedule, previewTrigger, withFault } from './schedules.ts';

const path = '/triggers/:id';

/** A trigger with the time of its last run, and with the fault of its schedule. */
const shown = async (doc: TriggerDoc, { model }: Pick<Service, 'model'>) => {
  const runs = await documentOf(model, triggerRuns, doc._id);
  return withFault(runs ? { ...doc, lastExecuted: runs.lastExecuted } : doc);
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
  shown: triggerSchema,
  take: async ({ document: trigger, path, overwrite, about }, service) => {
    const { id, doc, position, replayed } = await service.handle(importTrigger, {
      ...about,
      id: trigger._id,
      input: { trigger, overwrite },
    });
    const missingSecrets = missingInTrigger(await service.tools.state(importTrigger.aggregate, id), path);
    return { data: await shown(doc as TriggerDoc, service), position, replayed, missingSecrets };
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
    join: shown,
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
    join: shown,
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
    join: shown,
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
    join: shown,
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
    join: shown,
    envelope: withMessage('Successfully deleted trigger'),
    answer: enveloped(triggerSchema),
  }),
];

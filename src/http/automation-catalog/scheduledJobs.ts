import { type Static, Type } from 'typebox';
import { importScheduledJob } from '../../commands/automation-catalog/scheduledJobImports.ts';
import { migrateAgendaJobs } from '../../commands/automation-catalog/scheduledJobMigrations.ts';
import { createScheduledJob } from '../../commands/automation-catalog/scheduledJobs.ts';
import { neverRunning } from '../../commands/operations-manager/neverRunning.ts';
import { importedScheduledJobSchema, jobIdIn } from '../../domain/automation-catalog/scheduledJobImports.ts';
import { inWords, type migrationSchema } from '../../domain/automation-catalog/scheduledJobMigrations.ts';
import { scheduledJob, scheduledJobSchema, titleOf } from '../../domain/automation-catalog/scheduledJobs.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import {
  type MigrationDoc,
  type ScheduledJobDoc,
  scheduledJobs,
} from '../../projections/automation-catalog/scheduledJobs.ts';
import { documentsOf, nameOf } from '../../projections/engine/documents.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import { signed } from '../authorization/people.ts';
import { plain } from '../engine/envelopes.ts';
import { exportedText, importRoute, missingIn } from '../engine/imports.ts';
import { resourceRoutes } from '../engine/resourceRoutes.ts';
import type { AreaRoutes, Call, Join, Route } from '../engine/route.ts';
import { actionRoute, commandRoute } from '../engine/routes.ts';
import { wordsSchema } from '../engine/schemas.ts';

/** A scheduled job in answers. */
const showScheduledJob: Join<ScheduledJobDoc> = async (doc, service, call) =>
  maskSecrets(await signed(doc, service, call));

const importScheduledJobs = importRoute({
  name: 'importScheduledJobs',
  method: 'post',
  path: '/import/scheduled-jobs',
  access: ['operators'],
  summary: 'Import scheduled jobs of any installation',
  description:
    'They do not run here: they are there to be migrated. Ids, times and authors are kept; several jobs may have one ' +
    'name. The same document again is no change; other content under a used id is 409 unless overwrite is true. A job ' +
    'that has become an automation stays as it is.',
  member: 'scheduledJobs',
  document: importedScheduledJobSchema,
  itemSchema: scheduledJobSchema,
  take: async ({ document: job, path, overwrite, about }, service, call) => {
    const id = jobIdIn(job);
    const { doc, position, replayed } = await service.handle(importScheduledJob, {
      ...about,
      id,
      input: { job, overwrite },
    });
    return {
      data: await showScheduledJob(doc as ScheduledJobDoc, service, call),
      position,
      replayed,
      missingSecrets: await missingIn(scheduledJob, id, path, service),
    };
  },
});

const exportScheduledJob = actionRoute({
  name: 'exportScheduledJob',
  method: 'get',
  reads: true,
  path: '/scheduled-jobs/:id/export',
  access: ['operators', 'readers'],
  summary: 'Export a scheduled job',
  description:
    'The document that the import of scheduled jobs takes back, with all that an import brought and the service does not know. ' +
    'Secrets are masked. The form has its name.',
  query: { as: wordsSchema },
  answer: importedScheduledJobSchema,
  run: async (call, service) => {
    const { id, text } = await service.entry(scheduledJobs, call.params.id, call.actor);
    const doc: ScheduledJobDoc = JSON.parse(text);
    const { formId } = doc.data;
    const data =
      formId == null ? doc.data : { ...doc.data, formId: await nameOf(service.model, forms, formId, call.actor) };
    const document = (await showScheduledJob({ ...doc, data }, service, call)) as object;
    return {
      text: await exportedText({ aggregate: scheduledJob, id, view: document, words: call.query.as }, service),
      exported: { kind: scheduledJob.category, id },
    };
  },
});

/** Imports and exports of scheduled jobs. */
const scheduledJobTransferRoutes: readonly Route[] = [importScheduledJobs, exportScheduledJob];

/**
 * The answer: which jobs were created and which were skipped. If nothing was stored, all jobs of the request had been
 * migrated before.
 */
const showMigration: Join<MigrationDoc | null, Call<never, Static<typeof migrationSchema>>> = async (
  doc,
  { model, tools },
  { actor, body: { agendaJobs } },
) => {
  if (doc) {
    const { migrated, skipped } = doc;
    const silent = await neverRunning(
      migrated.map(({ automation }) => automation),
      actor,
      tools,
    );
    return [
      inWords(
        migrated.map(({ name }) => name),
        skipped.map(({ name }) => name),
      ),
      ...silent.map(({ id, message }) => {
        const { name } = migrated.find(({ schedule }) => schedule?._id === id) ?? {};
        return `${name}: ${message}.`;
      }),
    ].join(' ');
  }
  const jobs = await documentsOf(model, scheduledJobs, agendaJobs);
  return inWords([], jobs.map(titleOf));
};

const usual = resourceRoutes({
  noun: 'scheduled job',
  path: '/scheduled-jobs',
  one: '/scheduled-jobs/:id',
  documents: scheduledJobs,
  schema: scheduledJobSchema,
  read: ['operators', 'readers'],
  change: ['operators'],
  join: showScheduledJob,
});

/** Scheduled jobs of earlier versions, and `migrateAgendaJobs`, which turns them into automations. */
export const automationCatalogRoutes: AreaRoutes = {
  area: 'automation-catalog',
  prefix: '/automation_catalog',
  routes: [
    ...scheduledJobTransferRoutes,
    usual.list({ name: 'getScheduledJobs', summary: 'List scheduled jobs' }),
    usual.get({ name: 'getScheduledJob', summary: 'Get a scheduled job' }),
    usual.create({
      name: 'createScheduledJob',
      summary: 'Take in a scheduled job of an earlier version',
      description:
        'It does not run here: it is there to be migrated. A given _id is kept; one that another job has is 409.',
      command: createScheduledJob,
      key: (_, { _id }) => _id ?? undefined,
    }),
    commandRoute({
      name: 'migrateAgendaJobs',
      method: 'post',
      path: '/automations/migration',
      access: ['operators'],
      summary: 'Make automations of scheduled jobs, all or none',
      description:
        'Each gets a manual trigger and, if it was scheduled, a schedule trigger, which is disabled. The job ' +
        'stays and is marked; one that has been migrated is skipped. A name that is taken gets a number. ' +
        'Jobs, groups and forms that are not there are 404, form data that do not fit their form 422, all ' +
        'naming all.',
      command: migrateAgendaJobs,
      join: showMigration,
      envelope: plain,
      answer: Type.String({ description: 'The documents that were created, and those that were skipped' }),
    }),
  ],
};

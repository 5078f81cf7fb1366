import { importScheduledJob } from '../../commands/automation-catalog/scheduledJobImports.ts';
import { importedScheduledJobSchema, jobIdIn } from '../../domain/automation-catalog/scheduledJobImports.ts';
import { scheduledJob, scheduledJobSchema } from '../../domain/automation-catalog/scheduledJobs.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { type ScheduledJobDoc, scheduledJobs } from '../../projections/automation-catalog/scheduledJobs.ts';
import { nameOf } from '../../projections/engine/documents.ts';
import { forms } from '../../projections/json-forms/forms.ts';
import { signed } from '../authorization/people.ts';
import { exportedText, missingIn } from '../engine/importedDocuments.ts';
import { importRoute } from '../engine/imports.ts';
import type { Join, Route } from '../engine/route.ts';
import { actionRoute } from '../engine/routes.ts';
import { wordsSchema } from '../engine/schemas.ts';

/** A scheduled job in answers. */
export const shown: Join<ScheduledJobDoc> = async (doc, service, call) => maskSecrets(await signed(doc, service, call));

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
  shown: scheduledJobSchema,
  take: async ({ document: job, path, overwrite, about }, service, call) => {
    const id = jobIdIn(job);
    const { doc, position, replayed } = await service.handle(importScheduledJob, {
      ...about,
      id,
      input: { job, overwrite },
    });
    return {
      data: await shown(doc as ScheduledJobDoc, service, call),
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
    'What the import of scheduled jobs takes back, with all that an import brought and the service does not know. ' +
    'Secrets are masked. The form has its name.',
  query: { as: wordsSchema },
  answer: importedScheduledJobSchema,
  run: async (call, service) => {
    const { id, text } = await service.entry(scheduledJobs, call.params.id, call.actor);
    const doc: ScheduledJobDoc = JSON.parse(text);
    const { formId } = doc.data;
    const data = formId == null ? doc.data : { ...doc.data, formId: await nameOf(service.model, forms, formId) };
    const document = (await shown({ ...doc, data }, service, call)) as object;
    return {
      text: await exportedText({ aggregate: scheduledJob, id, shown: document, words: call.query.as }, service),
      exported: { kind: scheduledJob.category, id },
    };
  },
});

/** Imports and exports of scheduled jobs. */
export const scheduledJobTransferRoutes: readonly Route[] = [importScheduledJobs, exportScheduledJob];

import type { Static } from 'typebox';
import { Type } from 'typebox';
import { migrateAgendaJobs } from '../../commands/automation-catalog/scheduledJobMigrations.ts';
import { createScheduledJob } from '../../commands/automation-catalog/scheduledJobs.ts';
import { neverRunning } from '../../commands/operations-manager/neverRunning.ts';
import { inWords, type migrationSchema } from '../../domain/automation-catalog/scheduledJobMigrations.ts';
import { scheduledJobSchema, titleOf } from '../../domain/automation-catalog/scheduledJobs.ts';
import type { MigrationDoc } from '../../projections/automation-catalog/scheduledJobMigrations.ts';
import { scheduledJobs } from '../../projections/automation-catalog/scheduledJobs.ts';
import { documentsOf } from '../../projections/engine/documents.ts';
import { plain, results, withStatus } from '../engine/envelopes.ts';
import type { AreaRoutes, Call, Join } from '../engine/route.ts';
import { commandRoute, getRoute, listRoute } from '../engine/routes.ts';
import { changed, listed } from '../engine/schemas.ts';
import { scheduledJobTransferRoutes, shown } from './scheduledJobTransfer.ts';

/**
 * The answer: which jobs were created and which were skipped. If nothing was stored, all jobs of the request had been
 * migrated before.
 */
const told: Join<MigrationDoc | null, Call<never, Static<typeof migrationSchema>>> = async (
  doc,
  { model, tools },
  { body: { agendaJobs } },
) => {
  if (doc) {
    const { migrated, skipped } = doc;
    const silent = await neverRunning(
      migrated.map(({ automation }) => automation),
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

/** Scheduled jobs of earlier versions, and `migrateAgendaJobs`, which turns them into automations. */
export const automationCatalogRoutes: AreaRoutes = {
  area: 'automation-catalog',
  prefix: '/automation_catalog',
  routes: [
    ...scheduledJobTransferRoutes,
    listRoute({
      name: 'getScheduledJobs',
      method: 'get',
      path: '/scheduled-jobs',
      access: ['operators', 'readers'],
      summary: 'List scheduled jobs',
      list: scheduledJobs,
      join: shown,
      envelope: results,
      answer: listed(scheduledJobSchema),
    }),
    getRoute({
      name: 'getScheduledJob',
      method: 'get',
      path: '/scheduled-jobs/:id',
      access: ['operators', 'readers'],
      summary: 'Get a scheduled job',
      get: scheduledJobs,
      join: shown,
      envelope: plain,
      answer: scheduledJobSchema,
    }),
    commandRoute({
      name: 'createScheduledJob',
      method: 'post',
      path: '/scheduled-jobs',
      access: ['operators'],
      summary: 'Take in a scheduled job of an earlier version',
      description:
        'It does not run here: it is there to be migrated. A given _id is kept; one that another job has is 409.',
      command: createScheduledJob,
      key: (_, { _id }) => _id ?? undefined,
      join: shown,
      envelope: withStatus(() => 'Successfully created scheduled job'),
      answer: changed(scheduledJobSchema),
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
      join: told,
      envelope: plain,
      answer: Type.String({ description: 'What was created and what was skipped' }),
    }),
  ],
};

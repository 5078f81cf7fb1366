import {
  type MigrationDecided,
  scheduledJobMigration,
} from '../../domain/automation-catalog/scheduledJobMigrations.ts';
import { gbacOfJob, type ScheduledJob, scheduledJob } from '../../domain/automation-catalog/scheduledJobs.ts';
import type { Authored } from '../../domain/engine/authors.ts';
import { authorship, idOf, projection, touched } from '../engine/define.ts';
import { listsGuard } from '../engine/guards.ts';

export type ScheduledJobDoc = {
  readonly _id: string;
  readonly migrated: boolean;
  readonly automation: string | null;
} & ScheduledJob &
  Authored;

/** Scheduled jobs; authors are ids of accounts, secrets are sealed. */
export const scheduledJobs = projection<ScheduledJobDoc>()(scheduledJob, {
  collection: 'scheduledJobs',
  on: {
    scheduledJobCreated: (_, event) => ({
      _id: idOf(event),
      ...event.data,
      migrated: false,
      automation: null,
      ...authorship(event),
    }),
    scheduledJobRestored: (_, event) => {
      const { imported: __, ...document } = event.data;
      return { _id: idOf(event), ...document, migrated: false, automation: null };
    },
    scheduledJobMigrated: (doc, event) =>
      doc && { ...doc, migrated: true, automation: event.data.automation, ...touched(event) },
  },
  sorts: { name: (doc) => doc.name, created: (doc) => doc.created },
  filters: { name: (doc) => doc.name, migrated: (doc) => String(doc.migrated) },
  guard: (doc) => listsGuard(gbacOfJob(doc)),
});

export type MigrationDoc = { readonly _id: string } & MigrationDecided;

/** Migrations of scheduled jobs that are decided. Their parts may not be carried out yet in all streams. */
export const scheduledJobMigrations = projection<MigrationDoc>()(scheduledJobMigration, {
  collection: 'scheduledJobMigrations',
  on: { migrationDecided: (_, event) => ({ _id: idOf(event), ...event.data }) },
  sorts: { name: (doc) => doc._id },
  filters: { job: (doc) => doc.migrated.map(({ job }) => job) },
});

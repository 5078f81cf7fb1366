import {
  type MigrationDecided,
  scheduledJobMigration,
} from '../../domain/automation-catalog/scheduledJobMigrations.ts';
import { projection } from '../engine/define.ts';
import { idOf } from '../engine/stamps.ts';

export type MigrationDoc = { readonly _id: string } & MigrationDecided;

/** Migrations of scheduled jobs that are decided. Their parts may not be carried out yet in all streams. */
export const scheduledJobMigrations = projection<MigrationDoc>()(scheduledJobMigration, {
  collection: 'scheduledJobMigrations',
  on: { migrationDecided: (_, event) => ({ _id: idOf(event), ...event.data }) },
  sorts: { name: (doc) => doc._id },
  filters: { job: (doc) => doc.migrated.map(({ job }) => job) },
});

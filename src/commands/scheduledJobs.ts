import { Type } from 'typebox';
import { create, markMigrated, newScheduledJobSchema, type ScheduledJob, scheduledJob } from '../domain/scheduledJobs.ts';
import { sealSecrets } from '../domain/secretFields.ts';
import { commandsOf } from './define.ts';

const command = commandsOf(scheduledJob);

export const createScheduledJob = command({
  name: 'createScheduledJob', input: newScheduledJobSchema, on: 'new', decide: create,
  prepare: async ({ input }, { seal }) => ({ sealed: sealSecrets(input, undefined, seal) as ScheduledJob }),
});

/** Part of a migration. */
export const markScheduledJobMigrated = command({ name: 'markScheduledJobMigrated', input: Type.Object({ automation: Type.String() }), on: 'existing', decide: markMigrated });

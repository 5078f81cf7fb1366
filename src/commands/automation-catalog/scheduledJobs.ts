import { Type } from 'typebox';
import {
  create,
  markMigrated,
  newScheduledJobSchema,
  type ScheduledJob,
  scheduledJob,
} from '../../domain/automation-catalog/scheduledJobs.ts';
import { sealSecrets } from '../../domain/engine/secretFields.ts';
import { commandsOf } from '../engine/define.ts';
import { importing } from '../engine/locks.ts';

const command = commandsOf(scheduledJob);

export const createScheduledJob = command({
  name: 'createScheduledJob',
  input: newScheduledJobSchema,
  on: 'new',
  locks: (_, { _id }) => (_id == null ? undefined : importing),
  decide: create,
  prepare: async ({ input }, { seal }) => ({ sealed: sealSecrets(input, undefined, seal) as ScheduledJob }),
});

/** Part of a migration. */
export const markScheduledJobMigrated = command({
  name: 'markScheduledJobMigrated',
  input: Type.Object({ automation: Type.String() }),
  on: 'existing',
  decide: markMigrated,
});

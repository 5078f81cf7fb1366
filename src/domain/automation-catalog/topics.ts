import { Type } from 'typebox';
import { anything, type Described, describeTopics, restored, text, textOrNull } from '../engine/topics.ts';
import { scheduledJobMigration } from './scheduledJobMigrations.ts';
import { scheduledJob } from './scheduledJobs.ts';

// Further members are kept as they were given.
const content = { name: text, repeatInterval: Type.Optional(anything), data: Type.Object({ workflowId: text }) };

export const scheduledJobTopics: readonly Described[] = [
  describeTopics(scheduledJob, {
    scheduledJobCreated: ['A scheduled job of an earlier version was taken in', Type.Object(content)],
    scheduledJobRestored: [
      'A scheduled job got the content of an imported document',
      Type.Object({ ...content, ...restored }),
    ],
    scheduledJobMigrated: ['A scheduled job became an automation', Type.Object({ automation: text })],
  }),
  describeTopics(scheduledJobMigration, {
    migrationDecided: [
      'Scheduled jobs are to become automations',
      Type.Object({
        migrated: Type.Array(
          Type.Object({
            job: text,
            automation: text,
            name: text,
            manual: text,
            schedule: Type.Union([
              Type.Null(),
              Type.Object({
                _id: text,
                firstRunAt: Type.Number(),
                repeatUnit: textOrNull,
                repeatFrequency: Type.Union([Type.Number(), Type.Null()]),
              }),
            ]),
            formSchemaHash: textOrNull,
            formName: Type.Optional(text),
          }),
        ),
        skipped: Type.Array(Type.Object({ job: text, name: text })),
      }),
    ],
  }),
];

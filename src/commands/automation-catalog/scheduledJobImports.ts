import type { Members } from '@automation-platform/json';
import { Type } from 'typebox';
import { groupsIn } from '../../domain/authorization/gbac.ts';
import {
  importedScheduledJobSchema,
  importOne,
  jobIdIn,
  knownOf,
  scheduledJobDocuments,
  sealJob,
} from '../../domain/automation-catalog/scheduledJobImports.ts';
import { scheduledJob } from '../../domain/automation-catalog/scheduledJobs.ts';
import { defined } from '../../domain/engine/defined.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { scheduledJobs } from '../../projections/automation-catalog/scheduledJobs.ts';
import { importAuthors } from '../authorization/authors.ts';
import { commandsOf } from '../engine/define.ts';
import { always, byImport, imported, type Kind } from '../engine/kinds.ts';
import { importing } from '../engine/locks.ts';
import { formReferences } from '../json-forms/forms.ts';
import { inStoredWords } from '../operations-manager/triggerForms.ts';
import { isDecided } from './scheduledJobMigrations.ts';

/** The id of the job that an import of the document creates or changes. */
const scheduledJobMeant = async (document: Members): Promise<string> => jobIdIn(document);

/**
 * Imports one scheduled job of any installation. All migrations take the lock of forms. So an import that replaces a job
 * sees whether its migration was decided.
 */
export const importScheduledJob = commandsOf(scheduledJob)({
  name: 'importScheduledJob',
  input: Type.Object({ job: importedScheduledJobSchema, overwrite: Type.Optional(Type.Boolean()) }),
  on: 'any',
  decide: importOne,
  locks: ({ content }) => (content ? [importing, formReferences] : importing),
  seal: (input, state, seal, present) => ({
    ...input,
    job: sealJob(
      input.job,
      state,
      present.map(({ job }) => job),
      seal,
    ),
  }),
  prepare: async ({ id, input, state: { content } }, tools) => {
    const knownMembers = knownOf(input.job);
    return {
      ...(await importAuthors({ aggregate: scheduledJob, id, documents: [knownMembers], ...input }, tools)),
      decided: content !== undefined && (await isDecided(id, tools)),
      formId: (await inStoredWords(knownMembers.data, defined({ content: content?.data }), tools)).formId,
    };
  },
});

export const scheduledJobKind: Kind = {
  ...imported({
    documents: scheduledJobDocuments,
    collection: scheduledJobs,
    command: importScheduledJob,
    member: 'job',
    meant: scheduledJobMeant,
    // Everybody who reads a package reads its scheduled jobs.
    refuse: ({ data: { gbac = {} } }) => {
      if (groupsIn(gbac).length > 0)
        throw new RequestError(
          'invalid',
          'A scheduled job with access lists comes in by its own import: packages have none',
          {
            path: '/data/gbac',
          },
        );
    },
  }),
  restore: always(byImport(importScheduledJob, 'job', 'importScheduledJobs')),
};

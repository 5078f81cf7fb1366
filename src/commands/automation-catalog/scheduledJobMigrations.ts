import { plainValue } from '@automation-platform/json';
import { groupsIn } from '../../domain/authorization/gbac.ts';
import {
  automationOf,
  type Candidate,
  decideMigration,
  type MigrationDecided,
  migrationSchema,
  scheduledJobMigration,
  triggersOf,
} from '../../domain/automation-catalog/scheduledJobMigrations.ts';
import { gbacOfJob, scheduledJob, titleOf } from '../../domain/automation-catalog/scheduledJobs.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { unsafeIn } from '../../domain/engine/lenientSchemas.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import { scheduledJobMigrations } from '../../projections/automation-catalog/scheduledJobs.ts';
import { authorship, type Collection } from '../../projections/engine/define.ts';
import { automations } from '../../projections/operations-manager/automations.ts';
import type { Recorded } from '../../store/event.ts';
import { unknownGroups } from '../authorization/names.ts';
import { mayRead, mayWrite } from '../engine/access.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { Next, Reaction } from '../engine/reactions.ts';
import { unknownNames } from '../engine/references.ts';
import { formReferences } from '../json-forms/forms.ts';
import { restoreAutomation } from '../operations-manager/automations.ts';
import { formNamed } from '../operations-manager/triggerForms.ts';
import { restoreTrigger } from '../operations-manager/triggers.ts';
import { markScheduledJobMigrated } from './scheduledJobs.ts';

/** How many characters of form data one migration may copy: all of them are in memory at once. */
const mostData = 32 * 1024 * 1024;

/** True if a migration of the job was decided, even if it is not carried out yet. */
export const isDecided = async (job: string, { query }: Tools): Promise<boolean> =>
  (await query(scheduledJobMigrations, { field: 'job', op: 'equals', value: job })).length > 0;

/** The data that the decision needs of each job, in the order of the request. */
const candidates = async (ids: readonly string[], actor: Actor, tools: Tools): Promise<readonly Candidate[]> => {
  const nextFree = freeNames(automations, tools);
  const candidates = new Map<string, Candidate>();
  let size = 0;
  for (const job of new Set(ids)) {
    const { content, automation } = await tools.state(scheduledJob, job);
    if (!content || !mayRead(actor, gbacOfJob(content))) {
      candidates.set(job, { job, migrated: false, writable: false, unknownGroups: [], name: '' });
      continue;
    }
    const {
      nextRunAt,
      lastRunAt,
      repeatInterval,
      data: { gbac, formId, formData },
    } = content;
    const about = {
      job,
      content: { nextRunAt, lastRunAt, repeatInterval, title: titleOf(content) },
      formId,
      writable: mayWrite(actor, gbacOfJob(content)),
    };
    if (automation !== undefined || (await isDecided(job, tools))) {
      candidates.set(job, { ...about, writable: true, migrated: true, unknownGroups: [], name: '' });
      continue;
    }
    size += JSON.stringify(formData ?? null).length;
    if (size > mostData)
      throw new RequestError(
        'too_large',
        'The scheduled jobs have too much form data for one migration; migrate them in several',
        { path: '/agendaJobs' },
      );
    candidates.set(job, {
      ...about,
      migrated: false,
      unknownGroups: await unknownGroups(tools, groupsIn(gbac)),
      form:
        formId == null
          ? undefined
          : await formNamed(
              formId,
              { formData: plainValue(maskSecrets(formData ?? null)), values: 'begun', actor },
              tools,
            ),
      unsafe: unsafeIn(formData),
      name: await nextFree(titleOf(content)),
    });
  }
  return ids.flatMap((id) => candidates.get(id) ?? []);
};

/**
 * Decides a migration; the reactions below carry it out. The lock of forms keeps the forms that the jobs name from
 * being deleted meanwhile. All migrations take this lock. So each one sees the earlier decisions, and no job is
 * migrated twice.
 */
export const migrateAgendaJobs = commandsOf(scheduledJobMigration)({
  name: 'migrateAgendaJobs',
  input: migrationSchema,
  on: 'new',
  decide: decideMigration,
  choosesNames: true,
  locks: (_, { agendaJobs }) => (agendaJobs.length > 0 ? formReferences : undefined),
  prepare: ({ input: { agendaJobs }, actor }, tools) => candidates(agendaJobs, actor, tools),
});

/** The commands that carry a migration out, in the streams of its resources. */
const carryOut = async (event: Recorded<MigrationDecided>, tools: Tools): Promise<readonly Next[]> => {
  const by = authorship(event);
  const parts = await Promise.all(
    event.data.migrated.map(async (migrated): Promise<readonly Next[]> => {
      const { content } = await tools.state(scheduledJob, migrated.job);
      if (!content) throw new Error(`The scheduled job ${migrated.job} is not there`);
      return [
        { command: restoreAutomation, id: migrated.automation, input: { ...automationOf(content, migrated), ...by } },
        ...triggersOf(content, migrated).map(([id, trigger]) => ({
          command: restoreTrigger,
          id,
          input: { ...trigger, ...by },
        })),
        { command: markScheduledJobMigrated, id: migrated.job, input: { automation: migrated.automation } },
      ];
    }),
  );
  return parts.flat();
};

export const scheduledJobReactions: readonly Reaction[] = [
  { of: scheduledJobMigration, on: { migrationDecided: carryOut } },
];

const longest = 256;

/** The n-th candidate for a name: "x", "x (2)", "x (3)", cut to the longest name. */
const numbered = (name: string, n: number): string => {
  if (n === 1) return name;
  const suffix = ` (${n})`;
  // The cut may leave half of a surrogate pair.
  return name.slice(0, longest - suffix.length).replace(/[\ud800-\udbff]$/, '') + suffix;
};

/**
 * Returns a function that gives a free name: the first of "x", "x (2)", "x (3)" that no document has. It gives each
 * name only once.
 */
const freeNames = <Doc extends { readonly name: string }>(
  collection: Collection<Doc, string, 'name'>,
  tools: Tools,
) => {
  const usedIds = new Set<string>();
  const searches = new Map<string, { next: number; free: string[] }>();
  return async (name: string): Promise<string> => {
    const search = searches.get(name) ?? { next: 1, free: [] };
    searches.set(name, search);
    for (;;) {
      const found = search.free.shift();
      if (found === undefined) {
        // Each query asks for more candidates than the one before. So a name with a thousand namesakes needs few
        // queries.
        const last = Math.min(search.next * 2, search.next + 500) - 1;
        const candidateNames = Array.from({ length: last - search.next + 1 }, (_, i) =>
          numbered(name, search.next + i),
        );
        search.free = [...(await unknownNames(tools, collection, candidateNames))];
        search.next = last + 1;
      } else if (!usedIds.has(found)) {
        usedIds.add(found);
        return found;
      }
    }
  };
};

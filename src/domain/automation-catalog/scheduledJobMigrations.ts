import { plainValue } from '@automation-platform/json';
import { Type } from 'typebox';
import { aggregate, type Context, type EventOf, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Fault, RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { text, textOrNull, topicsOf, typed } from '../engine/topics.ts';
import type { AutomationContent } from '../operations-manager/automations.ts';
import type { FormRef } from '../operations-manager/formReferences.ts';
import { checkedContent, type TriggerContent } from '../operations-manager/triggers.ts';
import { intervalOf, inUnits } from './intervals.ts';
import { gbacOfJob, type ScheduledJob } from './scheduledJobs.ts';

export const migrationSchema = Type.Object(
  {
    agendaJobs: Type.Array(name('Id of a scheduled job'), {
      description: 'Scheduled jobs that are to become automations: all or none',
      maxItems: 1000,
    }),
  },
  { additionalProperties: false, title: 'Migration', description: 'Scheduled jobs to migrate' },
);

/** The decision on one scheduled job. All other data come from the job, which never changes. */
const migrated = Type.Object({
  job: text,
  automation: text,
  /** The name of the automation. It was free when this was decided. */
  name: text,
  /** `manual` and `schedule._id` are the ids of the triggers. */
  manual: text,
  schedule: Type.Union([
    Type.Null(),
    Type.Object({
      _id: text,
      firstRunAt: Type.Number(),
      repeatUnit: typed<'minute' | 'hour' | 'day' | 'week' | null>()(textOrNull),
      repeatFrequency: Type.Union([Type.Number(), Type.Null()]),
    }),
  ]),
  formSchemaHash: textOrNull,
  /**
   * The name of the job's form, even if the job has the form's id. Absent if the job has no form, and in decisions of
   * earlier versions.
   */
  formName: Type.Optional(text),
});
export type Migrated = SchemaData<typeof migrated>;

const decision = Type.Object({
  migrated: Type.Array(migrated),
  skipped: Type.Array(Type.Object({ job: text, name: text })),
});
export type MigrationDecided = SchemaData<typeof decision>;

const topics = topicsOf({ migrationDecided: ['Scheduled jobs are to become automations', decision] });
export type MigrationEvent = EventOf<typeof topics>;

const triggerName = { manual: 'Manual run', schedule: 'Scheduled run' } as const;

/**
 * The decision to turn scheduled jobs into automations, all or none. It is carried out in the streams of the resources.
 */
export const scheduledJobMigration = aggregate<{ readonly decided?: MigrationDecided }, MigrationEvent>({
  area: 'automation-catalog',
  category: 'scheduledJobMigration',
  actsLater: true,
  topics,
  initial: {},
  evolve: { migrationDecided: (_, decided) => ({ decided }) },
  exists: ({ decided }) => decided !== undefined,
  reservations: ({ decided }) =>
    (decided?.migrated ?? []).flatMap(({ automation, name, manual, schedule }) => {
      const named = (id: string, trigger: string) => ({
        owner: `trigger-${id}`,
        name: { kind: 'trigger', parent: automation, name: trigger },
      });
      const own = { owner: `automation-${automation}`, name: { kind: 'automation', name } };
      const always = [own, named(manual, triggerName.manual)];
      return schedule ? [...always, named(schedule._id, triggerName.schedule)] : always;
    }),
});

/** A scheduled job of the request, with the data that the decision needs. */
export type Candidate = {
  readonly job: string;
  /** Undefined if the job does not exist or the actor may not see it. */
  readonly content?: { readonly title: string } & {
    readonly [T in 'nextRunAt' | 'lastRunAt' | 'repeatInterval']: ScheduledJob[T] | undefined;
  };
  /** True if the job has become an automation, or a stored decision says that it will. */
  readonly migrated: boolean;
  readonly writable: boolean;
  readonly unknownGroups: readonly string[];
  /** The form that the job names; null if that form does not exist, undefined if the job names none. */
  readonly form?: FormRef | null | undefined;
  readonly formId?: string | null | undefined;
  /** The place of an integer in the form data that no trigger can hold; undefined if there is none. */
  readonly unsafe?: string | undefined;
  /** A free name for the automation. */
  readonly name: string;
};

/**
 * Throws an error with all jobs that cannot be migrated. Unknown jobs come first, then forbidden ones, then unknown
 * references, then form data that do not fit.
 */
const refuseBad = (candidates: readonly Candidate[]): void => {
  const of = (
    faults: (candidate: Candidate) => readonly (readonly [message: string, at?: string])[],
  ): readonly Fault[] =>
    candidates.flatMap((candidate, i) =>
      faults(candidate).map(([message, at]) => ({
        message,
        path: `/agendaJobs/${i}`,
        id: candidate.job,
        ...defined({ name: candidate.content?.title, at }),
      })),
    );
  const refuse = (code: 'not_found' | 'forbidden' | 'unprocessable', faults: readonly Fault[]) => {
    if (faults.length > 0)
      throw new RequestError(code, [...new Set(faults.map(({ message }) => message))].join('; '), { faults });
  };
  const called = ({ job, content }: Candidate) => `The scheduled job ${JSON.stringify(content?.title)} (${job})`;
  refuse(
    'not_found',
    of(({ job, content }) => (content ? [] : [[`No scheduled job has the id ${JSON.stringify(job)}`]])),
  );
  refuse(
    'forbidden',
    of((candidate) =>
      candidate.writable ? [] : [[`${called(candidate)} may be migrated by members of its write groups alone`]],
    ),
  );
  refuse(
    'not_found',
    of((candidate) => {
      const missing = (what: string, named: unknown): string =>
        `${called(candidate)} names the ${what} ${JSON.stringify(named)}, which is not there`;
      const faults: [message: string, at: string][] = [];
      for (const group of candidate.unknownGroups) faults.push([missing('group', group), '/data/gbac']);
      if (candidate.form === null) faults.push([missing('form', candidate.formId), '/data/formId']);
      return faults;
    }),
  );
  refuse(
    'unprocessable',
    of((candidate) => {
      const faults: [message: string, at: string][] = [];
      const { content, unsafe } = candidate;
      const interval = content?.repeatInterval;
      if (interval != null && intervalOf(interval) === undefined)
        faults.push([
          `${called(candidate)} repeats at an interval that no schedule has: ${JSON.stringify(interval)}`,
          '/repeatInterval',
        ]);
      if (unsafe !== undefined)
        faults.push([`${called(candidate)} has an integer beyond 2^53-1 in its form data`, `/data/formData${unsafe}`]);
      return faults;
    }),
  );
  refuse(
    'unprocessable',
    of((candidate) =>
      (candidate.form?.faults ?? []).map(({ message, path }) => [
        `${called(candidate)} has form data that do not fit the form: ${path} ${message}`,
        `/data/formData${path}`,
      ]),
    ),
  );
};

/** The first run as an automation, and the interval; null if the job was not scheduled. */
const scheduleOf = ({ nextRunAt, lastRunAt, repeatInterval }: NonNullable<Candidate['content']>, now: string) => {
  const interval = repeatInterval == null ? undefined : intervalOf(repeatInterval);
  if (interval === undefined)
    return nextRunAt == null ? null : { firstRunAt: Date.parse(nextRunAt), repeatUnit: null, repeatFrequency: null };
  const firstRunAt = nextRunAt == null ? Date.parse(lastRunAt ?? now) + interval : Date.parse(nextRunAt);
  return { firstRunAt, ...inUnits(interval) };
};

/** A job that is in the list twice counts as migrated the second time. */
export const decideMigration = (
  _: unknown,
  __: unknown,
  { now, newId, refs }: Context<readonly Candidate[]>,
): readonly MigrationEvent[] => {
  refuseBad(refs);
  const earlier = new Set<string>();
  const migrated: Migrated[] = [];
  const skipped: MigrationDecided['skipped'][number][] = [];
  for (const { job, content, name, form, migrated: already } of refs) {
    if (!content) continue; // rejected above
    if (already || earlier.has(job)) skipped.push({ job, name: content.title });
    else {
      const schedule = scheduleOf(content, now);
      migrated.push({
        job,
        name,
        automation: newId(`automation ${job}`),
        manual: newId(`manual ${job}`),
        schedule: schedule && { _id: newId(`schedule ${job}`), ...schedule },
        formSchemaHash: form?.schemaHash ?? null,
        ...defined({ formName: form?.name }),
      });
    }
    earlier.add(job);
  }
  return migrated.length > 0 ? [{ topic: 'migrationDecided', data: { migrated, skipped } }] : [];
};

/** The automation that a job becomes. */
export const automationOf = (job: ScheduledJob, { name }: Migrated): AutomationContent => ({
  name,
  description: job.data.description ?? '',
  componentType: 'workflows',
  componentName: job.data.workflowId,
  gbac: gbacOfJob(job),
});

/**
 * The triggers of the automation, by id: a manual one, and a schedule trigger if the job was scheduled. The latter is
 * disabled, so that the work does not run in both systems.
 */
export const triggersOf = (
  { data: { formData = null, formId = null } }: ScheduledJob,
  { automation, manual, schedule, formSchemaHash, formName }: Migrated,
): readonly (readonly [id: string, content: TriggerContent])[] => {
  const both = {
    actionType: 'automations',
    actionId: automation,
    formData: plainValue(formData) as typeof formData,
    formId: formName ?? formId,
    formSchemaHash,
  } as const;
  const newTriggers: [string, TriggerContent][] = [
    [manual, checkedContent({ ...both, type: 'manual', name: triggerName.manual, enabled: true }, {})],
  ];
  if (schedule) {
    const { _id, ...when } = schedule;
    newTriggers.push([
      _id,
      checkedContent(
        { ...both, type: 'schedule', name: triggerName.schedule, enabled: false, processMissedRuns: 'none', ...when },
        {},
      ),
    ]);
  }
  return newTriggers;
};

const list = (names: readonly string[]): string => names.join(', ');

/** The result of a migration as a sentence. */
export const inWords = (created: readonly string[], skipped: readonly string[]): string => {
  const newContent =
    created.length === 0
      ? 'Created no automations.'
      : `Created ${created.length} automation${created.length === 1 ? '' : 's'}: ${list(created)}.`;
  return skipped.length === 0
    ? newContent
    : `${newContent} Skipped ${skipped.length} already migrated: ${list(skipped)}.`;
};

import type { Members } from '@automation-platform/json';
import { type TObject, Type } from 'typebox';
import { everybody, gbacInput, gbacOf } from '../authorization/gbac.ts';
import { type Authored, authored, objectId, time } from '../engine/authors.ts';
import { aggregate, type Context, type EventOf, type Gbac, type SchemaData } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { type Imported, importedIn } from '../engine/importedDocuments.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { anything, restored, text, topicsOf, typed } from '../engine/topics.ts';
import { intervalOf } from './intervals.ts';

const nullable = <S extends Parameters<typeof Type.Optional>[0]>(schema: S, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }));
const textOrNot = (description: string) => nullable(Type.String(), description);
const instant = (description: string) => nullable(time('ISO 8601'), description);

export const times = {
  nextRunAt: instant('When it was to run next'),
  lastRunAt: instant('When it ran last'),
  lastFinishedAt: instant('When its last run ended'),
  lockedAt: instant('When a scheduler took it'),
  failedAt: instant('When it failed last'),
};

export const members = {
  name: name('Name; several may have the same'),
  ...times,
  repeatInterval: nullable(
    Type.Union([Type.Integer(), Type.String({ maxLength: 256 })]),
    'Time between runs, a whole number of minutes: milliseconds, or a text such as "1 day" or "3 hours and 15 minutes"',
  ),
  type: textOrNot('How the scheduler kept it, such as normal or single'),
  priority: nullable(Type.Union([Type.Number(), Type.String()]), 'Which one runs first'),
  disabled: nullable(Type.Boolean(), 'True if it had been switched off'),
  failCount: nullable(Type.Integer({ minimum: 0 }), 'How often it has failed'),
  failReason: textOrNot('Why it failed last'),
  repeatTimezone: textOrNot('Kept as given: fixed intervals do not depend on it'),
  lastModifiedBy: textOrNot('Scheduler that wrote it last'),
  data: Type.Object(
    {
      name: nullable(name('Name'), 'Name of the automation; without it that of the job'),
      description: textOrNot('Its purpose'),
      workflowId: name('Workflow that it runs'),
      formId: nullable(name('Form'), 'Name or id of the form that its input comes from'),
      formData: nullable(Type.Object({}, { additionalProperties: true }), 'Values of the form'),
      gbac: Type.Optional(gbacInput),
    },
    {
      additionalProperties: true,
      maxProperties: 100,
      title: 'ScheduledJobData',
      description: 'The automation that it runs; further members are stored as sent',
    },
  ),
};

const authorMembers = {
  _id: name('Id'),
  migrated: Type.Boolean({ description: 'True if it has become an automation' }),
  automation: Type.Union([objectId('Id'), Type.Null()], { description: 'Id of that automation' }),
  ...authored,
};
const ignored = {
  _id: nullable(name('Id'), 'Its id, kept; without one the service makes one'),
  migrated: nullable(Type.Boolean(), 'Ignored in requests'),
  automation: textOrNot('Ignored in requests'),
  ...authored,
};

const open = { additionalProperties: true } as const;
/**
 * A scheduled job in a create request. Fields that only the service sets are accepted and ignored, so that clients can
 * send a copy.
 */
export const newScheduledJobSchema = Type.Unsafe<ScheduledJob & { readonly _id?: string | null }>(
  Type.Object(
    { ...members, ...ignored },
    {
      ...open,
      maxProperties: 100,
      title: 'NewScheduledJob',
      description: 'Scheduled job of an earlier version; further members are kept as given',
    },
  ),
);
export const scheduledJobSchema = Type.Object(
  { ...members, ...authorMembers },
  { ...open, title: 'ScheduledJob', description: 'Scheduled job; secrets are masked' },
);

/** The content of a scheduled job: times in UTC, secrets sealed. */
export type ScheduledJob = SchemaData<TObject<typeof members>>;

// Further members are kept as they were given.
const content = { name: text, repeatInterval: Type.Optional(anything), data: Type.Object({ workflowId: text }) };

const topics = topicsOf({
  scheduledJobCreated: [
    'A scheduled job of an earlier version was taken in',
    typed<ScheduledJob>()(Type.Object(content)),
  ],
  scheduledJobRestored: [
    'A scheduled job got the content of an imported document',
    typed<ScheduledJob & Authored & { readonly imported?: Members }>()(Type.Object({ ...content, ...restored })),
  ],
  /** The id of the automation that the job has become. */
  scheduledJobMigrated: ['A scheduled job became an automation', Type.Object({ automation: text })],
});
export type ScheduledJobEvent = EventOf<typeof topics>;

export type ScheduledJobState = {
  readonly content?: ScheduledJob;
  readonly automation?: string;
  /** The last import; undefined if there was none. */
  readonly imported?: Imported<ScheduledJob>;
};

/** The content, without times and authors. */
const contentIn = ({
  created: _,
  createdBy: __,
  lastUpdated: ___,
  lastUpdatedBy: ____,
  imported: _____,
  ...content
}: ScheduledJob & Partial<Authored> & { readonly imported?: Members }): ScheduledJob => content;

/** A job of an earlier version's scheduler. It stays as it is from its migration on. */
export const scheduledJob = aggregate<ScheduledJobState, ScheduledJobEvent>({
  area: 'automation-catalog',
  category: 'scheduledJob',
  actsLater: true,
  topics,
  initial: {},
  evolve: {
    scheduledJobCreated: (_, content) => ({ content }),
    scheduledJobRestored: (_, data) => {
      const content = contentIn(data);
      return { content, ...importedIn(defined({ imported: data.imported }), content) };
    },
    scheduledJobMigrated: (state, { automation }) => ({ ...state, automation }),
  },
  exists: ({ content }) => content !== undefined,
  gbac: ({ content }) => (content ? gbacOfJob(content) : everybody),
});

/** The access lists of the job and its automation. */
export const gbacOfJob = ({ data: { gbac } }: ScheduledJob): Gbac => gbacOf(gbac, everybody, []);

/** The name for the job's automation. */
export const titleOf = ({ name, data }: ScheduledJob): string => data.name ?? name;

const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The times of the job, in UTC with milliseconds. */
export const inUtc = (job: ScheduledJob): Partial<ScheduledJob> =>
  Object.fromEntries(
    Object.keys(times).flatMap((member) => {
      const time = job[member as keyof typeof times];
      if (time == null) return [];
      const at = Date.parse(time);
      if (!(at >= 0 && at <= latest))
        throw new RequestError('invalid', 'Times lie between the years 1970 and 9999', { path: `/${member}` });
      return [[member, new Date(at).toISOString()]];
    }),
  );

/** `refs.sealed` is the input with sealed secrets. */
export const create = (
  _: ScheduledJobState,
  { repeatInterval }: ScheduledJob,
  { refs: { sealed } }: Context<{ readonly sealed: ScheduledJob }>,
): readonly ScheduledJobEvent[] => {
  if (repeatInterval != null && intervalOf(repeatInterval) === undefined)
    throw new RequestError(
      'invalid',
      'The interval must be a whole number of minutes, hours, days or weeks, at most 5,200 weeks: milliseconds, or a text such as "1 day" or "3 hours and 15 minutes"',
      { path: '/repeatInterval' },
    );
  gbacOf(sealed.data.gbac, everybody, [], '/data/gbac');
  const members = Object.entries(sealed).filter(([member]) => !Object.hasOwn(ignored, member));
  return [
    { topic: 'scheduledJobCreated', data: { ...(Object.fromEntries(members) as ScheduledJob), ...inUtc(sealed) } },
  ];
};

/** Part of a migration. */
export const markMigrated = (
  { automation }: ScheduledJobState,
  input: { readonly automation: string },
): readonly ScheduledJobEvent[] => (automation === undefined ? [{ topic: 'scheduledJobMigrated', data: input }] : []);

import { derivedId, exactText, isObject, type Members } from '@automation-platform/json';
import { type Static, type TSchema, Type } from 'typebox';
import { everybody, gbacInput, gbacOf } from '../authorization/gbac.ts';
import { authoredByPeople, authorsOf, type ImportAuthors } from '../engine/authors.ts';
import { same } from '../engine/changes.ts';
import type { Context } from '../engine/core.ts';
import { defined } from '../engine/defined.ts';
import { at, type DocumentKind, listOf } from '../engine/documentKinds.ts';
import { isMembers, withMembers } from '../engine/exactMembers.ts';
import { sameRest, withoutContent } from '../engine/importedDocuments.ts';
import { sealDocument } from '../engine/importedSecrets.ts';
import { asWritten, ifItFits, lenient, partsBy } from '../engine/lenientSchemas.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { maskNamed, type Seal, sealImported } from '../engine/secretFields.ts';
import {
  inUtc,
  members,
  type ScheduledJob,
  type ScheduledJobEvent,
  type ScheduledJobState,
  scheduledJob,
  times,
} from './scheduledJobs.ts';

/*
 * Imports of scheduled jobs of any installation. The document is stored as it was written. Members that other
 * schedulers use in other ways are unknown where they do not fit.
 */

const loose = <S extends TSchema>(schema: S) => Type.Optional({ ...schema, [ifItFits]: true });

/** The members with loose schemas: their own, or the one that `of` gives. */
const loosely = <P extends Readonly<Record<string, TSchema>>>(members: P, of = (schema: TSchema) => schema): P => {
  const looseMembers = Object.entries(members).map(([member, schema]) => [member, loose(of(schema))]);
  return Object.fromEntries(looseMembers) as P; // the types of the values stay
};

/** A time that a schedule can have, in any zone: of the years 1971 to 8999. */
const instant = Type.String({
  format: 'date-time',
  pattern: '^(197[1-9]|19[89]\\d|[2-8]\\d{3})-\\d{2}-\\d{2}T\\d{2}:\\d{2}:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]\\d{2}:\\d{2})$',
});
const instants = loosely(times, () => Type.Union([instant, Type.Null()]));

const { data, name: nameMember, ...others } = members;
const { properties: ofData } = data;
const document = Type.Object(
  {
    ...loosely(others),
    ...instants,
    name: nameMember,
    data: Type.Object(
      {
        ...loosely(ofData),
        workflowId: ofData.workflowId,
        formData: loose({ ...ofData.formData, [asWritten]: true }),
        gbac: Type.Optional(gbacInput),
      },
      { additionalProperties: false, title: 'ScheduledJobData', description: 'The automation that it runs' },
    ),
    _id: loose(name('Id; without one it gets one that is derived from the document')),
    migrated: Type.Optional(Type.Unsafe<unknown>({ description: 'Ignored' })),
    automation: Type.Optional(Type.Unsafe<unknown>({ description: 'Ignored' })),
    ...loosely(authoredByPeople),
  },
  {
    additionalProperties: false,
    title: 'ImportedScheduledJob',
    description: 'Scheduled job of any installation',
  },
);

export const importedScheduledJobSchema = Type.Unsafe<Members>(lenient(document));
const partsOf = partsBy(document);

/** The members of a document that the service knows. */
export const knownOf = (job: Members) => partsOf(job).known;

const contentOf = ({
  _id: _,
  migrated: __,
  automation: ___,
  created: ____,
  createdBy: _____,
  lastUpdated: ______,
  lastUpdatedBy: _______,
  ...content
}: Static<typeof document>): ScheduledJob => ({ ...content, ...inUtc(content) });

/** The id of the job in a document: its own, or one that is derived from the document. */
export const jobIdIn = (job: Members): string => partsOf(job).known._id ?? derivedId(exactText(maskNamed(job)));

/** An imported job with sealed secrets. The mask keeps those of `present`, and those that are stored. */
export const sealJob = (
  job: Members,
  { content, imported }: ScheduledJobState,
  present: readonly Members[],
  seal: Seal,
): Members => {
  const stored = [...present, imported?.document ?? content];
  const { data } = job;
  if (!isMembers(data) || !isMembers(data.formData)) return sealDocument(job, stored, seal);
  const befores = [
    ...present.map((document) => isMembers(document.data) && document.data.formData),
    content?.data.formData,
  ];
  const formData = sealImported(data.formData, befores, seal, '/data/formData');
  return sealDocument(withMembers(job, { data: withMembers(data, { formData }) }), stored, seal);
};

/** The stored job as an import. One that was created here is its own document. */
const importIn = ({ content, imported }: ScheduledJobState) =>
  imported ?? (content && { document: { ...content }, content: contentOf(partsOf(content as unknown).known) });

type Refs = ImportAuthors & {
  /** True if a migration of the job was decided. */
  readonly decided: boolean;
  /** The document's form, as the stored job names it if both mean the same. */
  readonly formId: string | null | undefined;
};

/** Imports one job with its id, times and authors. A job that has become an automation stays as it is. */
export const importOne = (
  state: ScheduledJobState,
  { job, overwrite = false }: { readonly job: Members; readonly overwrite?: boolean },
  context: Context<Refs>,
): readonly ScheduledJobEvent[] => {
  const { known } = partsOf(job);
  const { formId } = context.refs;
  const newContent = contentOf({ ...known, data: { ...known.data, ...defined({ formId }) } });
  gbacOf(newContent.data.gbac, everybody, [], '/data/gbac');
  const stored = importIn(state);
  if (
    stored &&
    same(newContent, stored.content) &&
    sameRest(job, { imported: stored, content: stored.content }, partsOf, context.refs)
  )
    return [];
  if (stored && !overwrite)
    throw new RequestError('conflict', 'A scheduled job with this id exists with other content', { path: '/_id' });
  if (state.automation !== undefined || context.refs.decided)
    throw new RequestError('conflict', 'The scheduled job has become an automation', { path: '/_id' });
  const authors = authorsOf(defined(known), context.refs.accounts, context);
  return [
    { topic: 'scheduledJobRestored', data: { ...newContent, ...authors, imported: withoutContent(job, newContent) } },
  ];
};

/** Scheduled jobs of any installation. */
export const scheduledJobDocuments: DocumentKind = {
  of: scheduledJob,
  name: 'scheduled job',
  types: ['ac-agenda-job'],
  secrets: (document, work) => {
    const { data } = document;
    return isObject(data) && data.formData !== undefined
      ? { ...document, data: { ...data, formData: work(data.formData) } }
      : document;
  },
  is: ({ name, data }) => typeof name === 'string' && isObject(data) && typeof data.workflowId === 'string',
  importing: listOf('POST', '/automation_catalog/import/scheduled-jobs', 'scheduledJobs'),
  ...at('/automation_catalog/scheduled-jobs'),
};

import type { ServerResponse } from 'node:http';
import { fairQueue } from '../../concurrency/fairQueue.ts';
import { idBatches } from '../../concurrency/idBatches.ts';
import type { ReaderPlaces } from '../../concurrency/readerPlaces.ts';
import { supervise } from '../../concurrency/supervise.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { maskSecrets } from '../../domain/engine/secretFields.ts';
import type { JobProgress } from '../../domain/operations-manager/jobSchemas.ts';
import { hasEnded, job as jobAggregate } from '../../domain/operations-manager/jobs.ts';
import { watching } from '../../domain/operations-manager/watchings.ts';
import { documentIn, documentsOf, pageOf } from '../../projections/engine/documents.ts';
import { mayReadGuard, readableBy } from '../../projections/engine/guards.ts';
import type { ReadStore, Where } from '../../projections/engine/port.ts';
import { type JobDoc, jobs } from '../../projections/operations-manager/jobs.ts';
import { type EventNotice, splitStream } from '../../store/event.ts';
import type { Principal } from '../authentication/principal.ts';
import type { Common } from '../engine/route.ts';
import { mostBytes } from '../events/connection.ts';
import { type Patience, type Reader, readersOf } from '../events/readers.ts';
import { watchersOf } from './watchers.ts';

/** The operation that opens a stream of jobs. */
export const streamJobsRow: Pick<Common, 'name' | 'access'> = { name: 'streamJobs', access: ['operators', 'readers'] };

export type JobFilter = keyof typeof jobs.filters;

/** Which jobs a reader wants: those that the account watches, and those whose fields have these values. */
export type WantedJobs = {
  readonly watched: boolean;
  readonly fields: readonly { readonly field: JobFilter; readonly value: string }[];
};

type Asked = {
  readonly wanted: WantedJobs;
  /** What was told last of each job that has not ended. */
  readonly told: Map<string, string>;
  /** The jobs that the reader is to be told of when it takes more: as they are then. */
  readonly due: ReturnType<typeof idBatches>;
};

type JobReader = Reader & Asked;

/** A job, and what is told of it to whoever may see it. */
type News = { readonly doc: JobDoc; readonly text: string };

type Needs = {
  readonly model: ReadStore;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<Principal | undefined>;
  readonly progressOf: (doc: Pick<JobDoc, '_id' | 'status' | 'claim'>) => JobProgress | null;
  readonly places: ReaderPlaces;
  readonly log: (message: string, about: Record<string, unknown>) => void;
  readonly patience?: Partial<Patience>;
};

/** How many of the jobs that have ended a new reader is told of: the newest. */
const mostEnded = 1000;
const atOnce = 500;
const perTurn = 100;
const readersAtOnce = 8;
// What happens within this time is told together.
const restMs = 50;

const hasFields = (doc: JobDoc, { fields }: WantedJobs): boolean =>
  fields.every(({ field, value }) => [jobs.filters[field](doc)].flat().includes(value));

const statusIn = (statuses: readonly string[]): Where<JobFilter> => ({
  any: statuses.map((value) => ({ field: 'status', op: 'equals', value })),
});

/**
 * The ids of the jobs with these fields that the account may see, the oldest first: of all that have not ended, and of the
 * newest that have.
 */
const presentJobs = async (
  model: ReadStore,
  { fields }: WantedJobs,
  { actor }: Principal,
): Promise<readonly string[]> => {
  const own = fields.map(({ field, value }): Where<JobFilter> => ({ field, op: 'equals', value }));
  const list = async (statuses: readonly string[], limit: number) => {
    const where = { all: [statusIn(statuses), ...own] };
    const { entries } = await pageOf(model, jobs, {
      where,
      sort: 'created',
      order: -1,
      skip: 0,
      limit,
      ...readableBy(actor, model),
    });
    return entries.map((entry) => ({ id: entry.id, created: documentIn(jobs, entry).created }));
  };
  const ended = await list(['complete', 'error', 'canceled', 'incomplete'], mostEnded);
  const others = await list(['running', 'paused'], Number.MAX_SAFE_INTEGER);
  return [...ended, ...others].sort((a, b) => (a.created < b.created ? -1 : 1)).map(({ id }) => id);
};

/** Makes the function that says whether a reader is to be told of a job. */
const wanting =
  (model: ReadStore) =>
  async ({ account, wanted, told }: JobReader, { actor }: Principal, doc: JobDoc): Promise<boolean> => {
    // A job that has left the filter is told of once more, so that the reader learns of it.
    if (!hasFields(doc, wanted) && !told.has(doc._id)) return false;
    const guard = jobs.guard?.(doc);
    if (guard !== undefined && !actor.admin && !mayReadGuard(actor, model)(guard)) return false;
    return !wanted.watched || (await watchersOf(model, doc._id, doc.watchers)).includes(account);
  };

/**
 * Tells readers of jobs: first as they are, then of each change of status, progress and error. One round tells all
 * readers of what has changed since the last one. Who does not take that is told later, of the jobs as they are then.
 */
export const jobReaders = ({ model, viewerOf, progressOf, places, log, patience }: Needs) => {
  const wants = wanting(model);
  const mayRead = ({ may }: Principal): boolean => may(jobAggregate.area, streamJobsRow);
  const readers = readersOf<Asked>({ viewerOf, mayRead, places, patience });
  const { fairly } = fairQueue({
    atOnce: readersAtOnce,
    mostWaiting: Infinity, // there are places for so many readers only
    full: () => new RequestError('unavailable', 'Too many readers'),
  });

  const warning = (message: string) => (error: unknown, isNew: boolean) => {
    if (isNew) log(message, { error });
  };

  const newsOf = (docs: readonly JobDoc[]): readonly News[] =>
    docs.map((doc) => {
      const { _id: job, status, error } = doc;
      return { doc, text: JSON.stringify({ job, status, progress: progressOf(doc), error: maskSecrets(error) }) };
    });

  /** Notes that a reader is told. False if it knows that already. */
  const note = ({ told, wanted }: JobReader, { doc, text }: News): boolean => {
    if (told.get(doc._id) === text) return false;
    if (hasEnded(doc) || !hasFields(doc, wanted)) told.delete(doc._id);
    else told.set(doc._id, text);
    return true;
  };

  /** Tells a reader as much as is sent at once. The rest is due. */
  const tell = async (reader: JobReader, news: readonly News[]): Promise<void> => {
    const principal = await readers.rightsOf(reader);
    if (!principal) return;
    let frames = '';
    for (const one of news) {
      if (frames.length > mostBytes) reader.due.add(one.doc._id);
      else if ((await wants(reader, principal, one.doc)) && note(reader, one))
        frames += `event: job\ndata: ${one.text}\n\n`;
    }
    if (frames !== '') reader.connection.send(Buffer.from(frames), 0);
  };

  const tellAll = async (news: readonly News[]): Promise<void> => {
    for (const reader of [...readers.all]) {
      if (reader.connection.isIdle() && !reader.due.isBusy()) await tell(reader, news);
      else for (const { doc } of news) reader.due.add(doc._id);
    }
  };

  const changes = idBatches({
    work: async (ids) => tellAll(newsOf(await documentsOf(model, jobs, ids))),
    most: atOnce,
    restMs,
    signal: readers.stopping,
    onFailure: warning('Readers of jobs could not be told of changes; it is tried again'),
  });

  const change = (id: string): void => {
    if (readers.count() > 0) changes.add(id);
  };

  const dueTo = (reader: () => JobReader | undefined) => {
    const work = async (ids: readonly string[]): Promise<void> => {
      const mine = reader();
      await mine?.connection.idle();
      if (!mine || readers.isGone(mine)) return;
      await fairly(mine.account, async () => tell(mine, newsOf(await documentsOf(model, jobs, ids))));
    };
    const onFailure = warning('A reader of jobs could not be told of changes; it is tried again');
    return idBatches({ work, most: perTurn, signal: readers.stopping, onFailure });
  };

  const begin = async (reader: JobReader): Promise<void> => {
    const principal = await readers.rightsOf(reader);
    if (!principal) return;
    const present = await fairly(reader.account, () => presentJobs(model, reader.wanted, principal));
    for (const id of present) reader.due.add(id);
  };

  return {
    check: readers.check,
    /** Begins to tell an account of jobs, over an answer whose head is written. */
    open: (res: ServerResponse, account: string, wanted: WantedJobs): void => {
      const due = dueTo(() => reader);
      const reader = readers.add(res, account, 0, { wanted, told: new Map(), due });
      if (!reader) return;
      const onFailure = warning('A reader of jobs could not be told of them; it is tried again');
      void supervise(() => begin(reader), { signal: readers.stopping, pauseMs: 200, onFailure });
    },
    /** A job has changed, or what its worker says. */
    change,
    /** To be called with events of jobs and of watchers, once their documents are readable. */
    onEvent: ({ stream, data }: Pick<EventNotice, 'stream' | 'data'>): void => {
      const { category, id } = splitStream(stream);
      if (category === jobAggregate.category) change(id);
      if (category !== watching.category) return;
      const { jobIds = [] } = (data ?? {}) as { readonly jobIds?: readonly string[] };
      for (const watched of jobIds) change(watched);
    },
    /** The categories of the streams whose events `onEvent` needs. */
    categories: new Set([jobAggregate.category, watching.category]),
    rightsChanged: readers.rightsChanged,
    /** Ends all streams. */
    stop: readers.stop,
  };
};

export type JobReaders = ReturnType<typeof jobReaders>;

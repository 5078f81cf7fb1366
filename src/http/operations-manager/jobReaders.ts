import type { ServerResponse } from 'node:http';
import { fairQueue, idBatches, type Log, oneByOne, supervise, turns } from '@automation-platform/concurrency';
import { seesAll } from '../../domain/engine/core.ts';
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
import type { Opener } from '../events/asked.ts';
import type { ReaderPlaces } from '../events/readerPlaces.ts';
import { mostBytes, type Patience, type Reader, readersOf } from '../events/readers.ts';
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
  readonly query: WantedJobs;
  /** The jobs as they were when the reader came, of which it is not told yet. Undefined until they are read. */
  present: readonly ToldJob[] | undefined;
  /** The reader was told of all changes up to this number. */
  lastNumber: number;
  /** The jobs that the reader knows to be among those that it wants; none if it wants all. */
  readonly among: Set<ToldJob>;
  /** True while it is being told. */
  isBusy: boolean;
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
  readonly log: Log;
  readonly patience?: Partial<Patience>;
};

/** How many of the jobs that have ended a new reader is told of: the newest. */
const mostEnded = 1000;
const atOnce = 500;
const perTurn = 100;
const readersAtOnce = 4;
// Changes within this time are told together.
const restMs = 50;

const hasFields = (doc: JobDoc, { fields }: WantedJobs): boolean =>
  fields.every(({ field, value }) => [jobs.filters[field](doc)].flat().includes(value));

const statusIn = (statuses: readonly string[]): Where<JobFilter> => ({
  any: statuses.map((value) => ({ field: 'status', op: 'equals', value })),
});

/**
 * The jobs with these fields that the account may see, the oldest first: all that have not ended, and the newest that have.
 */
const presentJobs = async (model: ReadStore, { fields }: WantedJobs, { actor }: Principal) => {
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
    return oneByOne(entries, (entry) => {
      const doc = documentIn(jobs, entry);
      return { id: entry.id, created: doc.created, hasEnded: hasEnded(doc) };
    });
  };
  const ended = await list(['complete', 'error', 'canceled', 'incomplete'], mostEnded);
  const others = await list(['running', 'paused'], Number.MAX_SAFE_INTEGER);
  return [...ended, ...others].sort((a, b) => (a.created < b.created ? -1 : 1));
};

/** Makes the function that says whether a job is, or was when the reader was told of it last, among those that it wants. */
const wanting =
  (model: ReadStore) =>
  async ({ account, query, among }: JobReader, { actor }: Principal, doc: JobDoc, job: ToldJob): Promise<boolean> => {
    // A job that has left the filter is told of once more, so that the reader learns of it.
    if (!hasFields(doc, query) && !among.has(job)) return false;
    const guard = jobs.guard?.(doc);
    if (guard !== undefined && !seesAll(actor) && !mayReadGuard(actor, model)(guard)) return false;
    return !query.watched || (await watchersOf(model, doc._id, doc.watchers)).includes(account);
  };

type Told = ReadonlyMap<string, News>;

/** Reads the news of jobs. The last news of changed ones are kept for the readers who get them at once. */
const newsOfJobs = (model: ReadStore, progressOf: Needs['progressOf']) => {
  let newest: Told = new Map();
  const newsOf = (doc: JobDoc): News => {
    const { _id: job, status, error } = doc;
    return { doc, text: JSON.stringify({ job, status, progress: progressOf(doc), error: maskSecrets(error) }) };
  };
  const read = async (ids: readonly string[]): Promise<Told> =>
    new Map((await documentsOf(model, jobs, ids)).map((doc) => [doc._id, newsOf(doc)]));
  return {
    of: async (ids: readonly string[]): Promise<Told> => (ids.every((id) => newest.has(id)) ? newest : read(ids)),
    /** Reads jobs that have changed. */
    changed: async (ids: readonly string[]): Promise<Told> => {
      newest = await read(ids);
      return newest;
    },
    clear: (): void => {
      newest = new Map();
    },
  };
};

const wantsAll = ({ watched, fields }: WantedJobs): boolean => !watched && fields.length === 0;

/** Notes that a reader is told of a job. */
const note = ({ query, among }: JobReader, job: ToldJob, doc: JobDoc): void => {
  if (wantsAll(query)) return;
  if (hasEnded(doc) || !hasFields(doc, query)) among.delete(job);
  else among.add(job);
};

/**
 * Tells readers of jobs: first as they are, then of each change of status, progress and error. One round tells all
 * readers of what has changed since the last one. A reader that does not take them gets the jobs later, as they are then.
 */
export const jobReaders = ({ model, viewerOf, progressOf, places, log, patience }: Needs) => {
  const wants = wanting(model);
  const mayRead = ({ may }: Principal): boolean => may(jobAggregate.area, streamJobsRow);
  const readers = readersOf<Asked>({ viewerOf, mayRead, places, patience });
  const { fairly } = fairQueue({
    atOnce: readersAtOnce,
    mostWaiting: Infinity, // there are places for a bounded number of readers
    full: () => new RequestError('unavailable', 'Too many readers'),
  });

  // Read models in memory answer at once. Nobody else would have a turn before the last reader.
  const turn = turns();

  const warning = (message: string) => (error: unknown, isNew: boolean) => {
    if (isNew) log(message, { error });
  };

  const jobNews = toldJobs();
  const news = newsOfJobs(model, progressOf);

  /** Tells a reader of changes, as many as are sent at once. Resolves to their number. */
  const tell = async (reader: JobReader, changes: readonly JobChange[], isLeftOut: (change: JobChange) => boolean) => {
    const principal = await readers.rightsOf(reader);
    const newsById = await news.of(changes.map(({ job }) => job.id));
    let frames = '';
    let count = 0;
    for (const change of changes) {
      if (!principal || frames.length > mostBytes) break;
      count++;
      const { job } = change;
      const one = newsById.get(job.id);
      if (!one || isLeftOut(change) || !(await wants(reader, principal, one.doc, job))) continue;
      note(reader, job, one.doc);
      frames += `event: job\ndata: ${one.text}\n\n`;
    }
    if (frames !== '') reader.connection.send(Buffer.from(frames), 0);
    return count;
  };

  const readPresent = async (reader: JobReader): Promise<readonly ToldJob[]> => {
    const principal = await readers.rightsOf(reader);
    if (!principal) return [];
    const present = await presentJobs(model, reader.query, principal);
    // Only jobs that have not ended are shared: they are forgotten when they end.
    return present.map(({ id, hasEnded: ended }) => (ended ? newJob(id) : jobNews.jobOf(id)));
  };

  const tellPresent = async (reader: JobReader, present: readonly ToldJob[]): Promise<void> => {
    const some = present.slice(0, perTurn).map((job) => ({ job, number: 0 }));
    // A job whose text has changed comes with the changes.
    const count = await tell(reader, some, ({ job }) => job.textChange > reader.lastNumber);
    reader.present = present.slice(count);
  };

  const tellChanges = async (reader: JobReader): Promise<void> => {
    const { lastNumber, among, query } = reader;
    const some = jobNews.after(lastNumber, perTurn);
    const isKnown = (job: ToldJob): boolean => job.textChange <= lastNumber && (wantsAll(query) || among.has(job));
    // A job that has changed since comes again.
    const count = await tell(reader, some, ({ job, number }) => job.change > number || isKnown(job));
    reader.lastNumber = some[count - 1]?.number ?? lastNumber;
  };

  /** Tells a reader of all that is new to it, as it takes it. */
  const tellAll = async (reader: JobReader): Promise<void> => {
    for (;;) {
      await reader.connection.idle();
      if (readers.isGone(reader) || (reader.present?.length === 0 && jobNews.after(reader.lastNumber, 1).length === 0))
        break;
      await fairly(reader.account, async () => {
        await turn();
        reader.present ??= await readPresent(reader);
        if (reader.present.length > 0) await tellPresent(reader, reader.present);
        else await tellChanges(reader);
      });
    }
    reader.isBusy = false;
  };

  const bring = (reader: JobReader): void => {
    if (reader.isBusy) return;
    reader.isBusy = true;
    const onFailure = warning('A reader of jobs could not be told of them; it is tried again');
    void supervise(() => tellAll(reader), { signal: readers.stopping, pauseMs: 200, onFailure });
  };

  const changes = idBatches({
    work: async (ids) => {
      for (const [id, { doc, text }] of await news.changed(ids)) jobNews.change(id, text, hasEnded(doc));
      for (const reader of readers.all) bring(reader);
      jobNews.forget(Math.min(...[...readers.all].map(({ lastNumber }) => lastNumber)));
    },
    most: atOnce,
    restMs,
    signal: readers.stopping,
    onFailure: warning('Readers of jobs could not be told of changes; it is tried again'),
  });

  const change = (id: string): void => {
    if (readers.count() > 0) changes.add(id);
    else {
      jobNews.clear();
      news.clear();
    }
  };

  return {
    check: readers.check,
    /** Begins to tell an account of jobs, over an answer whose head is written. */
    open: (res: ServerResponse, opener: Opener, query: WantedJobs): void => {
      const lastNumber = jobNews.last();
      const reader = readers.add(res, opener, 0, {
        query,
        present: undefined,
        lastNumber,
        among: new Set(),
        isBusy: false,
      });
      if (reader) bring(reader);
    },
    /** A job has changed, or what its worker says. */
    change,
    /** To be called with events of jobs and of watchers, once their documents are readable. */
    onEvent: ({ stream, data }: Pick<EventNotice, 'stream' | 'data'>): void => {
      const { category, id } = splitStream(stream);
      const { jobIds = [] } = (data ?? {}) as { readonly jobIds?: readonly string[] };
      for (const changed of category === jobAggregate.category ? [id] : jobIds) change(changed);
    },
    /** The categories of the streams whose events `onEvent` needs. */
    categories: new Set([jobAggregate.category, watching.category]),
    rightsChanged: readers.rightsChanged,
    /** Ends all streams. */
    stop: readers.stop,
  };
};

export type JobReaders = ReturnType<typeof jobReaders>;

/** A job of which readers are told. All readers share it, so that a reader who is behind holds little of its own. */
export type ToldJob = {
  readonly id: string;
  /** The text that readers get after its last change; undefined if it has not changed since there are readers. */
  text: string | undefined;
  hasEnded: boolean;
  /** The number of the last change of the job or its watchers; 0 if there was none. */
  change: number;
  /** The number of the last change of what is told. */
  textChange: number;
};

/** A change of a job. Only the last one of each job counts. */
export type JobChange = { readonly job: ToldJob; readonly number: number };

const newJob = (id: string): ToldJob => ({
  id,
  text: undefined,
  hasEnded: false,
  change: 0,
  textChange: 0,
});

/** The changes of jobs in their order, until all readers have come by. Changes count from 1. */
export const toldJobs = () => {
  const byId = new Map<string, ToldJob>();
  let changes: JobChange[] = [];
  let last = 0;

  const isCurrent = ({ job, number }: JobChange): boolean => job.change === number;

  /** The index of the first change after a number. */
  const indexAfter = (number: number): number => {
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((changes[middle] as JobChange).number <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const jobOf = (id: string): ToldJob => {
    const earlier = byId.get(id);
    if (earlier) return earlier;
    const job = newJob(id);
    byId.set(id, job);
    return job;
  };

  return {
    jobOf,
    /** The number of the last change of all. */
    last: (): number => last,
    /** Notes a change of a job, and what is told of it now. */
    change: (id: string, text: string, hasEnded: boolean): void => {
      const job = jobOf(id);
      job.hasEnded = hasEnded;
      job.change = ++last;
      if (job.text !== text) job.textChange = last;
      job.text = text;
      changes.push({ job, number: last });
      if (changes.length > 2 * byId.size + 100) changes = changes.filter(isCurrent);
    },
    /** The changes after a number, `most` at most. */
    after: (number: number, most: number): readonly JobChange[] => {
      const found: JobChange[] = [];
      for (let i = indexAfter(number); i < changes.length && found.length < most; i++) {
        const change = changes[i] as JobChange;
        if (isCurrent(change)) found.push(change);
      }
      return found;
    },
    /** All readers have come by these changes: forgets them, and the jobs that have ended. */
    forget: (until: number): void => {
      for (const change of changes.splice(0, indexAfter(until)))
        if (isCurrent(change) && change.job.hasEnded) byId.delete(change.job.id);
    },
    /** There is no reader. */
    clear: (): void => {
      byId.clear();
      changes = [];
    },
  };
};

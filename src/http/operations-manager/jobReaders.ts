import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { idBatches } from '../../concurrency/idBatches.ts';
import { supervise } from '../../concurrency/supervise.ts';
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
import { type Connection, connectionTo } from '../events/connection.ts';
import { watchersOf } from './watchers.ts';

/** The operation that opens a stream of jobs. */
export const streamJobsRow: Pick<Common, 'name' | 'access'> = { name: 'streamJobs', access: ['operators', 'readers'] };

export type JobFilter = keyof typeof jobs.filters;

/** Which jobs a reader wants: those that the account watches, and those whose fields have these values. */
export type WantedJobs = {
  readonly watched: boolean;
  readonly fields: readonly { readonly field: JobFilter; readonly value: string }[];
};

type Reader = {
  readonly account: string;
  readonly wanted: WantedJobs;
  readonly connection: Connection;
  /** What was told last of each job that has not ended. */
  readonly told: Map<string, string>;
  /** The jobs that have changed while the reader was being told of the present ones: what was read before is old. */
  changed: Set<string> | undefined;
  commented: number;
};

type Needs = {
  readonly model: ReadStore;
  /** The account as of now, with its rights; undefined if it is deleted or inactive. */
  readonly viewerOf: (account: string) => Promise<Principal | undefined>;
  readonly progressOf: (doc: Pick<JobDoc, '_id' | 'status' | 'claim'>) => JobProgress | null;
  readonly log: (message: string, about: Record<string, unknown>) => void;
  /** After how long a comment keeps a connection. */
  readonly commentMs?: number;
};

const lookEveryMs = 1000;
const behind = { bytes: 1024 * 1024, ms: 10_000 };
/** How many of the jobs that have ended a new reader is told of: the newest. */
const mostEnded = 1000;
const atOnce = 500;
const perTurn = 100;
// What happens within this time is told together.
const restMs = 50;

const hasFields = (doc: JobDoc, { fields }: WantedJobs): boolean =>
  fields.every(({ field, value }) => [jobs.filters[field](doc)].flat().includes(value));

const statusIn = (statuses: readonly string[]): Where<JobFilter> => ({
  any: statuses.map((value) => ({ field: 'status', op: 'equals', value })),
});

/** The jobs with these fields that the account may see: all that have not ended, and the newest that have. */
const presentJobs = async (
  model: ReadStore,
  { fields }: WantedJobs,
  { actor }: Principal,
): Promise<readonly JobDoc[]> => {
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
    return entries.map((entry) => documentIn(jobs, entry));
  };
  const ended = await list(['complete', 'error', 'canceled', 'incomplete'], mostEnded);
  const others = await list(['running', 'paused'], Number.MAX_SAFE_INTEGER);
  return [...ended, ...others].sort((a, b) => (a.created < b.created ? -1 : 1));
};

/** Makes the function that says whether a reader is to be told of a job. */
const wanting =
  (model: ReadStore) =>
  async ({ account, wanted, told }: Reader, { actor }: Principal, doc: JobDoc): Promise<boolean> => {
    // A job that has left the filter is told of once more, so that the reader learns of it.
    if (!hasFields(doc, wanted) && !told.has(doc._id)) return false;
    const guard = jobs.guard?.(doc);
    if (guard !== undefined && !actor.admin && !mayReadGuard(actor, model)(guard)) return false;
    return !wanted.watched || (await watchersOf(model, doc._id, doc.watchers)).includes(account);
  };

/**
 * Tells readers of jobs: first as they are, then of each change of status, progress and error. One round tells all
 * readers of what has changed since the last one.
 */
export const jobReaders = ({ model, viewerOf, progressOf, log, commentMs = 15_000 }: Needs) => {
  const wants = wanting(model);
  const readers = new Set<Reader>();
  const stopping = new AbortController();
  let looking: NodeJS.Timeout | undefined;

  const leave = (reader: Reader): void => {
    readers.delete(reader);
    if (readers.size === 0) clearInterval(looking);
  };

  const end = (reader: Reader, reason: 'slow' | 'rights' | 'stopping'): void => {
    leave(reader);
    reader.connection.end(reason);
  };

  /** Keeps connections, and ends those that do not take what is sent. */
  const look = (): void => {
    const now = performance.now();
    for (const reader of readers) {
      if (reader.connection.isSlow()) end(reader, 'slow');
      else if (now - reader.commented >= commentMs) {
        reader.commented = now;
        reader.connection.comment(0);
      }
    }
  };

  /** The reader's rights as of now; undefined if it may not read any more, which ends its stream. */
  const rightsOf = async (reader: Reader): Promise<Principal | undefined> => {
    const principal = await viewerOf(reader.account);
    if (principal?.may(jobAggregate.area, streamJobsRow)) return principal;
    end(reader, 'rights');
    return undefined;
  };

  const tell = (reader: Reader, doc: JobDoc): void => {
    const { _id: job, status, error } = doc;
    const text = JSON.stringify({ job, status, progress: progressOf(doc), error: maskSecrets(error) });
    if (reader.told.get(job) === text) return;
    if (hasEnded(doc) || !hasFields(doc, reader.wanted)) reader.told.delete(job);
    else reader.told.set(job, text);
    reader.connection.send(Buffer.from(`event: job\ndata: ${text}\n\n`), 0);
  };

  const tellAll = async (docs: readonly JobDoc[]): Promise<void> => {
    for (const reader of [...readers]) {
      const principal = await rightsOf(reader);
      if (!principal) continue;
      for (const doc of docs) {
        reader.changed?.add(doc._id);
        if (await wants(reader, principal, doc)) tell(reader, doc);
      }
    }
  };

  const changes = idBatches({
    work: async (ids) => tellAll(await documentsOf(model, jobs, ids)),
    most: atOnce,
    restMs,
    signal: stopping.signal,
    onFailure: (error, isNew) => {
      if (isNew) log('Readers of jobs could not be told of changes; it is tried again', { error });
    },
  });

  const change = (id: string): void => {
    if (readers.size > 0) changes.add(id);
  };

  const begin = async (reader: Reader): Promise<void> => {
    const principal = await rightsOf(reader);
    if (!principal) return;
    for (const [n, doc] of (await presentJobs(model, reader.wanted, principal)).entries()) {
      if (reader.connection.ended()) return;
      const isWanted = await wants(reader, principal, doc);
      if (isWanted && !reader.changed?.has(doc._id)) tell(reader, doc);
      if (n % perTurn !== perTurn - 1) continue;
      await nextTurn();
      await reader.connection.idle();
    }
    reader.changed = undefined;
  };

  const beginSupervised = (reader: Reader): Promise<void> =>
    supervise(() => begin(reader), {
      signal: stopping.signal,
      pauseMs: 200,
      onFailure: (error, isNew) => {
        if (isNew) log('A reader of jobs could not be told of them; it is tried again', { error });
      },
    });

  return {
    /** Begins to tell an account of jobs, over an answer whose head is written. */
    open: (res: ServerResponse, account: string, wanted: WantedJobs): void => {
      const connection = connectionTo(res, 0, behind);
      if (connection.ended()) return;
      const commented = performance.now();
      const reader: Reader = { account, wanted, connection, told: new Map(), changed: new Set(), commented };
      if (readers.size === 0) looking = setInterval(look, lookEveryMs).unref();
      readers.add(reader);
      res.once('close', () => leave(reader));
      connection.comment(0);
      if (stopping.signal.aborted) end(reader, 'stopping');
      else void beginSupervised(reader);
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
    /** Ends all streams. */
    stop: (): void => {
      stopping.abort();
      for (const reader of readers) end(reader, 'stopping');
    },
  };
};

export type JobReaders = ReturnType<typeof jobReaders>;

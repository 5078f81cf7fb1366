import { supervise } from '../../concurrency/supervise.ts';
import { isBuiltIn } from '../../domain/operations-manager/builtIn.ts';
import { documentIn, documentsOf, pageOf } from '../../projections/engine/documents.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type JobDoc, jobs } from '../../projections/operations-manager/jobs.ts';
import { builtInJobs, type WaitingJob } from './waitingJobs.ts';

type Needs = {
  readonly model: Pick<ReadStore, 'list' | 'getMany'>;
  /** Resolves once the read models can be read. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Called with each job that may have changed, as it is now. */
  readonly seen: (doc: JobDoc) => void;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

const atOnce = 100;

/** The job as it waits for a worker, or to be run here; undefined if it does not wait. */
export const waitingJobIn = (doc: JobDoc): WaitingJob | undefined => {
  if (doc.status !== 'running' || doc.claim !== null) return undefined;
  const { type, name } = doc.component;
  return {
    id: doc._id,
    component: isBuiltIn(type) ? builtInJobs : name,
    turn: doc.automation === null ? `workflow ${name}` : `automation ${doc.automation}`,
    guard: jobs.guard?.(doc),
    created: Date.parse(doc.created),
  };
};

/** Reads the jobs that have not ended when it starts, and from then on those that events tell of. */
export const jobBook = ({ model, ready, seen, log }: Needs) => {
  const stop = new AbortController();
  const changed = new Set<string>();
  let reading: Promise<void> | undefined;
  let loading = Promise.resolve();

  /** All in one list: page after page, jobs that end meanwhile would make others be passed over. */
  const load = async (): Promise<void> => {
    await ready(stop.signal);
    for (const status of ['running', 'paused'] as const) {
      const where = { field: 'status', op: 'equals', value: status } as const;
      const all = { where, sort: 'created', order: 1, skip: 0, limit: Number.MAX_SAFE_INTEGER } as const;
      for (const entry of (await pageOf(model, jobs, all)).entries) seen(documentIn(jobs, entry));
    }
  };

  const readChanged = async (): Promise<void> => {
    while (changed.size > 0 && !stop.signal.aborted) {
      const ids = [...changed].slice(0, atOnce);
      for (const id of ids) changed.delete(id);
      try {
        for (const doc of await documentsOf(model, jobs, ids)) seen(doc);
      } catch (error) {
        for (const id of ids) changed.add(id);
        throw error;
      }
    }
  };

  const supervised = (work: () => Promise<void>): Promise<void> =>
    supervise(work, {
      signal: stop.signal,
      pauseMs: 200,
      longestPauseMs: 2000,
      onFailure: (error, isNew) => {
        if (isNew) log('Jobs that wait for workers could not be read; it is tried again', { error });
      },
    });

  const read = (): void => {
    reading ??= supervised(readChanged).finally(() => {
      reading = undefined;
      if (changed.size > 0 && !stop.signal.aborted) read();
    });
  };

  return {
    /** To be called with each job that has changed, once the read models show it. */
    look: (id: string): void => {
      changed.add(id);
      read();
    },
    /** Resolves once the jobs that have not ended are read. */
    start: (): Promise<void> => {
      loading = supervised(load);
      return loading;
    },
    stop: async (): Promise<void> => {
      stop.abort();
      await Promise.all([reading, loading]);
    },
  };
};

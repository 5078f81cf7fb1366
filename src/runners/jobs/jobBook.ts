import { idBatches, type Log, supervise } from '@automation-platform/concurrency';
import { isBuiltIn } from '../../domain/operations-manager/builtIn.ts';
import { documentIn, documentsOf, pageOf } from '../../projections/engine/documents.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import { type JobDoc, jobs } from '../../projections/operations-manager/jobs.ts';
import { type OpenTasksDoc, openTasks } from '../../projections/operations-manager/openTasks.ts';
import { builtInJobs, type WaitingJob } from './waitingJobs.ts';

type Needs = {
  readonly model: Pick<ReadStore, 'list' | 'getMany'>;
  /** Resolves once the read models can be read. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Called with each job that may have changed, as it is now, and its open tasks if it runs a workflow. */
  readonly note: (doc: JobDoc, tasks: OpenTasksDoc | undefined) => void;
  readonly log: Log;
};

const atOnce = 100;

/** Jobs with the same word take turns with the rest. */
export const turnOf = (automation: string | null, component: string): string =>
  automation === null ? `workflow ${component}` : `automation ${automation}`;

/** The job as it waits for a worker, or to be run here; undefined if it does not wait. */
export const waitingJobIn = (doc: JobDoc): WaitingJob | undefined => {
  if (doc.status !== 'running' || doc.claim !== null || doc.workflow !== null) return undefined;
  const { type, name } = doc.component;
  return {
    id: doc._id,
    component: isBuiltIn(type) ? builtInJobs : name,
    turn: turnOf(doc.automation, name),
    guard: jobs.guard?.(doc),
    created: Date.parse(doc.created),
  };
};

/** Reads the jobs that have not ended when it starts, and from then on those that events tell of. */
export const jobBook = ({ model, ready, note, log }: Needs) => {
  const stop = new AbortController();
  let loading = Promise.resolve();

  const seeAll = async (docs: readonly JobDoc[]): Promise<void> => {
    const withWorkflow = docs.filter(({ workflow }) => workflow !== null).map(({ _id }) => _id);
    const tasks = withWorkflow.length > 0 ? await documentsOf(model, openTasks, withWorkflow) : [];
    const byJob = new Map(tasks.map((one) => [one._id, one]));
    for (const doc of docs) note(doc, byJob.get(doc._id));
  };

  /** All in one list: page after page, jobs that end meanwhile would make the list pass over some. */
  const load = async (): Promise<void> => {
    await ready(stop.signal);
    for (const status of ['running', 'paused'] as const) {
      const where = { field: 'status', op: 'equals', value: status } as const;
      const all = { where, sort: 'created', order: 1, skip: 0, limit: Number.MAX_SAFE_INTEGER } as const;
      const { entries } = await pageOf(model, jobs, all);
      for (let from = 0; from < entries.length; from += atOnce)
        await seeAll(entries.slice(from, from + atOnce).map((entry) => documentIn(jobs, entry)));
    }
  };

  const onFailure = (error: unknown, isNew: boolean): void => {
    if (isNew) log('Jobs that wait for workers could not be read; it is tried again', { error });
  };
  const changed = idBatches({
    work: async (ids) => seeAll(await documentsOf(model, jobs, ids)),
    most: atOnce,
    signal: stop.signal,
    onFailure,
  });

  return {
    /** To be called with each job that has changed, once the read models show it. */
    look: changed.add,
    /** Resolves once the jobs that have not ended are read. */
    start: (): Promise<void> => {
      loading = supervise(load, { signal: stop.signal, pauseMs: 200, longestPauseMs: 2000, onFailure });
      return loading;
    },
    stop: async (): Promise<void> => {
      stop.abort();
      await Promise.all([changed.idle(), loading]);
    },
  };
};

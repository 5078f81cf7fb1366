import { lruCache } from '../../concurrency/lruCache.ts';
import { runIdOf } from '../../domain/operations-manager/workflows/runIds.ts';
import type { OfferedTo, TaskEvent } from '../../domain/operations-manager/workflows/taskStates.ts';
import type { OpenTasksDoc } from '../../projections/operations-manager/openTasks.ts';
import { type EventNotice, splitStream } from '../../store/event.ts';

/** The party that carries a task out. `engine`: the service holds it; `instant`: it did not have to wait. */
type Kind = 'worker' | 'people' | 'node' | 'engine' | 'instant';

/** Counts a run of a task that has ended. `seconds` since it began to wait. */
export type CountTask = (kind: Kind, result: string, seconds: number) => void;

const kindOf = (to: OfferedTo | null): Kind => {
  if (!to) return 'engine';
  if ('groups' in to) return 'people';
  return 'platform' in to ? 'node' : 'worker';
};

const mostOpen = 100_000;

/** Measures the runs of tasks, by the events of all nodes. `now`: epoch milliseconds. */
export const taskMeasures = ({ now, count }: { readonly now: () => number; readonly count: CountTask }) => {
  const open = lruCache<{ readonly kind: Kind; readonly since: number }>(mostOpen);
  const begin = (id: string, to: OfferedTo | null): void => void open.set(id, { kind: kindOf(to), since: now() });

  return {
    /** To be called with the open tasks of a job: some were offered before this process started. */
    see: ({ _id: job, open: tasks }: OpenTasksDoc): void => {
      for (const [task, { run, to, since, isRetried }] of Object.entries(tasks)) {
        const id = runIdOf({ job, task, run });
        if (!isRetried && !open.has(id)) open.set(id, { kind: kindOf(to), since: Date.parse(since) });
      }
    },
    /** To be called with the events of jobs. */
    onEvent: ({ stream, topic, data }: Pick<EventNotice, 'stream' | 'topic' | 'data'>): void => {
      // An event that cannot be read has none.
      if (data === undefined) return;
      const event = { topic, data } as TaskEvent; // the stream is a job's
      const { id: job } = splitStream(stream);
      if (event.topic === 'taskOffered') begin(runIdOf({ job, ...event.data }), event.data.to);
      else if (event.topic === 'taskStarted') begin(runIdOf({ job, ...event.data }), null);
      else if (event.topic === 'taskFinished' && event.data.result !== 'loop') {
        const id = runIdOf({ job, ...event.data });
        const { kind, since } = open.get(id) ?? { kind: 'instant', since: now() };
        open.delete(id);
        count(kind, event.data.result, Math.max(0, now() - since) / 1000);
      }
    },
  };
};

export type TaskMeasures = ReturnType<typeof taskMeasures>;

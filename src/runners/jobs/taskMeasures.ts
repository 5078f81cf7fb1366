import { lruCache } from '@automation-platform/concurrency';
import { runIdOf } from '../../domain/operations-manager/workflows/runIds.ts';
import type { OfferedTo, TaskEvent } from '../../domain/operations-manager/workflows/taskStates.ts';
import type { OpenTask } from '../../projections/operations-manager/openTasks.ts';
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

type JobEvent = Pick<EventNotice, 'stream' | 'topic' | 'data'>;

/** The run that the event of a job begins or ends; undefined: it does neither. */
const runOf = ({ stream, topic, data }: JobEvent) => {
  // An event that cannot be read has no data.
  if (data === undefined) return undefined;
  const event = { topic, data } as TaskEvent; // the stream is a job's
  const idOf = ({ task, run }: { readonly task: string; readonly run: number }): string =>
    runIdOf({ job: splitStream(stream).id, task, run });
  if (event.topic === 'taskOffered') return { id: idOf(event.data), begins: kindOf(event.data.to) };
  if (event.topic === 'taskStarted') return { id: idOf(event.data), begins: kindOf(null) };
  if (event.topic !== 'taskFinished' || event.data.result === 'loop') return undefined;
  return { id: idOf(event.data), ends: event.data.result };
};

/** Measures the runs of tasks that this node ends. Those of other nodes tell when they began. `now`: epoch milliseconds. */
export const taskMeasures = ({ now, count }: { readonly now: () => number; readonly count: CountTask }) => {
  const open = lruCache<{ readonly kind: Kind; readonly since: number }>(mostOpen);
  const begin = (id: string, kind: Kind, since: number): void => {
    if (!open.has(id)) open.set(id, { kind, since });
  };

  return {
    /** To be called with runs that are open: some were offered before this process started. */
    see: (id: string, { to, since, isRetried }: OpenTask): void => {
      if (!isRetried) begin(id, kindOf(to), Date.parse(since));
    },
    /** To be called with the events of jobs that this node has stored. */
    onOwn: (event: JobEvent): void => {
      const run = runOf(event);
      if (run?.begins) begin(run.id, run.begins, now());
      if (!run?.ends) return;
      const { kind, since } = open.get(run.id) ?? { kind: 'instant', since: now() };
      open.delete(run.id);
      count(kind, run.ends, Math.max(0, now() - since) / 1000);
    },
    /** To be called with the events of jobs, from every node. */
    onEvent: (event: JobEvent): void => {
      const run = runOf(event);
      if (run?.begins) begin(run.id, run.begins, now());
      if (run?.ends) open.delete(run.id);
    },
  };
};

export type TaskMeasures = ReturnType<typeof taskMeasures>;

import { wordOfApp, wordOfTask } from '../../domain/operations-manager/taskWords.ts';
import { runIdOf } from '../../domain/operations-manager/workflows/runIds.ts';
import type { OfferedTo } from '../../domain/operations-manager/workflows/taskStates.ts';
import { guardOfJob, type JobDoc } from '../../projections/operations-manager/jobs.ts';
import type { OpenTask, OpenTasksDoc } from '../../projections/operations-manager/openTasks.ts';
import type { WorkNow } from './builtIn/work.ts';
import { turnOf } from './jobBook.ts';
import type { JobQueue } from './jobQueue.ts';
import type { Held } from './leases.ts';
import { builtInJobs, type WaitingJob } from './waitingJobs.ts';

type Times = { readonly set: (id: string, time: Held) => void; readonly remove: (id: string) => void };

type Needs = {
  readonly queue: Pick<JobQueue, 'add' | 'remove'>;
  /** The jobs that this node may carry out itself: tasks wait among them, in the same turns. */
  readonly here: { readonly queue: Pick<JobQueue, 'add' | 'remove'>; readonly note: (work: WorkNow) => void };
  /** The leases of workers. */
  readonly leases: Times;
  /** The times at which tasks go on by themselves. */
  readonly timers: Times;
};

type Job = { readonly doc: JobDoc; readonly tasks: OpenTasksDoc };

/** The words under which a task waits, and the adapter that its worker must have. */
const wordsOf = (to: Exclude<OfferedTo, { readonly groups: unknown }>): Pick<WaitingJob, 'component' | 'adapter'> => {
  if ('platform' in to) return { component: builtInJobs };
  const { app, name, adapter } = to.worker;
  return { component: [wordOfApp(app), wordOfTask(`${app}.${name}`)], adapter };
};

const waitingIn = ({ doc, tasks: { status } }: Job, id: string, task: OpenTask): WaitingJob | undefined => {
  const { to, claim, since } = task;
  if (status !== 'running' || claim || !to || 'groups' in to) return undefined;
  return {
    id,
    ...wordsOf(to),
    turn: turnOf(doc.automation, doc.component.name),
    guard: guardOfJob(doc),
    created: Date.parse(since),
  };
};

/** True if a worker or a node has a task of the job. */
export const isWorkedOn = ({ open }: OpenTasksDoc): boolean =>
  Object.values(open).some(({ claim, to }) => claim !== null && to !== null && !('groups' in to));

/** True if all that is under way are people, waits, other jobs and tasks with a time limit: nothing need be heard of it. */
export const isQuiet = ({ open }: OpenTasksDoc): boolean => {
  const tasks = Object.values(open);
  return tasks.length > 0 && tasks.every(({ to, due }) => due !== null || to === null || 'groups' in to);
};

/** How many tasks of running and paused jobs wait for workers or nodes, are claimed by them, and wait for people. */
export type TaskCounts = { readonly waiting: number; readonly claimed: number; readonly people: number };

/** The kind under which an open task counts; undefined: the service holds it, or its job has ended in error. */
const countedAs = ({ status }: OpenTasksDoc, { to, claim }: OpenTask): keyof TaskCounts | undefined => {
  if (status === 'error' || !to) return undefined;
  if ('groups' in to) return 'people';
  return claim ? 'claimed' : 'waiting';
};

/** The open tasks of all jobs that run workflows: those that wait for workers, leases, and times that come by themselves. */
export const taskBook = ({ queue, here, leases, timers }: Needs) => {
  const openOf = new Map<string, ReadonlyMap<string, keyof TaskCounts | undefined>>();

  const forget = (id: string): void => {
    queue.remove(id);
    here.queue.remove(id);
    here.note({ id, status: 'ended', claim: null });
    leases.remove(id);
    timers.remove(id);
  };

  const see = (job: Job, id: string, task: OpenTask): void => {
    const { status } = job.tasks;
    const waiting = waitingIn(job, id, task);
    const { claim, due, run, to } = task;
    const line = to && 'platform' in to ? here.queue : queue;
    if (waiting) line.add(waiting);
    else line.remove(id);
    if (line !== queue) here.note({ id, status: status === 'error' ? 'ended' : status, claim });
    if (claim && claim.until !== null && status !== 'error') leases.set(id, { claim: claim.claim, until: claim.until });
    else leases.remove(id);
    // A paused job goes on with what is due once it is resumed.
    if (due !== null && status === 'running') timers.set(id, { claim: run, until: due });
    else timers.remove(id);
  };

  return {
    /** A job that runs a workflow, as it is now. */
    look: (doc: JobDoc, tasks: OpenTasksDoc | undefined): void => {
      const open = Object.entries(tasks?.open ?? {}).map(
        ([task, one]) => [runIdOf({ job: doc._id, task, run: one.run }), one] as const,
      );
      const ids = new Map(open.map(([id, one]) => [id, tasks && countedAs(tasks, one)]));
      for (const id of openOf.get(doc._id)?.keys() ?? []) if (!ids.has(id)) forget(id);
      if (ids.size > 0) openOf.set(doc._id, ids);
      else openOf.delete(doc._id);
      if (tasks) for (const [id, one] of open) see({ doc, tasks }, id, one);
    },
    counts: (): TaskCounts => {
      const counts = { waiting: 0, claimed: 0, people: 0 };
      for (const ids of openOf.values()) for (const kind of ids.values()) if (kind) counts[kind]++;
      return counts;
    },
  };
};

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

type Line = Pick<JobQueue, 'add' | 'remove' | 'has'>;

export type TaskBookNeeds = {
  readonly queue: Line;
  /** The jobs that this node may carry out itself: tasks wait among them, in the same turns. */
  readonly here: { readonly queue: Line; readonly note: (work: WorkNow) => void };
  /** The leases of workers. */
  readonly leases: Times;
  /** The times at which tasks go on by themselves. */
  readonly timers: Times;
  /** Called with each run that is open, when it has changed. */
  readonly onOpen: (id: string, task: OpenTask) => void;
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
const countedAs = (status: OpenTasksDoc['status'], { to, claim }: OpenTask): keyof TaskCounts | undefined => {
  if (status === 'error' || !to) return undefined;
  if ('groups' in to) return 'people';
  return claim ? 'claimed' : 'waiting';
};

/** A run as it was looked at last. `line`: where it waits. */
type OpenRun = { readonly id: string; readonly task: OpenTask; readonly line: Line | undefined };

/** The runs of a job by their tasks. `about`: what else decides how they wait. */
type JobRuns = { readonly about: string; readonly status: OpenTasksDoc['status']; readonly runs: Map<string, OpenRun> };

const aboutOf = ({ doc, tasks: { status } }: Job): string =>
  JSON.stringify([status, doc.automation, doc.component.name, guardOfJob(doc)]);

const isUnchanged = ({ id, task, line }: OpenRun, { run, since, due, isRetried, claim }: OpenTask): boolean =>
  task.run === run &&
  task.since === since &&
  task.due === due &&
  task.isRetried === isRetried &&
  task.claim?.claim === claim?.claim &&
  task.claim?.until === claim?.until &&
  // One that was taken and not claimed waits again.
  (line === undefined || line.has(id));

/** The open tasks of all jobs that run workflows: those that wait for workers, leases, and times that come by themselves. */
export const taskBook = ({ queue, here, leases, timers, onOpen }: TaskBookNeeds) => {
  const jobs = new Map<string, JobRuns>();

  const forget = (id: string): void => {
    queue.remove(id);
    here.queue.remove(id);
    here.note({ id, status: 'ended', claim: null });
    leases.remove(id);
    timers.remove(id);
  };

  const see = (job: Job, id: string, task: OpenTask): Line | undefined => {
    const { status } = job.tasks;
    onOpen(id, task);
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
    return waiting && line;
  };

  /** Looks at the runs that have changed: a job may have a thousand, of which each event changes few. */
  const lookAt = (job: Job, before: JobRuns | undefined): void => {
    const { doc, tasks } = job;
    const about = aboutOf(job);
    const runs = before?.runs ?? new Map<string, OpenRun>();
    for (const task in tasks.open) {
      const one = tasks.open[task] as OpenTask;
      const earlier = runs.get(task);
      if (earlier && before?.about === about && isUnchanged(earlier, one)) continue;
      const id = runIdOf({ job: doc._id, task, run: one.run });
      if (earlier && earlier.id !== id) forget(earlier.id);
      runs.set(task, { id, task: one, line: see(job, id, one) });
    }
    jobs.set(doc._id, { about, status: tasks.status, runs });
  };

  return {
    /** A job that runs a workflow, as it is now. */
    look: (doc: JobDoc, tasks: OpenTasksDoc | undefined): void => {
      const before = jobs.get(doc._id);
      for (const [task, { id }] of before?.runs ?? [])
        if (!tasks || !Object.hasOwn(tasks.open, task)) {
          forget(id);
          before?.runs.delete(task);
        }
      if (tasks && Object.keys(tasks.open).length > 0) lookAt({ doc, tasks }, before);
      else jobs.delete(doc._id);
    },
    counts: (): TaskCounts => {
      const counts = { waiting: 0, claimed: 0, people: 0 };
      for (const { status, runs } of jobs.values())
        for (const { task } of runs.values()) {
          const kind = countedAs(status, task);
          if (kind) counts[kind]++;
        }
      return counts;
    },
  };
};

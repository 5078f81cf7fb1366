import { randomUUID } from 'node:crypto';
import { type GuardedClock, type Leadership, type Log, lruCache } from '@automation-platform/concurrency';
import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Retries } from '../../commands/engine/retries.ts';
import type { Streams } from '../../commands/engine/streams.ts';
import { type ClaimedJob, type Claims, lapseClaim, type Wanted } from '../../commands/operations-manager/jobClaims.ts';
import type { WhyGone } from '../../commands/operations-manager/jobEnds.ts';
import type { ClaimedTask } from '../../commands/operations-manager/taskReports.ts';
import { type Actor, platform, seesAll } from '../../domain/engine/core.ts';
import type { JobProgress } from '../../domain/operations-manager/jobSchemas.ts';
import { hasEnded, job } from '../../domain/operations-manager/jobs.ts';
import { runIn } from '../../domain/operations-manager/workflows/runIds.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import type { JobDoc } from '../../projections/operations-manager/jobs.ts';
import type { OpenTasksDoc } from '../../projections/operations-manager/openTasks.ts';
import { type EventNotice, splitStream } from '../../store/event.ts';
import { type BuiltInNeeds, builtInWork } from './builtIn/builtInWork.ts';
import type { WorkKind, WorkNow } from './builtIn/work.ts';
import { claimableJobs } from './claimables.ts';
import { claiming } from './claiming.ts';
import { jobBook, waitingJobIn } from './jobBook.ts';
import { jobEnds } from './jobEnds.ts';
import { jobQueue } from './jobQueue.ts';
import { leases } from './leases.ts';
import { type StartLimit, starts } from './starts.ts';
import { isQuiet, isWorkedOn, type TaskCounts } from './taskBook.ts';
import type { TaskMeasures } from './taskMeasures.ts';
import { taskWork } from './taskWork.ts';
import { workerWaits } from './waits.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly events: Streams['events'];
  readonly retries: Pick<Retries, 'all'>;
  readonly model: Pick<ReadStore, 'list' | 'getMany' | 'guard'>;
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly leadership: Leadership;
  readonly builtIn: Omit<BuiltInNeeds, 'kindOf'> & { readonly jobs: WorkKind; readonly tasks: WorkKind };
  /** How many jobs may begin on this node: claims, and what runs here. */
  readonly startLimit: () => StartLimit;
  readonly measures: TaskMeasures;
  /** Says why a job cannot go on. */
  readonly whyGone: WhyGone;
  /** After how many hours without an event a job ends; 0: never. */
  readonly timeoutHours: number;
  readonly clock: GuardedClock;
  /** How often the leader looks for claims whose time is up. */
  readonly lookEveryMs?: number;
  readonly log: Log;
};

/** The progress that the worker with this claim has reported. */
type Progress = { readonly claim: number; readonly report: JobProgress };

/** The job of a job or of a run of a task. */
const jobOfWork = (id: string): string => runIn(id)?.job ?? id;

const statusHere = (doc: JobDoc): WorkNow['status'] => {
  if (hasEnded(doc)) return 'ended';
  return doc.status === 'paused' ? 'paused' : 'running';
};

const mostProgress = 100_000;
/** How often the leader looks for jobs that cannot go on. */
export const lookForEndsEveryMs = 3000;

/**
 * The work on jobs: the queue of those that wait, the leases of those that are claimed, how far they are, the runs of
 * those that this node has, and the end of those that cannot go on. Every node has all of it, from the events of the
 * log. The streams of the jobs decide.
 */
export const jobWork = ({
  handle,
  tools,
  events,
  retries,
  model,
  ready,
  leadership,
  builtIn,
  startLimit,
  measures,
  whyGone,
  timeoutHours,
  clock,
  log,
  ...more
}: Needs) => {
  const { lookEveryMs = 1000 } = more;
  const serve = (): void => {
    queue.serve();
    tasks.serve();
  };
  const startTurns = starts({ limit: startLimit, now: clock.monotonic, opened: serve });
  const queue = jobQueue(startTurns);
  const times = { leadership, clock, lookEveryMs, log };
  const claimLeases = leases({
    ...times,
    lapse: (id, { claim, until }) =>
      handle(lapseClaim, {
        actor: platform,
        operation: lapseClaim.name,
        requestId: randomUUID(),
        id,
        input: { claim, until },
      }),
  });
  const ends = jobEnds({ handle, whyGone, leadership, clock, timeoutHours, lookEveryMs: lookForEndsEveryMs, log });
  // Soft state: it is gone after a restart, and other nodes do not have it.
  const listeners: ((id: string) => void)[] = [];
  const progress = lruCache<Progress>(mostProgress);

  const see = (doc: JobDoc, open: OpenTasksDoc | undefined): void => {
    const { _id: id, claim } = doc;
    if (doc.workflow) tasks.look(doc, open);
    const waiting = waitingJobIn(doc);
    if (waiting) queue.add(waiting);
    else queue.remove(id);
    const isOver = hasEnded(doc);
    if (isOver) ends.remove(id);
    else ends.set(doc, open ? isWorkedOn(open) : undefined, open ? isQuiet(open) : undefined);
    const isClaimed = claim !== null && !isOver;
    if (isClaimed) claimLeases.set(id, claim);
    else claimLeases.remove(id);
    if (!isClaimed) progress.delete(id);
    if (!doc.workflow) here.seen({ id, status: statusHere(doc), claim });
  };

  const book = jobBook({ model, ready, note: see, log });
  const isGone = async (id: string): Promise<boolean> => (await ends.endIfGone(id, null)) !== undefined;
  const here = builtInWork({
    ...builtIn,
    kindOf: (id) => (runIn(id) ? builtIn.tasks : builtIn.jobs),
    queue,
    look: (id) => book.look(jobOfWork(id)),
    isGone: (id) => isGone(jobOfWork(id)),
    log,
  });
  const mayRead = (actor: Actor, guard: string | undefined): boolean =>
    guard === undefined || seesAll(actor) || mayReadGuard(actor, model)(guard);
  const shared = { tools, retries, mayRead };
  const claim = claiming({ ...shared, events, kind: claimableJobs(handle), queue, look: book.look, isGone });
  const tasks = taskWork({
    handle,
    events,
    starts: startTurns,
    times,
    claiming: shared,
    here: { queue, note: here.seen },
    onOpen: measures.see,
    look: book.look,
    isGone,
  });
  const waits = workerWaits();

  return {
    /**
     * Gives out jobs to a worker: those that wait now, else the next one within this time. None once the worker has
     * gone, or the service stops.
     */
    claim: (request: Wanted, waitMs: number, leaving: AbortSignal): Promise<Claims<ClaimedJob>> =>
      waits.wait(waitMs, leaving, (signal) => claim(request, signal, leaving)),
    /** The same for tasks of jobs that run workflows. */
    claimTasks: (request: Wanted, waitMs: number, leaving: AbortSignal): Promise<Claims<ClaimedTask>> =>
      waits.wait(waitMs, leaving, (signal) => tasks.claim(request, signal, leaving)),
    /** How many tasks of jobs that run workflows are open. */
    taskCounts: (): TaskCounts => tasks.counts(),
    /** The limits have changed. */
    limitsChanged: (): void => {
      startTurns.changed();
      here.changed();
    },
    /** Ends the job at a step of the worker with this claim, if something that it needs is gone. */
    endIfGone: ends.endIfGone,
    /** No worker waits any more, and nothing begins here. */
    stopWaiting: (): void => {
      here.stopTaking();
      waits.stop();
    },
    /** Notes how far a job is, as the worker with this claim says. */
    noteProgress: (id: string, claim: number, report: JobProgress): void => {
      progress.set(id, { claim, report });
      for (const listener of listeners) listener(id);
    },
    /** The same for a run of a task; only this node shows it. */
    noteTaskProgress: (id: string, claim: number, news: JobProgress): void =>
      void progress.set(id, { claim, report: news }),
    /** How far a run of a task is, as this node has heard; null: no worker with this claim has said it. */
    taskProgressOf: (id: string, claim: number | undefined): JobProgress | null => {
      const last = progress.get(id);
      return last && last.claim === claim ? last.report : null;
    },
    /** Calls the listener with each job of which a worker says how far it is. */
    onProgress: (listener: (id: string) => void): void => void listeners.push(listener),
    /** How far a job is, as this node has heard; null: nobody has it now, or its worker has not said it here. */
    progressOf: (doc: Pick<JobDoc, '_id' | 'status' | 'claim'>): JobProgress | null => {
      const progressOfJob = progress.get(doc._id);
      const isOfClaim = progressOfJob?.claim === doc.claim?.claim;
      return progressOfJob && isOfClaim && !hasEnded(doc) ? progressOfJob.report : null;
    },
    /** To be called with events of jobs: `onOwn` with those that this node stores, `onEvent` once their documents are readable. */
    onOwn: measures.onOwn,
    onEvent: (event: Pick<EventNotice, 'stream' | 'topic' | 'data'>): void => {
      measures.onEvent(event);
      book.look(splitStream(event.stream).id);
    },
    /** The categories of the streams whose events `onEvent` needs. */
    categories: new Set([job.category]),
    start: (): void => {
      ends.start(book.start());
      claimLeases.start();
      tasks.start();
      here.start();
    },
    /** Gives back what runs here, and waits for what cannot be done again. */
    leave: here.leave,
    /** Breaks off what runs here. */
    breakOff: here.breakOff,
    stop: async (): Promise<void> => {
      here.breakOff();
      await here.leave();
      startTurns.stop();
      await Promise.all([claimLeases.stop(), tasks.stop(), book.stop()]);
      await ends.stop();
    },
  };
};

export type JobWork = ReturnType<typeof jobWork>;

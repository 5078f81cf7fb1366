import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Retries } from '../../commands/engine/retries.ts';
import type { Streams } from '../../commands/engine/streams.ts';
import type { ClaimedJobs, WantedJobs } from '../../commands/operations-manager/jobClaims.ts';
import type { WhyGone } from '../../commands/operations-manager/jobEnds.ts';
import type { GuardedClock } from '../../concurrency/guardedClock.ts';
import type { Leadership } from '../../concurrency/leadership.ts';
import type { Log } from '../../concurrency/log.ts';
import { lruCache } from '../../concurrency/lruCache.ts';
import type { JobProgress } from '../../domain/operations-manager/jobSchemas.ts';
import { hasEnded, job } from '../../domain/operations-manager/jobs.ts';
import { mayReadGuard } from '../../projections/engine/guards.ts';
import type { ReadStore } from '../../projections/engine/port.ts';
import type { JobDoc } from '../../projections/operations-manager/jobs.ts';
import { type EventNotice, splitStream } from '../../store/event.ts';
import { type BuiltInNeeds, builtInWork } from './builtIn/builtInWork.ts';
import { claiming } from './claiming.ts';
import { jobBook, waitingJobIn } from './jobBook.ts';
import { jobEnds } from './jobEnds.ts';
import { jobQueue } from './jobQueue.ts';
import { leases } from './leases.ts';
import { type StartLimit, starts } from './starts.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly events: Streams['events'];
  readonly retries: Pick<Retries, 'all'>;
  readonly model: Pick<ReadStore, 'list' | 'getMany' | 'guard'>;
  readonly ready: (signal: AbortSignal) => Promise<void>;
  readonly leadership: Leadership;
  readonly builtIn: BuiltInNeeds;
  /** How many jobs may begin on this node: claims, and what runs here. */
  readonly startLimit: () => StartLimit;
  /** Says why a job cannot go on. */
  readonly whyGone: WhyGone;
  /** After how many hours without an event a job ends; 0: never. */
  readonly timeoutHours: number;
  readonly clock: GuardedClock;
  /** How often the leader looks for claims whose time is up. */
  readonly lookEveryMs?: number;
  readonly log: Log;
};

/** What the worker with this claim has said. */
type Progress = { readonly claim: number; readonly said: JobProgress };

const mostProgress = 100_000;
// One for all: to make an error takes longer than all else of a wait.
const over = new Error('The wait is over');
/** How often the leader looks for jobs that cannot go on. */
export const lookForEndsEveryMs = 3000;

/**
 * The work on jobs: the queue of those that wait, the leases of those that somebody has, how far they are, the runs of
 * those that this node has, and the end of those that cannot go on. Every node has all of it, from the events of the
 * log. What happens is decided in the streams of the jobs.
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
  whyGone,
  timeoutHours,
  clock,
  log,
  ...more
}: Needs) => {
  const { lookEveryMs = 1000 } = more;
  const begun = starts({ limit: startLimit, now: clock.monotonic, opened: () => queue.serve() });
  const queue = jobQueue(begun);
  const held = leases({ handle, leadership, clock, lookEveryMs, log });
  const ends = jobEnds({ handle, whyGone, leadership, clock, timeoutHours, lookEveryMs: lookForEndsEveryMs, log });
  // Soft state: it is gone after a restart, and other nodes do not have it.
  const listeners: ((id: string) => void)[] = [];
  const progress = lruCache<Progress>(mostProgress);

  const seen = (doc: JobDoc): void => {
    const { _id: id, claim } = doc;
    const waiting = waitingJobIn(doc);
    if (waiting) queue.add(waiting);
    else queue.remove(id);
    const isOver = hasEnded(doc);
    if (isOver) ends.remove(id);
    else ends.set(doc);
    const isWorkedOn = claim !== null && !isOver;
    if (isWorkedOn) held.set(id, claim);
    else held.remove(id);
    if (!isWorkedOn) progress.delete(id);
    here.seen(doc);
  };

  const book = jobBook({ model, ready, seen, log });
  const isGone = async (id: string): Promise<boolean> => (await ends.endIfGone(id, null)) !== undefined;
  const here = builtInWork({ ...builtIn, handle, events, queue, look: book.look, isGone, log });
  const claim = claiming({
    handle,
    tools,
    events,
    retries,
    queue,
    mayRead: (actor, guard) => guard === undefined || actor.admin || mayReadGuard(actor, model)(guard),
    look: book.look,
    isGone,
  });

  // How to end the waiting of each worker.
  const waits = new Set<() => void>();
  let isStopping = false;

  return {
    /**
     * Gives out jobs to a worker: those that wait now, else the next one within this time. None once the worker has
     * gone, or the service stops.
     */
    claim: async (wanted: WantedJobs, waitMs: number, gone: AbortSignal): Promise<ClaimedJobs> => {
      if (waitMs === 0 || gone.aborted || isStopping) return claim(wanted, AbortSignal.abort(over), gone);
      const waiting = new AbortController();
      const end = (): void => waiting.abort(over);
      const timer = setTimeout(end, waitMs);
      gone.addEventListener('abort', end);
      waits.add(end);
      try {
        return await claim(wanted, waiting.signal, gone);
      } finally {
        clearTimeout(timer);
        gone.removeEventListener('abort', end);
        waits.delete(end);
      }
    },
    /** The limits have changed. */
    limitsChanged: (): void => {
      begun.changed();
      here.changed();
    },
    /** Ends the job at a step of the worker with this claim, if something that it needs is gone. */
    endIfGone: ends.endIfGone,
    /** No worker waits any more, and nothing begins here. */
    stopWaiting: (): void => {
      isStopping = true;
      here.stopTaking();
      for (const end of waits) end();
    },
    /** Notes how far a job is, as the worker with this claim says. */
    noteProgress: (id: string, claim: number, said: JobProgress): void => {
      progress.set(id, { claim, said });
      for (const listener of listeners) listener(id);
    },
    /** Calls the listener with each job of which a worker says how far it is. */
    onProgress: (listener: (id: string) => void): void => void listeners.push(listener),
    /** How far a job is, as this node has heard; null: nobody has it now, or its worker has not said it here. */
    progressOf: (doc: Pick<JobDoc, '_id' | 'status' | 'claim'>): JobProgress | null => {
      const known = progress.get(doc._id);
      const isOfClaim = known?.claim === doc.claim?.claim;
      return known && isOfClaim && !hasEnded(doc) ? known.said : null;
    },
    /** To be called with events of jobs once their documents are readable. */
    onEvent: ({ stream }: Pick<EventNotice, 'stream'>): void => {
      book.look(splitStream(stream).id);
    },
    /** The categories of the streams whose events `onEvent` needs. */
    categories: new Set([job.category]),
    start: (): void => {
      ends.start(book.start());
      held.start();
      here.start();
    },
    /** Gives back what runs here, and waits for what cannot be done again. */
    leave: here.leave,
    /** Breaks off what runs here. */
    breakOff: here.breakOff,
    stop: async (): Promise<void> => {
      here.breakOff();
      await here.leave();
      begun.stop();
      await Promise.all([held.stop(), book.stop()]);
      await ends.stop();
    },
  };
};

export type JobWork = ReturnType<typeof jobWork>;

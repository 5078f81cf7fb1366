import type { Starts } from './starts.ts';
import { isWished, type WaitingJob, type Wish, waitingJobs, wordsOf } from './waitingJobs.ts';

/** One that waits for a job: a worker, or this node itself. */
type Claimer = Wish & { readonly give: (job: WaitingJob) => void };

/**
 * The jobs that wait, and those who wait for jobs. Nobody polls: a job goes to who waits for it. How many may begin is
 * limited by `starts`.
 */
export const jobQueue = (starts: Pick<Starts, 'take' | 'giveBack'>) => {
  const jobs = waitingJobs();
  // In the order in which they came.
  const line = new Set<Claimer>();
  const byComponent = new Map<string, Set<Claimer>>();

  const leave = (claimer: Claimer): void => {
    line.delete(claimer);
    for (const component of claimer.components) {
      const others = byComponent.get(component);
      others?.delete(claimer);
      if (others?.size === 0) byComponent.delete(component);
    }
  };

  const join = (claimer: Claimer): void => {
    line.add(claimer);
    for (const component of claimer.components)
      byComponent.set(component, (byComponent.get(component) ?? new Set()).add(claimer));
  };

  const take = (wish: Wish): WaitingJob | undefined => {
    if (jobs.size() === 0 || !starts.take()) return undefined;
    const job = jobs.take(wish);
    if (!job) starts.giveBack();
    return job;
  };

  /** The request that has waited longest for such a job. */
  const claimerOf = (job: WaitingJob): Claimer | undefined => {
    for (const component of wordsOf(job))
      for (const claimer of byComponent.get(component) ?? []) if (isWished(job, claimer)) return claimer;
    return undefined;
  };

  const serveOne = (claimer: Claimer): void => {
    const job = take(claimer);
    if (!job) return;
    leave(claimer);
    claimer.give(job);
  };

  return {
    /** The job waits. The worker that has waited longest for such a job gets the one whose turn it is. */
    add: (job: WaitingJob): void => {
      jobs.add(job);
      const claimer = claimerOf(job);
      if (claimer) serveOne(claimer);
    },
    remove: jobs.remove,
    has: jobs.has,
    take,
    /** A job that was taken did not begin, because another node or worker was faster. */
    giveBack: starts.giveBack,
    /** Gives jobs to those who wait, once more of them may begin. */
    serve: (): void => {
      for (const claimer of [...line]) serveOne(claimer);
    },
    /** The next job for this wish: one that waits, else the first that comes before the signal aborts. */
    next: (wish: Wish, signal: AbortSignal): Promise<WaitingJob | undefined> => {
      const job = take(wish);
      if (job || signal.aborted) return Promise.resolve(job);
      return new Promise((resolve) => {
        const claimer: Claimer = {
          ...wish,
          give: (job) => {
            signal.removeEventListener('abort', giveUp);
            resolve(job);
          },
        };
        const giveUp = (): void => {
          leave(claimer);
          resolve(undefined);
        };
        signal.addEventListener('abort', giveUp, { once: true });
        join(claimer);
      });
    },
    /** How many jobs wait. */
    size: jobs.size,
    /** How many wait for jobs. */
    waiting: (): number => line.size,
  };
};

export type JobQueue = ReturnType<typeof jobQueue>;

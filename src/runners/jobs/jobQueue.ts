import { type WaitingJob, type Wish, waitingJobs } from './waitingJobs.ts';

/** A worker that waits for a job. */
type Claimer = Wish & { readonly give: (job: WaitingJob) => void };

/** The jobs that wait for workers, and the workers that wait for jobs. Nobody polls: a job goes to who waits for it. */
export const jobQueue = () => {
  const jobs = waitingJobs();
  // By component, in the order in which they came.
  const claimers = new Map<string, Set<Claimer>>();
  let waiting = 0;

  const leave = (claimer: Claimer): void => {
    waiting--;
    for (const component of claimer.components) {
      const others = claimers.get(component);
      others?.delete(claimer);
      if (others?.size === 0) claimers.delete(component);
    }
  };

  const join = (claimer: Claimer): void => {
    waiting++;
    for (const component of claimer.components)
      claimers.set(component, (claimers.get(component) ?? new Set()).add(claimer));
  };

  return {
    /** The job waits: it goes to the worker that has waited longest, or into the queue. */
    add: (job: WaitingJob): void => {
      for (const claimer of claimers.get(job.component) ?? []) {
        if (!claimer.may(job.guard)) continue;
        jobs.remove(job.id);
        leave(claimer);
        claimer.give(job);
        return;
      }
      jobs.add(job);
    },
    remove: jobs.remove,
    take: jobs.take,
    /** The next job for this wish: one that waits, else the first that comes before the signal aborts. */
    next: (wish: Wish, signal: AbortSignal): Promise<WaitingJob | undefined> => {
      const job = jobs.take(wish);
      if (job || signal.aborted) return Promise.resolve(job);
      return new Promise((resolve) => {
        const claimer: Claimer = {
          ...wish,
          give: (given) => {
            signal.removeEventListener('abort', giveUp);
            resolve(given);
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
    /** How many jobs wait for workers. */
    size: jobs.size,
    /** How many workers wait for jobs. */
    waiting: (): number => waiting,
  };
};

export type JobQueue = ReturnType<typeof jobQueue>;

/** A job of which readers are told. All readers share it, so that a reader who is behind holds little of its own. */
export type ToldJob = {
  readonly id: string;
  /** The text that readers get after its last change; undefined if it has not changed since there are readers. */
  text: string | undefined;
  hasEnded: boolean;
  /** The number of the last change of the job or its watchers; 0 if there was none. */
  change: number;
  /** The number of the last change of what is told. */
  textChange: number;
};

/** A change of a job. Only the last one of each job counts. */
export type JobChange = { readonly job: ToldJob; readonly number: number };

export const newJob = (id: string): ToldJob => ({
  id,
  text: undefined,
  hasEnded: false,
  change: 0,
  textChange: 0,
});

/** The changes of jobs in their order, until all readers have come by. Changes count from 1. */
export const toldJobs = () => {
  const byId = new Map<string, ToldJob>();
  let changes: JobChange[] = [];
  let last = 0;

  const isCurrent = ({ job, number }: JobChange): boolean => job.change === number;

  /** The index of the first change after a number. */
  const indexAfter = (number: number): number => {
    let [low, high] = [0, changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((changes[middle] as JobChange).number <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  };

  const jobOf = (id: string): ToldJob => {
    const known = byId.get(id);
    if (known) return known;
    const job = newJob(id);
    byId.set(id, job);
    return job;
  };

  return {
    jobOf,
    /** The number of the last change of all. */
    last: (): number => last,
    /** Notes a change of a job, and what is told of it now. */
    change: (id: string, text: string, hasEnded: boolean): void => {
      const job = jobOf(id);
      job.hasEnded = hasEnded;
      job.change = ++last;
      if (job.text !== text) job.textChange = last;
      job.text = text;
      changes.push({ job, number: last });
      if (changes.length > 2 * byId.size + 100) changes = changes.filter(isCurrent);
    },
    /** The changes after a number, at most so many. */
    after: (number: number, most: number): readonly JobChange[] => {
      const found: JobChange[] = [];
      for (let i = indexAfter(number); i < changes.length && found.length < most; i++) {
        const change = changes[i] as JobChange;
        if (isCurrent(change)) found.push(change);
      }
      return found;
    },
    /** All readers have come by these changes: forgets them, and the jobs that have ended. */
    forget: (until: number): void => {
      for (const change of changes.splice(0, indexAfter(until)))
        if (isCurrent(change) && change.job.hasEnded) byId.delete(change.job.id);
    },
    /** There is no reader. */
    clear: (): void => {
      byId.clear();
      changes = [];
    },
  };
};

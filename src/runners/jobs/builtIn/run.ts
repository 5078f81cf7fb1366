import type { ClaimedJob } from '../../../commands/operations-manager/jobClaims.ts';
import type { Actor } from '../../../domain/engine/core.ts';
import type { JobStarted, Variables } from '../../../domain/operations-manager/jobs.ts';
import type { Recorded } from '../../../store/event.ts';

/** The run of a job whose component the platform runs itself. */
export type Run = {
  /** The job as this node has claimed it, with sealed secrets. */
  readonly doc: ClaimedJob['doc'];
  /** The event that started the job. */
  readonly started: Recorded<JobStarted>;
  /** Aborts when the run has to end: the job has ended, is paused or somebody else's, or the service stops. */
  readonly signal: AbortSignal;
  /**
   * To be called before each step. Returns the account whose rights count, as of now. Waits while the job is paused.
   * Throws `RunEnded` if the account has lost its rights, and the signal's reason.
   */
  readonly step: () => Promise<Actor>;
  /** From here on the run changes the world: it is not begun a second time. */
  readonly acts: () => void;
};

/** Runs a component. Returns the variables that it adds to the job; what it throws in words is the job's error. */
export type Component = (run: Run) => Promise<Variables>;

/** The job ends in error, with these words. */
export class RunEnded extends Error {}

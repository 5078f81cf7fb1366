import type { Members } from '@automation-platform/json';
import type { Actor } from '../../../domain/engine/core.ts';
import type { JobStarted } from '../../../domain/operations-manager/jobs.ts';
import type { InputsOf, OperationId } from '../../../domain/operations-manager/workflows/ownOperations.ts';
import type { Recorded } from '../../../store/event.ts';

/** One run of an operation of this service, for a job or a task of one. */
export type Run<Inputs extends object = Members> = {
  /** The id of the job. */
  readonly job: string;
  /** The same for all claims of one run: what is begun under it is begun once. */
  readonly key: string;
  /** With sealed secrets. */
  readonly inputs: Inputs;
  /** The event that started the job. */
  readonly started: Recorded<JobStarted>;
  /** Aborts when the run has to end: the job has ended, is paused, or claimed by another node, or the service stops. */
  readonly signal: AbortSignal;
  /**
   * To be called before each step. Returns the account whose rights count, as of now. Waits while the job is paused.
   * Throws `RunEnded` if the account has lost its rights, and the signal's reason.
   */
  readonly step: () => Promise<Actor>;
  /** To be called with each inventory whose devices the outputs, or an error, may name. */
  readonly names: (inventory: string) => void;
  /** From here on the run changes the world: it is not begun a second time. */
  readonly acts: () => void;
  /** True if the run is not under way any more, as the job's stream says now. */
  readonly isOver: () => Promise<boolean>;
  /** Waits for the end of work that this run has begun elsewhere. Meanwhile another run has its place. */
  readonly awaits: <T>(end: Promise<T>) => Promise<T>;
};

/** Carries out an operation. Returns its outputs; what it throws in words is the error of the job or task. */
export type Operation<Inputs extends object = Members> = (run: Run<Inputs>) => Promise<Members>;

/** An operation whose inputs have the form that the table of operations says. */
export type OperationFor<O extends OperationId> = Operation<InputsOf<O>>;

/** The run ends in error, with these words, and what else the error has. */
export class RunEnded extends Error {
  readonly more: Members | undefined;
  constructor(message: string, more?: Members) {
    super(message);
    this.more = more;
  }
}

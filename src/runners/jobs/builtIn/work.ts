import type { Members } from '@automation-platform/json';
import type { JobError } from '../../../domain/operations-manager/jobSchemas.ts';
import type { Operation, Run } from './run.ts';

/** Work that this node has claimed: a job whose component the service runs itself, or a task that stands for an operation. */
export type Work = Pick<Run, 'job' | 'key' | 'inputs' | 'started' | 'isOver'> & {
  readonly id: string;
  readonly claim: number;
  readonly operation: Operation;
  /** True if its outcome counts also when the job is paused, or the account has lost its rights since. */
  readonly endsAtOnce: boolean;
  readonly heartbeat: () => Promise<unknown>;
  readonly release: () => Promise<unknown>;
  /** Stores that the job names devices of these inventories. */
  readonly noteInventories: (inventories: readonly string[]) => Promise<unknown>;
  readonly finish: (outputs: Members) => Promise<unknown>;
  readonly fail: (error: JobError) => Promise<unknown>;
};

/** A claim as a read model shows it. */
export type HeldClaim = {
  readonly claim: number;
  readonly worker: string;
  readonly account: string;
  readonly until: number | null;
};

/** Work that may run here, as it is now. */
export type WorkNow = {
  readonly id: string;
  readonly status: 'running' | 'paused' | 'ended';
  readonly claim: HeldClaim | null;
};

/** One kind of work that nodes carry out. */
export type WorkKind = {
  /** Claims the work with this id for this node; undefined if another was faster. */
  readonly claim: (id: string) => Promise<Work | undefined>;
  /** Releases a claim of an earlier process of this node. */
  readonly releaseFormer: (id: string, claim: HeldClaim) => Promise<unknown>;
};

/** For how long work is claimed at a time, in seconds. */
export const lease = 30;

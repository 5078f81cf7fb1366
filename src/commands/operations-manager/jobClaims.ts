import { Type } from 'typebox';
import type { Actor } from '../../domain/engine/core.ts';
import { automation } from '../../domain/operations-manager/automations.ts';
import {
  claim,
  claimInput,
  claimNumber,
  heartbeat,
  heartbeatSchema,
  lapse,
  lapseInput,
  release,
} from '../../domain/operations-manager/jobClaims.ts';
import { type JobState, job } from '../../domain/operations-manager/jobs.ts';
import type { JobDoc } from '../../projections/operations-manager/jobs.ts';
import { commandsOf, type Tools } from '../engine/define.ts';
import type { CommandResult } from '../engine/handle.ts';
import type { Request } from '../engine/requests.ts';
import { accessListThatDenies } from './jobs.ts';

const command = commandsOf(job);
const claimOnly = Type.Object({ claim: claimNumber }, { additionalProperties: false });

/** An account that may see a job may work on it. */
const byAccess = {
  prepare: async ({ state, actor }: { readonly state: JobState; readonly actor: Actor }, tools: Tools) => ({
    gbac: await accessListThatDenies(actor, state, tools),
  }),
  gbac: (_: JobState, { gbac }: { readonly gbac: Awaited<ReturnType<typeof accessListThatDenies>> }) => gbac,
};

/** Gives one job to a worker. */
export const claimJob = command({
  name: 'claimJob',
  input: claimInput,
  on: 'existing',
  prepare: async ({ state, actor }, tools) => {
    const id = state.started?.automation ?? null;
    const isGone = id !== null && !(await tools.state(automation, id)).exists;
    return { ...(await byAccess.prepare({ state, actor }, tools)), isGone };
  },
  decide: claim,
  gbac: byAccess.gbac,
});

/** A worker's sign of life. */
export const heartbeatJob = command({
  name: 'heartbeatJob',
  input: heartbeatSchema,
  on: 'existing',
  decide: heartbeat,
  ...byAccess,
});

/** A worker gives a job back. */
export const releaseJob = command({
  name: 'releaseJob',
  input: claimOnly,
  on: 'existing',
  decide: release,
  ...byAccess,
});

/** Releases a claim whose time is up, or whose worker has ended. */
export const lapseClaim = command({ name: 'lapseClaim', input: lapseInput, on: 'any', decide: lapse });

/** A worker's wish for jobs or tasks. */
export type Wanted = {
  /** The words under which they wait (runners/jobs/waitingJobs.ts). */
  readonly components: readonly string[];
  /** The adapters that the worker has; undefined: it asks for any. */
  readonly adapters?: readonly string[] | undefined;
  readonly worker: string;
  readonly max: number;
  /** Seconds. */
  readonly lease: number;
  readonly about: Omit<Request, 'id' | 'input'>;
  /** The account as of now, with the right to claim. Throws if it has it no more. */
  readonly actorNow: () => Promise<Actor>;
};

/** Work that was given out. */
export type Claimed = { readonly id: string; readonly claim: number; readonly position: number };

export type Claims<C extends Claimed> = { readonly jobs: readonly C[]; readonly replayed: boolean };

/** A job that was given out: the document as it was claimed. */
export type ClaimedJob = Claimed & { readonly doc: JobDoc & { readonly claim: NonNullable<JobDoc['claim']> } };

/** The job as a claim has left it; undefined if nobody holds it. */
export const claimedIn = ({ doc, position }: Pick<CommandResult, 'doc' | 'position'>): ClaimedJob | undefined => {
  const { claim, ...rest } = doc as JobDoc; // the document of the command's own aggregate
  return claim ? { id: rest._id, claim: claim.claim, doc: { ...rest, claim }, position } : undefined;
};

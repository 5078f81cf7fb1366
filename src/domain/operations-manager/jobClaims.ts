import { type Static, Type } from 'typebox';
import type { Context } from '../engine/core.ts';
import { RequestError } from '../engine/requestError.ts';
import { name } from '../engine/schemas.ts';
import { goesOn, unknownOutcome } from './builtIn.ts';
import { type Claim, heldBy, mostLost } from './claims.ts';
import { jobProgress } from './jobSchemas.ts';
import { hasEnded, type JobEvent, type JobState, refuseEnded } from './jobs.ts';
import { refuseAsWhole } from './jobWorkflows.ts';
import { taskIn } from './workflows/taskStates.ts';

/** The number of a claim in requests. */
export const claimNumber = Type.Integer({ minimum: 1, description: 'Number of the claim' });

/** The longest lease in seconds. */
export const longestLease = 86_400;

export const leaseSchema = Type.Integer({
  minimum: 10,
  maximum: longestLease,
  description: 'Seconds after which the claim lapses unless a heartbeat extends it',
});

/** The body of a request for work. */
export const jobClaimSchema = Type.Object(
  {
    components: Type.Array(name('Name of a component'), {
      minItems: 1,
      maxItems: 1000,
      description: 'Names of the components that the worker can run',
    }),
    worker: name('Name that the worker gives itself'),
    max: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 1, description: 'How many jobs at most' })),
    lease: Type.Optional(Type.Integer({ ...leaseSchema, default: 300 })),
    wait: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 30, default: 0, description: 'Seconds to wait if there is no job' }),
    ),
  },
  { additionalProperties: false, title: 'JobClaim', description: 'A worker, and the components that it works on' },
);
export type JobClaim = Static<typeof jobClaimSchema>;

/** The input of the command that claims one job. */
export const claimInput = Type.Object({ worker: name('Worker'), lease: leaseSchema });

/** A sign of life of a worker. */
export const heartbeatSchema = Type.Object(
  { claim: claimNumber, progress: Type.Optional(jobProgress) },
  { additionalProperties: false, title: 'Heartbeat', description: 'Sign of life of a worker' },
);

const msOf = (now: string): number => Date.parse(now);

/** True if a worker may be given the job. */
const waits = ({ status, tasks, claims: { held } }: JobState): boolean =>
  status === 'running' && held === null && tasks === undefined;

/**
 * Gives the job to a worker. Nothing happens if it does not wait for one, because another was faster. Throws `not_found`
 * if its automation is gone (`isGone`).
 */
export const claim = (
  state: JobState,
  { worker, lease }: Static<typeof claimInput>,
  { now, actor, refs: { isGone } }: Context<{ readonly isGone: boolean }>,
): readonly JobEvent[] => {
  if (!waits(state)) return [];
  if (isGone) throw new RequestError('not_found', 'The automation of the job is gone');
  const until = msOf(now) + lease * 1000;
  return [{ topic: 'jobClaimed', data: { claim: state.claims.last + 1, worker, account: actor.id, until, lease } }];
};

/**
 * A claim is extended once half of its lease is over, or if its end is further away than a lease: then the clock was wrong
 * that gave it. A claim on a canceled job is heard, so that its worker stops.
 */
export const heartbeat = (
  state: JobState,
  { claim }: { readonly claim: number },
  { id, now, actor }: Context,
): readonly JobEvent[] => {
  refuseAsWhole(state);
  if (state.status !== 'canceled') refuseEnded(state, id);
  const { until, lease } = heldBy(state.claims, claim, actor);
  const at = msOf(now);
  const remainingMs = until - at;
  const isYoung = remainingMs > (lease * 1000) / 2 && remainingMs <= lease * 1000;
  if (state.status === 'canceled' || isYoung) return [];
  return [{ topic: 'jobClaimExtended', data: { claim, until: at + lease * 1000 } }];
};

/** A worker gives the job back. That is no lost claim. */
export const release = (
  state: JobState,
  { claim }: { readonly claim: number },
  { id, actor }: Context,
): readonly JobEvent[] => {
  refuseAsWhole(state);
  refuseEnded(state, id);
  heldBy(state.claims, claim, actor);
  return [{ topic: 'jobReleased', data: { claim, reason: 'returned' } }];
};

/**
 * Which claim lapses. `until`: its time is up, and this was its end. `worker`: the worker of this name has ended.
 */
export const lapseInput = Type.Object({
  claim: claimNumber,
  until: Type.Optional(Type.Integer()),
  worker: Type.Optional(name('Worker')),
});

/**
 * Releases a claim whose time is up, unless it has been extended since, or whose worker has ended. After the third lost
 * claim the job is given up. A claim on a paused job is not
 * lost. A job that sends commands to devices is not begun a second time; one that goes on from what it has stored is never
 * given up.
 */
export const lapse = (
  state: JobState,
  { claim, until, worker }: Static<typeof lapseInput>,
  { actor }: Context,
): readonly JobEvent[] => {
  const { held, lost } = state.claims;
  if (hasEnded(state) || held?.claim !== claim) return [];
  const isOfEnded = held.worker === worker && held.account === actor.id;
  if (held.until !== until && !isOfEnded) return [];
  const type = state.started?.component.type;
  if (type === 'mop-template')
    return [
      { topic: 'jobReleased', data: { claim, reason: 'lapsed' } },
      { topic: 'jobErrored', data: { error: unknownOutcome } },
    ];
  if (state.status === 'paused') return [{ topic: 'jobReleased', data: { claim, reason: 'returned' } }];
  const lapsed: JobEvent = { topic: 'jobReleased', data: { claim, reason: 'lapsed' } };
  return lost + 1 < mostLost || goesOn(type) ? [lapsed] : [lapsed, { topic: 'jobGivenUp', data: { claims: lost + 1 } }];
};

type Live = Pick<Claim, 'claim' | 'account'> & { readonly task?: string; readonly run?: number };

/** The claim that is held on a job, or on a run of one of its tasks. */
const liveClaim = ({ claims, tasks }: JobState, { task, run }: Live): Pick<Claim, 'claim' | 'account'> | null => {
  if (task === undefined) return claims.held;
  const now = tasks && taskIn(tasks, task);
  return now?.status === 'open' && now.run === run ? now.claims.held : null;
};

/** Throws `conflict` unless the account holds this claim, and the job has not ended. */
export const refuseUnlessLive = (state: JobState | undefined, live: Live): void => {
  const holder = state && liveClaim(state, live);
  if (!state || hasEnded(state) || holder?.claim !== live.claim || holder.account !== live.account)
    throw new RequestError('conflict', 'X-Claim names no claim that you hold', { path: 'X-Claim' });
};

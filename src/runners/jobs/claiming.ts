import { hash } from 'node:crypto';
import type { Tools } from '../../commands/engine/define.ts';
import type { Handle } from '../../commands/engine/handle.ts';
import type { Retries } from '../../commands/engine/retries.ts';
import type { Streams } from '../../commands/engine/streams.ts';
import {
  type ClaimedJob,
  type ClaimedJobs,
  claimedIn,
  claimJob,
  releaseJob,
  type WantedJobs,
} from '../../commands/operations-manager/jobClaims.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { hasEnded, job } from '../../domain/operations-manager/jobs.ts';
import { isUnusable } from '../../store/tampered.ts';
import type { JobQueue } from './jobQueue.ts';
import type { WaitingJob, Wish } from './waitingJobs.ts';

type Needs = {
  readonly handle: Handle;
  readonly tools: Pick<Tools, 'state'>;
  readonly events: Streams['events'];
  readonly retries: Pick<Retries, 'all'>;
  readonly queue: Pick<JobQueue, 'take' | 'next' | 'giveBack'>;
  /** Whether an account may read what has this guard. */
  readonly mayRead: (actor: Actor, guard: string | undefined) => boolean;
  /** Looks whether the job still waits. */
  readonly look: (id: string) => void;
  /** Whether something that the job needs is gone. Then it has ended. */
  readonly isGone: (id: string) => Promise<boolean>;
};

/** The name under which the jobs of a request with an Idempotency-Key are noted, so that a retry finds them. */
const noteOf = (key: string): string => `claim ${hash('sha256', key, 'hex')}`;

const noWait = AbortSignal.abort();

const isMissing = (error: unknown): boolean => error instanceof RequestError && error.code === 'not_found';

/** Whether there is nothing to give back: the job has ended, its claim has lapsed, or the account may not see it now. */
const isGivenBack = (error: unknown): boolean =>
  isMissing(error) || (error instanceof RequestError && error.code === 'conflict');

/** Gives out jobs. Each is decided by its own stream, so that of two nodes one gives it out. */
export const claiming = ({ handle, tools, events, retries, queue, mayRead, look, isGone }: Needs) => {
  const claimOne = async (id: string, actor: Actor, { about, worker, lease }: WantedJobs) => {
    const key = about.idempotency?.key;
    const calledBy = key === undefined ? undefined : { name: noteOf(key) };
    return handle(claimJob, { ...about, actor, calledBy, id, input: { worker, lease } });
  };

  /** Claims these jobs, at once. `faults`: why some of them could not be claimed. */
  const claimAll = async (waiting: readonly WaitingJob[], actor: Actor, wanted: WantedJobs) => {
    const outcomes = await Promise.allSettled(
      waiting.map(async ({ id }) => ((await isGone(id)) ? undefined : claimOne(id, actor, wanted))),
    );
    const jobs: ClaimedJob[] = [];
    const faults: unknown[] = [];
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') {
        queue.giveBack();
        // A stream that cannot be used stays so: its job would keep all others waiting.
        if (isUnusable(outcome.reason)) continue;
        look(waiting[i]?.id ?? '');
        faults.push(outcome.reason);
        continue;
      }
      // Without a change somebody else has it: an event will tell when it waits again.
      const claimed = outcome.value?.changed ? claimedIn(outcome.value) : undefined;
      if (claimed) jobs.push(claimed);
      else queue.giveBack();
    }
    return { jobs, faults };
  };

  /** The jobs that wait now, else the next one that comes before the signal aborts. */
  const nextJobs = async (wish: Wish, most: number, signal: AbortSignal): Promise<readonly WaitingJob[]> => {
    const first = await queue.next(wish, signal);
    const jobs = first ? [first] : [];
    while (jobs.length > 0 && jobs.length < most) {
      const job = queue.take(wish);
      if (!job) break;
      jobs.push(job);
    }
    return jobs;
  };

  const giveBack = async (jobs: readonly ClaimedJob[], { about: { idempotency: _, ...about } }: WantedJobs) => {
    const outcomes = await Promise.allSettled(
      jobs.map(({ doc }) => handle(releaseJob, { ...about, id: doc._id, input: { claim: doc.claim.claim } })),
    );
    for (const outcome of outcomes)
      if (outcome.status === 'rejected' && !isGivenBack(outcome.reason)) throw outcome.reason;
  };

  /** What a request with this Idempotency-Key has got; undefined if the account may not see the job any more. */
  const replayOf = async (id: string, wanted: WantedJobs) => {
    try {
      const replay = await claimOne(id, wanted.about.actor, wanted);
      const [event] = await events(`${job.category}-${id}`, replay.revision, replay.revision);
      return { claimed: claimedIn(replay), request: event?.metadata.requestId };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  /** What the request that was the first in the log with this Idempotency-Key has got. */
  const gotByFirst = async (key: string, wanted: WantedJobs): Promise<readonly ClaimedJob[]> => {
    const ids = await retries.all(job, noteOf(key), key);
    const claims = await Promise.all(ids.map((id) => replayOf(id, wanted)));
    const inOrder = claims
      .filter((one) => one !== undefined)
      .sort((a, b) => (a.claimed?.position ?? 0) - (b.claimed?.position ?? 0));
    return inOrder.flatMap(({ claimed, request }) => (claimed && request === inOrder[0]?.request ? claimed : []));
  };

  const isHeld = async ({ doc }: ClaimedJob): Promise<boolean> => {
    const state = await tools.state(job, doc._id);
    return !hasEnded(state) && state.claims.held?.claim === doc.claim.claim;
  };

  /** What an earlier request with this Idempotency-Key got, as far as it is still held. */
  const gotBefore = async (key: string, wanted: WantedJobs): Promise<ClaimedJobs | undefined> => {
    const claimed = await gotByFirst(key, wanted);
    if (claimed.length === 0) return undefined;
    const held = await Promise.all(claimed.map(isHeld));
    const jobs = claimed.filter((_, i) => held[i]);
    if (jobs.length > 0) return { jobs, replayed: true };
    throw new RequestError('conflict', 'What this Idempotency-Key has claimed is not held any more', {
      path: 'Idempotency-Key',
    });
  };

  /**
   * Gives the jobs back if another request with the same key was earlier in the log, and answers what that one got. Two
   * nodes may get the same key at the same time. Each notes a job under the key before it claims it, so the later one
   * finds the earlier one here.
   */
  const unlessLater = async (key: string, jobs: readonly ClaimedJob[], wanted: WantedJobs): Promise<ClaimedJobs> => {
    const [first] = await gotByFirst(key, wanted);
    const isFirst = ({ doc }: ClaimedJob) => doc._id === first?.doc._id && doc.claim.claim === first.doc.claim.claim;
    if (first === undefined || jobs.some(isFirst)) return { jobs, replayed: false };
    await giveBack(jobs, wanted);
    return (await gotBefore(key, wanted)) ?? { jobs: [], replayed: false };
  };

  const claim = async (wanted: WantedJobs, signal: AbortSignal): Promise<readonly ClaimedJob[]> => {
    const components = new Set(wanted.components);
    let actor = wanted.about.actor;
    const jobs: ClaimedJob[] = [];
    while (jobs.length < wanted.max) {
      const wish = { components, may: (guard: string | undefined) => mayRead(actor, guard) };
      const most = wanted.max - jobs.length;
      const waiting = await nextJobs(wish, most, jobs.length > 0 ? noWait : signal);
      if (waiting.length === 0) break;
      try {
        actor = await wanted.actorNow();
      } catch (error) {
        for (const { id } of waiting) {
          queue.giveBack();
          look(id);
        }
        // What it got while it had the right is its own.
        if (jobs.length > 0) break;
        throw error;
      }
      const claimed = await claimAll(waiting, actor, wanted);
      jobs.push(...claimed.jobs);
      const fault = claimed.faults.find((error) => !isMissing(error));
      if (jobs.length === 0 && fault !== undefined) throw fault;
      if (claimed.faults.length > 0) break;
    }
    return jobs;
  };

  /**
   * Gives out jobs: those that wait now, else the next one that comes before `waiting` aborts. None is given to a worker
   * that has gone.
   */
  return async (wanted: WantedJobs, waiting: AbortSignal, gone: AbortSignal): Promise<ClaimedJobs> => {
    const key = wanted.about.idempotency?.key;
    const before = key === undefined ? undefined : await gotBefore(key, wanted);
    if (before) return before;
    const jobs = await claim(wanted, waiting);
    const got =
      key === undefined || jobs.length === 0 ? { jobs, replayed: false } : await unlessLater(key, jobs, wanted);
    if (got.replayed || !gone.aborted) return got;
    await giveBack(got.jobs, wanted);
    return { jobs: [], replayed: false };
  };
};

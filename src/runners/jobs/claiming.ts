import { hash } from 'node:crypto';
import type { Tools } from '../../commands/engine/define.ts';
import type { CommandResult } from '../../commands/engine/handle.ts';
import type { Request } from '../../commands/engine/requests.ts';
import type { Retries } from '../../commands/engine/retries.ts';
import type { Streams } from '../../commands/engine/streams.ts';
import type { Claimed, Claims, Wanted } from '../../commands/operations-manager/jobClaims.ts';
import type { Actor } from '../../domain/engine/core.ts';
import { RequestError } from '../../domain/engine/requestError.ts';
import { type JobState, job } from '../../domain/operations-manager/jobs.ts';
import { isUnusable } from '../../store/tampered.ts';
import type { JobQueue } from './jobQueue.ts';
import type { WaitingJob, Wish } from './waitingJobs.ts';

/** A request for one job or task. */
type ClaimRequest = Omit<Request, 'id' | 'input'> & Pick<Wanted, 'worker' | 'lease'>;

/** One kind of work that workers claim: whole jobs, or tasks of jobs that run workflows. */
export type Claimable<C extends Claimed> = {
  /** The job whose stream decides about the work with this id. */
  readonly jobOf: (id: string) => string;
  /** Claims the work with this id. The id of a job is enough for a request that is sent again. */
  readonly claim: (id: string, request: ClaimRequest) => Promise<CommandResult>;
  /** The work as a claim has left it; undefined if nobody holds it. */
  readonly claimed: (result: CommandResult) => Promise<C | undefined>;
  readonly release: (one: C, about: Omit<Request, 'id' | 'input'>) => Promise<unknown>;
  /** True if the claim is still held in this state of the job. */
  readonly isHeld: (one: C, state: JobState) => boolean;
};

export type Claiming<C extends Claimed> = {
  readonly kind: Claimable<C>;
  readonly tools: Pick<Tools, 'state'>;
  readonly events: Streams['events'];
  readonly retries: Pick<Retries, 'all'>;
  readonly queue: Pick<JobQueue, 'take' | 'next' | 'giveBack'>;
  /** True if an account may read documents with this guard. */
  readonly mayRead: (actor: Actor, guard: string | undefined) => boolean;
  /** Looks whether the job still waits. */
  readonly look: (id: string) => void;
  /** True if something that the job needs is gone. Then it has ended. */
  readonly isGone: (id: string) => Promise<boolean>;
};

/** The name under which the jobs of a request with an Idempotency-Key are noted, so that a retry finds them. */
const noteOf = (key: string): string => `claim ${hash('sha256', key, 'hex')}`;

const noWait = AbortSignal.abort();

const isMissing = (error: unknown): boolean => error instanceof RequestError && error.code === 'not_found';

/** True if there is nothing to give back: the job has ended, its claim has lapsed, or the account may not see it now. */
const isGivenBack = (error: unknown): boolean =>
  isMissing(error) || (error instanceof RequestError && error.code === 'conflict');

/** Claims work that waits, and says what became of it. */
const claimer = <C extends Claimed>({ kind, queue, look, isGone }: Claiming<C>) => {
  const claimOne = async (id: string, actor: Actor, { about, worker, lease }: Wanted) => {
    const key = about.idempotency?.key;
    const calledBy = key === undefined ? undefined : { name: noteOf(key) };
    return kind.claim(id, { ...about, actor, calledBy, worker, lease });
  };

  /** With an Idempotency-Key a job's stream gives out one task to a request: the key names what it has got. */
  const oneOfEachJob = (waiting: readonly WaitingJob[], { about }: Wanted) => {
    if (!about.idempotency) return waiting;
    const first = new Map(waiting.toReversed().map((one) => [kind.jobOf(one.id), one]));
    return waiting.filter((one) => first.get(kind.jobOf(one.id)) === one);
  };

  /** Claims these jobs, at once. `faults`: why some of them could not be claimed. */
  const claimAll = async (found: readonly WaitingJob[], actor: Actor, wish: Wanted) => {
    const waiting = oneOfEachJob(found, wish);
    for (const one of found)
      if (!waiting.includes(one)) {
        queue.giveBack();
        look(one.id);
      }
    const outcomes = await Promise.allSettled(
      waiting.map(async ({ id }) => {
        if (await isGone(id)) return undefined;
        const result = await claimOne(id, actor, wish);
        return result.changed ? kind.claimed(result) : undefined;
      }),
    );
    const jobs: C[] = [];
    const faults: unknown[] = [];
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === 'rejected') {
        queue.giveBack();
        // A stream that cannot be used stays so: its job would keep all other jobs waiting.
        if (isUnusable(outcome.reason)) continue;
        look(waiting[i]?.id ?? '');
        faults.push(outcome.reason);
        continue;
      }
      // Without a change another has it: an event will tell when it waits again.
      const claimed = outcome.value;
      if (claimed) jobs.push(claimed);
      else queue.giveBack();
      // The same request has got another task of the job before.
      if (claimed && claimed.id !== waiting[i]?.id) look(waiting[i]?.id ?? '');
    }
    return { jobs, faults, isWhole: waiting.length === found.length };
  };

  return { claimOne, claimAll };
};

/** Gives out jobs or tasks. Each is decided by the stream of its job, so that of two nodes one gives it out. */
export const claiming = <C extends Claimed>(needs: Claiming<C>) => {
  const { kind, tools, events, retries, queue, mayRead, look } = needs;
  const { claimOne, claimAll } = claimer(needs);

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

  const giveBack = async (jobs: readonly C[], { about: { idempotency: _, ...about } }: Wanted) => {
    const outcomes = await Promise.allSettled(jobs.map((one) => kind.release(one, about)));
    for (const outcome of outcomes)
      if (outcome.status === 'rejected' && !isGivenBack(outcome.reason)) throw outcome.reason;
  };

  /** The jobs that a request with this Idempotency-Key has got; undefined if the account may not see the job any more. */
  const replayOf = async (id: string, wish: Wanted) => {
    try {
      const replay = await claimOne(id, wish.about.actor, wish);
      const [event] = await events(`${job.category}-${id}`, replay.revision, replay.revision);
      return { claimed: await kind.claimed(replay), request: event?.metadata.requestId };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };

  /** The jobs that the request which was the first in the log with this Idempotency-Key has got. */
  const gotByFirst = async (key: string, wish: Wanted): Promise<readonly C[]> => {
    const ids = await retries.all(job, noteOf(key), key);
    const claims = await Promise.all(ids.map((id) => replayOf(id, wish)));
    const inOrder = claims
      .filter((one) => one !== undefined)
      .sort((a, b) => (a.claimed?.position ?? 0) - (b.claimed?.position ?? 0));
    return inOrder.flatMap(({ claimed, request }) => (claimed && request === inOrder[0]?.request ? claimed : []));
  };

  const isHeld = async (one: C): Promise<boolean> => kind.isHeld(one, await tools.state(job, kind.jobOf(one.id)));

  /** The jobs that an earlier request with this Idempotency-Key got, as far as they are still held. */
  const gotBefore = async (key: string, wish: Wanted): Promise<Claims<C> | undefined> => {
    const claimed = await gotByFirst(key, wish);
    if (claimed.length === 0) return undefined;
    const claimChecks = await Promise.all(claimed.map(isHeld));
    const jobs = claimed.filter((_, i) => claimChecks[i]);
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
  const unlessLater = async (key: string, jobs: readonly C[], request: Wanted): Promise<Claims<C>> => {
    const [first] = await gotByFirst(key, request);
    const isFirst = ({ id, claim }: C) => id === first?.id && claim === first.claim;
    if (first === undefined || jobs.some(isFirst)) return { jobs, replayed: false };
    await giveBack(jobs, request);
    return (await gotBefore(key, request)) ?? { jobs: [], replayed: false };
  };

  const claim = async (request: Wanted, signal: AbortSignal): Promise<readonly C[]> => {
    const components = new Set(request.components);
    const adapters = request.adapters && new Set(request.adapters);
    let actor = request.about.actor;
    const jobs: C[] = [];
    while (jobs.length < request.max) {
      const wish = { components, adapters, may: (guard: string | undefined) => mayRead(actor, guard) };
      const most = request.max - jobs.length;
      const waiting = await nextJobs(wish, most, jobs.length > 0 ? noWait : signal);
      if (waiting.length === 0) break;
      try {
        actor = await request.actorNow();
      } catch (error) {
        for (const { id } of waiting) {
          queue.giveBack();
          look(id);
        }
        // The jobs that it got while it had the right are its own.
        if (jobs.length > 0) break;
        throw error;
      }
      const claimed = await claimAll(waiting, actor, request);
      jobs.push(...claimed.jobs);
      const fault = claimed.faults.find((error) => !isMissing(error));
      if (jobs.length === 0 && fault !== undefined) throw fault;
      if (claimed.faults.length > 0 || !claimed.isWhole) break;
    }
    return jobs;
  };

  /**
   * Gives out jobs: those that wait now, else the next one that comes before `waiting` aborts. None is given to a worker
   * that has gone.
   */
  return async (request: Wanted, waiting: AbortSignal, leaving: AbortSignal): Promise<Claims<C>> => {
    const key = request.about.idempotency?.key;
    const before = key === undefined ? undefined : await gotBefore(key, request);
    if (before) return before;
    const jobs = await claim(request, waiting);
    const got =
      key === undefined || jobs.length === 0 ? { jobs, replayed: false } : await unlessLater(key, jobs, request);
    if (got.replayed || !leaving.aborted) return got;
    await giveBack(got.jobs, request);
    return { jobs: [], replayed: false };
  };
};

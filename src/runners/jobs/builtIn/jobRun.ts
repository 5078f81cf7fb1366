import { EventEmitter, once } from 'node:events';
import type { Handle } from '../../../commands/engine/handle.ts';
import { requestFor } from '../../../commands/engine/reactions.ts';
import { type ClaimedJob, heartbeatJob, releaseJob } from '../../../commands/operations-manager/jobClaims.ts';
import { completeJob, failJob } from '../../../commands/operations-manager/jobs.ts';
import type { Log } from '../../../concurrency/log.ts';
import { insist, persist } from '../../../concurrency/supervise.ts';
import { type Actor, platform } from '../../../domain/engine/core.ts';
import { RequestError } from '../../../domain/engine/requestError.ts';
import { unknownOutcome } from '../../../domain/operations-manager/builtIn.ts';
import type { JobStarted, Variables } from '../../../domain/operations-manager/jobs.ts';
import type { Recorded } from '../../../store/event.ts';
import { isUnusable } from '../../../store/tampered.ts';
import { type Component, RunEnded } from './run.ts';

type Needs = {
  readonly handle: Handle;
  /** The account whose rights count, as of now. Throws `RunEnded` if it has lost them, or if what the job needs is gone. */
  readonly actorOf: (job: Pick<JobStarted, 'automation' | 'component'>, account: string) => Promise<Actor>;
  /** Aborts when the service ends: reports are not tried again. */
  readonly stopping: AbortSignal;
  readonly lookEveryMs?: number;
  readonly log: Log;
};

/** A job that this node has claimed. */
export type Claimed = {
  readonly doc: ClaimedJob['doc'];
  readonly started: Recorded<JobStarted>;
  readonly component: Component;
};

/** For how long a job is claimed at a time, in seconds. */
export const lease = 30;

const beatMs = (lease * 1000) / 3;
/** How often a run that waits looks whether it may go on. */
const usualLookMs = 3000;
const mostTries = 6;

type Outcome = { readonly variables: Variables } | { readonly error: string };

const isConflict = (error: unknown): boolean => error instanceof RequestError && error.code === 'conflict';

/** Whether the reason of a failure will be over soon: too much waits, or a store does not answer. */
const isPassing = (error: unknown): boolean =>
  error instanceof RequestError && (error.code === 'limited' || error.code === 'unavailable') && !isUnusable(error);

const patience = { pauseMs: 200, longestPauseMs: 2000 };

/** Runs a job that this node has claimed, keeps its claim, and reports what came of it. */
export const jobRun = (needs: Needs, { doc, started, component }: Claimed) => {
  const { handle, actorOf, stopping, lookEveryMs = usualLookMs, log } = needs;
  const {
    _id: id,
    claim: { claim },
  } = doc;
  const aborting = new AbortController();
  const { signal } = aborting;
  const moves = new EventEmitter();
  let isPaused = false;
  let hasActed = false;

  const asPlatform = { actor: platform, requestId: started.metadata.requestId, id };

  const beat = async (): Promise<void> => {
    try {
      await handle(heartbeatJob, { ...asPlatform, operation: heartbeatJob.name, input: { claim } });
    } catch (error) {
      // The claim is somebody else's now, or the job has ended.
      if (isConflict(error)) aborting.abort(error);
      else log('The claim on a job could not be extended; it is tried again', { job: id, error });
    }
  };

  /** The account, once it can be read. */
  const actorNow = (): Promise<Actor> =>
    persist(() => actorOf(started.data, started.metadata.actor.id), {
      signal,
      ...patience,
      onFailure: (error) => {
        if (!isPassing(error)) throw error;
      },
    });

  const step = async (): Promise<Actor> => {
    for (;;) {
      signal.throwIfAborted();
      const actor = await actorNow();
      // It may have been paused or broken off meanwhile.
      signal.throwIfAborted();
      if (!isPaused) return actor;
      await once(moves, 'look', { signal });
    }
  };

  /** Ends the wait of a run whose account has lost its rights, or for which something that it needs is gone. */
  const look = async (): Promise<void> => {
    moves.emit('look');
    // A command that was sent comes to its end, and the next step looks.
    if (hasActed) return;
    try {
      await actorOf(started.data, started.metadata.actor.id);
    } catch (error) {
      if (error instanceof RunEnded && !hasActed) aborting.abort(error);
    }
  };

  const acts = (): void => {
    signal.throwIfAborted();
    hasActed = true;
  };

  /** The error that a failure means; undefined if the run is to be tried again. */
  const errorIn = (failure: unknown, tries: number): string | undefined => {
    if (failure instanceof RunEnded) return failure.message;
    if (failure instanceof RequestError && !isPassing(failure)) return failure.message;
    if (hasActed) return unknownOutcome;
    return isPassing(failure) || tries < mostTries ? undefined : 'The service could not run it; its log says why';
  };

  const attempt = async (tries: number): Promise<Outcome> => {
    try {
      const variables = await component({ doc, started, signal, step, acts });
      await step();
      return { variables };
    } catch (thrown) {
      const isRefused = signal.reason instanceof RunEnded;
      if (!isRefused) signal.throwIfAborted();
      const failure = isRefused ? signal.reason : thrown;
      const error = errorIn(failure, tries);
      if (!(failure instanceof RequestError || failure instanceof RunEnded))
        log('A job could not be run here', { job: id, error: failure });
      if (error === undefined) throw failure;
      return { error };
    }
  };

  const outcome = (): Promise<Outcome> => {
    let tries = 0;
    return persist(() => attempt(++tries), { signal, ...patience });
  };

  const report = async (reported: Outcome): Promise<void> => {
    const about = { ...requestFor(started), id };
    try {
      if ('error' in reported) await handle(failJob, { ...about, input: { ...reported, claim } });
      else await handle(completeJob, { ...about, input: { ...reported, claim } });
    } catch (error) {
      if (isConflict(error)) return;
      // Variables that cannot be stored.
      if (!(error instanceof RequestError) || isPassing(error) || 'error' in reported) throw error;
      await report({ error: error.message });
    }
  };

  const reportAtLast = async (reported: Outcome): Promise<void> => {
    const onFailure = (error: unknown): void => log('A job could not be ended; it is tried again', { job: id, error });
    await insist(() => report(reported), { signal: stopping, ...patience, onFailure }).catch(onFailure);
  };

  /** Gives the job back, for the next start or another node. */
  const giveBack = async (): Promise<void> => {
    try {
      await handle(releaseJob, { ...asPlatform, operation: releaseJob.name, input: { claim } });
    } catch (error) {
      if (!isConflict(error)) log('A job could not be given back; its claim will lapse', { job: id, error });
    }
  };

  return {
    claim,
    /** Never rejects. */
    carryOut: async (): Promise<void> => {
      const beating = setInterval(() => void beat(), beatMs);
      const looking = setInterval(() => void look(), lookEveryMs);
      try {
        await reportAtLast(await outcome());
      } catch {
        // It was broken off. A job that has ended meanwhile takes neither.
        if (hasActed) await reportAtLast({ error: unknownOutcome });
        else await giveBack();
      } finally {
        clearInterval(beating);
        clearInterval(looking);
      }
    },
    /** The job has ended, or is somebody else's: what is under way is broken off. */
    breakOff: (): void => {
      aborting.abort();
    },
    /** The service stops. What cannot be done again may come to its end. */
    leave: (): void => {
      if (!hasActed) aborting.abort();
    },
    /** The job was paused or resumed. What can be done again is given back, and done again once it is resumed. */
    setPaused: (paused: boolean): void => {
      isPaused = paused;
      if (!paused) moves.emit('look');
      else if (!hasActed) aborting.abort();
    },
  };
};

export type JobRun = ReturnType<typeof jobRun>;

import { EventEmitter, once } from 'node:events';
import { insist, type Log, persist } from '@automation-platform/concurrency';
import type { Members } from '@automation-platform/json';
import type { Actor } from '../../../domain/engine/core.ts';
import { RequestError } from '../../../domain/engine/requestError.ts';
import { unknownOutcome } from '../../../domain/operations-manager/builtIn.ts';
import type { JobError } from '../../../domain/operations-manager/jobSchemas.ts';
import { isUnusable } from '../../../store/tampered.ts';
import type { ActorOf } from './rights.ts';
import { type Run, RunEnded } from './run.ts';
import { lease, type Work } from './work.ts';

type Needs = {
  /** The account whose rights count, as of now. Throws `RunEnded` if it has lost them, or if what the job needs is gone. */
  readonly actorOf: ActorOf;
  readonly awaits: Run['awaits'];
  /** Aborts when the service ends: reports are not tried again. */
  readonly stopping: AbortSignal;
  readonly lookEveryMs?: number;
  readonly log: Log;
};

const beatMs = (lease * 1000) / 3;
/** How often a run that waits looks whether it may go on. */
const usualLookMs = 3000;
const mostTries = 6;

type Outcome = { readonly outputs: Members } | { readonly error: JobError };

const isConflict = (error: unknown): boolean => error instanceof RequestError && error.code === 'conflict';

/** True if the reason of a failure will be over soon: too much waits, or a store does not answer. */
const isPassing = (error: unknown): boolean =>
  error instanceof RequestError && (error.code === 'limited' || error.code === 'unavailable') && !isUnusable(error);

const patience = { pauseMs: 200, longestPauseMs: 2000 };

/** The error that a failure means; undefined if the run is to be tried again. */
const errorIn = (failure: unknown, hasActed: boolean, tries: number): JobError | undefined => {
  if (failure instanceof RunEnded)
    return failure.more ? { message: failure.message, ...failure.more } : failure.message;
  if (failure instanceof RequestError && !isPassing(failure)) return failure.message;
  if (hasActed) return unknownOutcome;
  return isPassing(failure) || tries < mostTries ? undefined : 'The service could not run it; its log says why';
};

/** Carries out a job or a task that this node has claimed, keeps its claim, and reports what came of it. */
export const jobRun = (needs: Needs, work: Work) => {
  const { actorOf, awaits, stopping, lookEveryMs = usualLookMs, log } = needs;
  const { id, job, key, claim, inputs, started } = work;
  const aborting = new AbortController();
  const { signal } = aborting;
  const moves = new EventEmitter();
  const named = new Set<string>();
  let isPaused = false;
  let hasActed = false;

  const beat = async (): Promise<void> => {
    try {
      await work.heartbeat();
    } catch (error) {
      // Another node has the claim now, or the job has ended.
      if (isConflict(error)) aborting.abort(error);
      else log('The claim on a job could not be extended; it is tried again', { job: id, error });
    }
  };

  /** The account, once it can be read. */
  const actorNow = (): Promise<Actor> =>
    persist(() => actorOf(started.data, started.metadata.actor), {
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
      await actorOf(started.data, started.metadata.actor);
    } catch (error) {
      if (error instanceof RunEnded && !hasActed) aborting.abort(error);
    }
  };

  const acts = (): void => {
    signal.throwIfAborted();
    hasActed = true;
  };

  const attempt = async (tries: number): Promise<Outcome> => {
    try {
      const outputs = await work.operation({
        job,
        key,
        inputs,
        started,
        signal,
        step,
        names: (inventory) => named.add(inventory),
        acts,
        isOver: work.isOver,
        awaits,
      });
      if (!work.endsAtOnce) await step();
      return { outputs };
    } catch (thrown) {
      const isRefused = signal.reason instanceof RunEnded;
      if (!isRefused) signal.throwIfAborted();
      const failure = isRefused ? signal.reason : thrown;
      const error = errorIn(failure, hasActed, tries);
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
    try {
      if (named.size > 0) await work.noteInventories([...named]);
      if ('error' in reported) await work.fail(reported.error);
      else await work.finish(reported.outputs);
    } catch (error) {
      if (isConflict(error)) return;
      // Outputs that cannot be stored.
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
      await work.release();
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
    /** The job has ended, or another node has it: what is under way is broken off. */
    breakOff: (): void => {
      aborting.abort();
    },
    /** The service stops. A run that cannot be repeated may come to its end. */
    leave: (): void => {
      if (!hasActed) aborting.abort();
    },
    /** The job was paused or resumed. A run that can be repeated is given back, and repeated once the job is resumed. */
    setPaused: (paused: boolean): void => {
      isPaused = paused;
      if (!paused) moves.emit('look');
      else if (!hasActed) aborting.abort();
    },
  };
};

export type JobRun = ReturnType<typeof jobRun>;

import { EventEmitter, once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '@automation-platform/concurrency';
import { platform } from '../../../domain/engine/core.ts';
import { isUnusable } from '../../../store/tampered.ts';
import type { JobQueue } from '../jobQueue.ts';
import { builtInJobs, type WaitingJob } from '../waitingJobs.ts';
import { type JobRun, jobRun } from './jobRun.ts';
import type { ActorOf } from './rights.ts';
import type { Run } from './run.ts';
import type { HeldClaim, WorkKind, WorkNow } from './work.ts';

export type BuiltInNeeds = {
  /** The name under which this node claims. No other process that runs has it, but an earlier one of this node had. */
  readonly worker: string;
  /** The kind of the work with an id. */
  readonly kindOf: (id: string) => WorkKind;
  /** The account whose rights count, as of now. Throws `RunEnded` if it has lost them, or if what the job needs is gone. */
  readonly actorOf: ActorOf;
  /** How many jobs run here at once. It may change at any time. */
  readonly atOnce: () => number;
};

type Needs = BuiltInNeeds & {
  readonly queue: Pick<JobQueue, 'next' | 'giveBack'>;
  /** Looks whether the work still waits. */
  readonly look: (id: string) => void;
  /** True if something that the job needs is gone. Then it has ended. */
  readonly isGone: (id: string) => Promise<boolean>;
  readonly log: Log;
};

const wish = { components: new Set([builtInJobs]), may: () => true };
const restMs = 1000;
const mostWaiting = 1000;

/**
 * Runs jobs whose component is the platform's own, and tasks that stand for its operations, as many at once as `atOnce` says. Each node takes
 * what waits; the claim in the job's stream decides which one has it.
 */
export const builtInWork = (needs: Needs) => {
  const { worker, kindOf, actorOf, atOnce, queue, look, isGone, log } = needs;
  const taking = new AbortController();
  const stopping = new AbortController();
  const changes = new EventEmitter();
  const runs = new Map<string, JobRun>();
  // The job of each.
  const underWay = new Map<Promise<void>, string>();
  let turn = Promise.resolve();
  // The runs that wait for work elsewhere, which may need their places.
  let waiting = 0;

  const awaits: Run['awaits'] = async (end) => {
    waiting++;
    changes.emit('changed');
    try {
      return await end;
    } finally {
      waiting--;
    }
  };

  const claim = async (id: string): Promise<JobRun | undefined> => {
    if (await isGone(id)) return undefined;
    const work = await kindOf(id).claim(id);
    return work && jobRun({ actorOf, awaits, stopping: stopping.signal, log }, work);
  };

  const carryOut = async ({ id }: WaitingJob): Promise<void> => {
    let run: JobRun | undefined;
    try {
      run = await claim(id);
    } catch (error) {
      log('A job could not be claimed to run here', { job: id, error });
      await pause(restMs, undefined, { signal: taking.signal }).catch(() => undefined);
      // A stream that cannot be used stays so.
      if (!isUnusable(error)) look(id);
    }
    if (!run) {
      queue.giveBack();
      return;
    }
    runs.set(id, run);
    // It may have ended, or the service may stop, since it was claimed.
    look(id);
    if (taking.signal.aborted) run.leave();
    await run.carryOut();
    // It may have been given back and claimed again meanwhile.
    if (runs.get(id) === run) runs.delete(id);
  };

  const begin = (waiting: WaitingJob): void => {
    const work = carryOut(waiting).finally(() => {
      underWay.delete(work);
      changes.emit('changed');
    });
    underWay.set(work, waiting.id);
  };

  /** True if an earlier process of this node has claimed the work: this one does not run it. */
  const isOfFormer = (id: string, { worker: claimer, account }: HeldClaim): boolean =>
    claimer === worker && account === platform.id && ![...underWay.values()].includes(id);

  /** Releases a claim of an earlier process of this node. */
  const releaseFormer = async (id: string, claim: HeldClaim): Promise<void> => {
    try {
      await kindOf(id).releaseFormer(id, claim);
    } catch (error) {
      log('A job of an earlier process could not be given back; its claim will lapse', { job: id, error });
    }
  };

  const isFull = (): boolean => underWay.size - Math.min(waiting, mostWaiting) >= atOnce();

  const takeAll = async ({ signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      if (isFull()) {
        await once(changes, 'changed', { signal }).catch(() => undefined);
        continue;
      }
      const next = await queue.next(wish, signal);
      if (!next) return;
      if (!isFull()) {
        begin(next);
        continue;
      }
      // There are fewer places than when it began to wait.
      queue.giveBack();
      look(next.id);
    }
  };

  return {
    /** To be called with all work that may have changed, as it is now. */
    seen: ({ id, status, claim }: WorkNow): void => {
      const run = runs.get(id);
      const isOver = status === 'ended';
      if (run && (isOver || (claim !== null && claim.claim > run.claim))) run.breakOff();
      else if (run) run.setPaused(status === 'paused');
      else if (!isOver && claim && isOfFormer(id, claim)) void releaseFormer(id, claim);
    },
    /** The number of places has changed. */
    changed: (): void => void changes.emit('changed'),
    start: (): void => {
      turn = takeAll(taking);
    },
    /** No job begins any more. */
    stopTaking: (): void => taking.abort(),
    /** Gives back what runs, and waits for what cannot be done again. */
    leave: async (): Promise<void> => {
      taking.abort();
      await turn;
      for (const run of runs.values()) run.leave();
      await Promise.all(underWay.keys());
    },
    /** Breaks off what runs. */
    breakOff: (): void => {
      stopping.abort();
      for (const run of runs.values()) run.breakOff();
    },
  };
};

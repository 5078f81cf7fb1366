import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type GuardedClock, type Leadership, type Log, spans } from '@automation-platform/concurrency';
import type { CommandResult, Handle } from '../../commands/engine/handle.ts';
import { endGoneJob, type NeedsOfJob, timeOutJob, type WhyGone } from '../../commands/operations-manager/jobEnds.ts';
import { platform } from '../../domain/engine/core.ts';
import { msOfHours } from '../../domain/operations-manager/jobEnds.ts';
import type { JobDoc } from '../../projections/operations-manager/jobs.ts';
import { inGroups } from './leases.ts';

type Needs = {
  readonly handle: Handle;
  readonly whyGone: WhyGone;
  /** Only the leader looks for jobs that cannot go on. */
  readonly leadership: Leadership;
  readonly clock: Pick<GuardedClock, 'age' | 'monotonic'>;
  /** After how many hours without an event a job ends; 0: never. */
  readonly timeoutHours: number;
  readonly lookEveryMs: number;
  readonly log: Log;
};

/** The jobs that need the same. `queued`: those that nobody works on. */
type Alike = {
  readonly needs: NeedsOfJob;
  readonly jobs: Set<string>;
  readonly queued: Set<string>;
  /** Something that they need could not be read when it was looked at last. */
  isUnread: boolean;
};

const about = (operation: string) => ({ actor: platform, operation, requestId: randomUUID() });

/**
 * Ends jobs that cannot go on, because something that they need is gone, or because nothing was heard of them for too
 * long. The job's own stream decides, so that each ends once.
 */
export const jobEnds = ({ handle, whyGone, leadership, clock, timeoutHours, lookEveryMs, log }: Needs) => {
  // Jobs share automations, components and accounts, so few of them are looked at.
  const alike = new Map<string, Alike>();
  const byJob = new Map<string, Alike>();
  const silences = spans(clock);
  /** When the last event of each job happened. */
  const lastEvents = new Map<string, string>();
  const stop = new AbortController();
  let lastWork = Promise.resolve();

  const forgetSilence = (id: string): void => {
    silences.remove(id);
    lastEvents.delete(id);
  };

  const remove = (id: string): void => {
    forgetSilence(id);
    const alikeJobs = byJob.get(id);
    if (!alikeJobs) return;
    byJob.delete(id);
    alikeJobs.jobs.delete(id);
    alikeJobs.queued.delete(id);
    if (alikeJobs.jobs.size === 0) alike.delete(keyOf(alikeJobs.needs));
  };

  const alikeOf = ({ automation, component, workflow, created_by }: JobDoc): Alike => {
    const needs = { automation, component, workflow, created_by };
    const key = keyOf(needs);
    const alikeJobs = alike.get(key) ?? { needs, jobs: new Set(), queued: new Set(), isUnread: false };
    alike.set(key, alikeJobs);
    return alikeJobs;
  };

  const endQueued = async (id: string, reason: string): Promise<void> => {
    if (stop.signal.aborted) return;
    try {
      await handle(endGoneJob, { ...about(endGoneJob.name), id, input: { reason, claim: null } });
    } catch (error) {
      log('A job that cannot go on could not be ended; it is tried again', { job: id, error });
    }
  };

  const endSilent = async (id: string): Promise<void> => {
    const lastEvent = lastEvents.get(id);
    if (lastEvent === undefined || stop.signal.aborted) return;
    // If it cannot be ended now, it is looked at again. If it ends, it is removed.
    silences.begin(id, lookEveryMs);
    try {
      await handle(timeOutJob, { ...about(timeOutJob.name), id, input: { hours: timeoutHours, lastEvent } });
    } catch (error) {
      log('A job of which nothing is heard could not be ended; it is tried again', { job: id, error });
    }
  };

  /** Why these cannot go on; undefined if they can, or if that cannot be found out now. */
  const reasonFor = async (group: Alike): Promise<string | undefined> => {
    try {
      const reason = await whyGone(group.needs);
      group.isUnread = false;
      return reason;
    } catch (error) {
      if (!group.isUnread) log('What jobs need cannot be read; it is tried again', { ...group.needs, error });
      group.isUnread = true;
      return undefined;
    }
  };

  const lookForGone = async (): Promise<void> => {
    for (const group of [...alike.values()]) {
      const { queued } = group;
      if (queued.size === 0 || stop.signal.aborted) continue;
      const reason = await reasonFor(group);
      if (reason !== undefined) await inGroups([...queued], (id) => endQueued(id, reason));
    }
  };

  const look = async (): Promise<void> => {
    await inGroups(silences.take(), endSilent);
    await lookForGone();
  };

  const watch = async (loaded: Promise<void>): Promise<void> => {
    await loaded;
    while (!stop.signal.aborted) {
      if (leadership.held())
        await look().catch((error: unknown) => log('Jobs could not be looked at; it is tried again', { error }));
      await pause(lookEveryMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  };

  const countSilence = (id: string, last: string): void => {
    if (timeoutHours === 0 || lastEvents.get(id) === last) return;
    lastEvents.set(id, last);
    silences.resume(id, { since: Date.parse(last), ms: msOfHours(timeoutHours) });
  };

  return {
    /** The job has not ended. `isWorkedOn`: a worker has it. `isQuiet`: nothing need be heard of it. */
    set: (doc: JobDoc, isWorkedOn = doc.claim !== null, isQuiet = false): void => {
      const { _id: id, status, last_updated: last } = doc;
      const alikeJobs = byJob.get(id) ?? alikeOf(doc);
      byJob.set(id, alikeJobs);
      alikeJobs.jobs.add(id);
      if (status === 'running' && !isWorkedOn) alikeJobs.queued.add(id);
      else alikeJobs.queued.delete(id);
      if (isQuiet) forgetSilence(id);
      else countSilence(id, last);
    },
    /** The job has ended. */
    remove,
    /**
     * Ends the job if something that it needs is gone. `claim`: whose step this is; null: nobody works on it. Undefined:
     * it goes on, also when what it needs cannot be read.
     */
    endIfGone: async (id: string, claim: number | null): Promise<CommandResult | undefined> => {
      const group = byJob.get(id);
      const reason = group && (await reasonFor(group));
      if (reason === undefined) return undefined;
      return handle(endGoneJob, { ...about(endGoneJob.name), id, input: { reason, claim } });
    },
    /** Begins once the jobs that have not ended are known. */
    start: (loaded: Promise<void>): void => {
      lastWork = watch(loaded);
    },
    stop: async (): Promise<void> => {
      stop.abort();
      await lastWork;
    },
  };
};

const keyOf = ({ automation, component: { type, name }, created_by }: NeedsOfJob): string =>
  JSON.stringify([automation, type, name, created_by]);

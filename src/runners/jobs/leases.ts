import { setTimeout as pause } from 'node:timers/promises';
import { type GuardedClock, type Leadership, type Log, spans } from '@automation-platform/concurrency';
import { longestLease } from '../../domain/operations-manager/jobClaims.ts';

/** A time that an event has set: of a claim, its number and end. */
export type Held = { readonly claim: number; readonly until: number };

export type LeasesNeeds = {
  /** Does what is to be done once the time is up. The job's own stream decides, so that it is done once. */
  readonly lapse: (id: string, lease: Held) => Promise<unknown>;
  /** The longest time that a clock which is right can have set. */
  readonly longestMs?: number;
  /** Only the leader looks for times that are up. */
  readonly leadership: Leadership;
  readonly clock: Pick<GuardedClock, 'age' | 'monotonic'>;
  readonly lookEveryMs: number;
  readonly log: Log;
};

/**
 * Releases claims whose time is up, while this process leads. Two may lead for a moment; the job's own stream decides, so
 * that a claim is released once.
 */
export const leases = ({
  lapse,
  longestMs = longestLease * 1000,
  leadership,
  clock,
  lookEveryMs,
  log,
}: LeasesNeeds) => {
  const leases = spans(clock);
  const claims = new Map<string, Held>();
  const stop = new AbortController();
  let lastWork = Promise.resolve();

  const release = async (id: string): Promise<void> => {
    const currentClaim = claims.get(id);
    if (currentClaim === undefined || stop.signal.aborted) return;
    // If it is not released now, it is looked at again. If it is, it is removed.
    leases.begin(id, lookEveryMs);
    try {
      await lapse(id, currentClaim);
    } catch (error) {
      log('A claim could not be released; it is tried again', { job: id, error });
    }
  };

  const watch = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      if (leadership.held()) await inGroups(leases.take(), release);
      await pause(lookEveryMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  };

  return {
    /** The job is claimed. */
    set: (id: string, { claim, until }: Held): void => {
      const currentClaim = claims.get(id);
      if (currentClaim?.claim === claim && currentClaim.until === until) return;
      claims.set(id, { claim, until });
      leases.resume(id, { since: until - longestMs, ms: longestMs });
    },
    /** Nobody holds the job. */
    remove: (id: string): void => {
      claims.delete(id);
      leases.remove(id);
    },
    start: (): void => {
      lastWork = watch();
    },
    stop: async (): Promise<void> => {
      stop.abort();
      await lastWork;
    },
  };
};

const atOnce = 100;

/** Works on the items, 100 at a time: the next ones once these are done. Their appends share writes to the disk. */
export const inGroups = async <T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> => {
  for (let from = 0; from < items.length; from += atOnce) await Promise.all(items.slice(from, from + atOnce).map(work));
};

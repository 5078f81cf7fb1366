import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Handle } from '../../commands/engine/handle.ts';
import { lapseClaim } from '../../commands/operations-manager/jobClaims.ts';
import type { GuardedClock } from '../../concurrency/guardedClock.ts';
import { inGroups } from '../../concurrency/inGroups.ts';
import type { Leadership } from '../../concurrency/leadership.ts';
import type { Log } from '../../concurrency/log.ts';
import { spans } from '../../concurrency/spans.ts';
import { platform } from '../../domain/engine/core.ts';
import type { Claim } from '../../domain/operations-manager/claims.ts';
import { longestLease } from '../../domain/operations-manager/jobClaims.ts';

type Needs = {
  readonly handle: Handle;
  /** Only the leader looks for claims whose time is up. */
  readonly leadership: Leadership;
  readonly clock: Pick<GuardedClock, 'age' | 'monotonic'>;
  readonly lookEveryMs: number;
  readonly log: Log;
};

/** An end that is further away was given by a clock that was wrong. */
const longestMs = longestLease * 1000;

type Held = Pick<Claim, 'claim' | 'until'>;

/**
 * Releases claims whose time is up, while this process leads. Two may lead for a moment; the job's own stream decides, so
 * that a claim is released once.
 */
export const leases = ({ handle, leadership, clock, lookEveryMs, log }: Needs) => {
  const leases = spans(clock);
  const claims = new Map<string, Held>();
  const stop = new AbortController();
  let done = Promise.resolve();

  const release = async (id: string): Promise<void> => {
    const held = claims.get(id);
    if (held === undefined || stop.signal.aborted) return;
    // If it is not released now, it is looked at again. If it is, it is removed.
    leases.begin(id, lookEveryMs);
    const request = { actor: platform, operation: lapseClaim.name, requestId: randomUUID() };
    try {
      await handle(lapseClaim, { ...request, id, input: { claim: held.claim, until: held.until } });
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
      const known = claims.get(id);
      if (known?.claim === claim && known.until === until) return;
      claims.set(id, { claim, until });
      leases.resume(id, { since: until - longestMs, ms: longestMs });
    },
    /** Nobody holds the job. */
    remove: (id: string): void => {
      claims.delete(id);
      leases.remove(id);
    },
    start: (): void => {
      done = watch();
    },
    stop: async (): Promise<void> => {
      stop.abort();
      await done;
    },
  };
};

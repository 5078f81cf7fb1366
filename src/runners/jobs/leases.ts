import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Handle } from '../../commands/engine/handle.ts';
import { lapseClaim } from '../../commands/operations-manager/jobClaims.ts';
import { dueQueue } from '../../concurrency/dueQueue.ts';
import { inGroups } from '../../concurrency/inGroups.ts';
import { platform } from '../../domain/engine/core.ts';
import type { Leadership } from '../../projections/engine/leadership.ts';

type Needs = {
  readonly handle: Handle;
  /** Only the leader looks for claims whose time is up. */
  readonly leadership: Leadership;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly lookEveryMs: number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/**
 * Releases claims whose time is up, while this process leads. Two may lead for a moment; the job's own stream decides, so
 * that a claim is released once.
 */
export const leases = ({ handle, leadership, now, lookEveryMs, log }: Needs) => {
  const ends = dueQueue();
  const claims = new Map<string, number>();
  const stop = new AbortController();
  let done = Promise.resolve();

  const release = async ({ id }: { readonly id: string }): Promise<void> => {
    const claim = claims.get(id);
    if (claim === undefined || stop.signal.aborted) return;
    // If it is not released now, it is looked at again. If it is, it is removed.
    ends.set(id, now() + lookEveryMs);
    const request = { actor: platform, operation: lapseClaim.name, requestId: randomUUID() };
    try {
      await handle(lapseClaim, { ...request, id, input: { claim } });
    } catch (error) {
      log('A claim could not be released; it is tried again', { job: id, error });
    }
  };

  const watch = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      if (leadership.held()) await inGroups(ends.take(now()), release);
      await pause(lookEveryMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
  };

  return {
    /** The job is claimed, until then. */
    set: (id: string, { claim, until }: { readonly claim: number; readonly until: number }): void => {
      claims.set(id, claim);
      ends.set(id, until);
    },
    /** Nobody holds the job. */
    remove: (id: string): void => {
      claims.delete(id);
      ends.remove(id);
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

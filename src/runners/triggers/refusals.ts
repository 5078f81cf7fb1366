import { setTimeout as pause } from 'node:timers/promises';
import type { Refusal } from './firing.ts';

/** What a run follows from: an event, and for a schedule the instant that it names. */
type Cause = { readonly event: string; readonly instant?: number };

/** Refusals of one reason that are stored together, with the cause of the last one. */
export type Refused = Refusal & Cause & { readonly count: number };

type Needs = {
  /** Stores the refusals, after those that were stored last. Tries until it succeeds, or the signal aborts. */
  readonly store: (refused: Refused) => Promise<void>;
  readonly signal: AbortSignal;
};

type Gathering = Refusal & { count: number; cause: Cause; readonly stored: Promise<void> };

const gatherMs = 1000;

/**
 * Gathers the refusals of one trigger: one append a second at most. They are stored in the order of their events. So
 * whoever finds a refusal in the log knows that this trigger has settled all events up to the one that it names.
 */
export const refusals = ({ store, signal }: Needs) => {
  let gathering: Gathering | undefined;
  let last = Promise.resolve();

  const gather = async (): Promise<void> => {
    await pause(gatherMs, undefined, { signal });
    const gathered = gathering;
    gathering = undefined;
    if (!gathered) return;
    const { reason, message, count, cause } = gathered;
    await store({ reason, message, count, ...cause });
  };

  return {
    /** Whether refusals wait to be stored. */
    waiting: (): boolean => gathering !== undefined,
    /** Resolves once all refusals so far are stored. */
    stored: (): Promise<void> => last,
    /**
     * Adds a refusal. Resolves once it will be stored with those before it; `stored` is told then. A refusal of another
     * reason waits for the ones before.
     */
    add: async ({ reason, message }: Refusal, cause: Cause): Promise<{ readonly stored: Promise<void> }> => {
      while (gathering && gathering.reason !== reason) await last;
      if (!gathering) {
        // One after the other: the second before the first would hide what the first has to tell.
        last = last.then(gather);
        last.catch(() => undefined);
        gathering = { reason, message, count: 0, cause, stored: last };
      }
      gathering.count++;
      gathering.cause = cause;
      return { stored: gathering.stored };
    },
  };
};

export type Refusals = ReturnType<typeof refusals>;

import { setTimeout as pause } from 'node:timers/promises';
import type { Refusal } from './firing.ts';

/** Refusals of one reason that are stored together. `event` is the last one. */
export type Refused = Refusal & { readonly count: number; readonly event: string };

type Needs = {
  /** Stores the refusals, after those that were stored last. Tries until it succeeds, or the signal aborts. */
  readonly store: (refused: Refused) => Promise<void>;
  readonly signal: AbortSignal;
};

type Gathering = Refusal & { count: number; event: string; readonly stored: Promise<void> };

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
    const { reason, message, count, event } = gathered;
    await store({ reason, message, count, event });
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
    add: async ({ reason, message }: Refusal, event: string): Promise<{ readonly stored: Promise<void> }> => {
      while (gathering && gathering.reason !== reason) await last;
      if (!gathering) {
        // One after the other: the second before the first would hide what the first has to tell.
        last = last.then(gather);
        last.catch(() => undefined);
        gathering = { reason, message, count: 0, event, stored: last };
      }
      gathering.count++;
      gathering.event = event;
      return { stored: gathering.stored };
    },
  };
};

export type Refusals = ReturnType<typeof refusals>;

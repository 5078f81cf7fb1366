import { setTimeout as pause } from 'node:timers/promises';
import { type Log, persist } from '@automation-platform/concurrency';
import { WrongRevision } from '../../store/port.ts';
import type { Refusal } from './firing.ts';

/** The event that a run follows from, and for a schedule the instant that it names. */
type Cause = { readonly event: string; readonly instant?: number };

/** Refusals of one reason that are stored together, with the cause of the last one. */
export type Refused = Refusal & Cause & { readonly count: number };

type Needs = {
  /**
   * Stores refusals of a trigger's runs. `after`: the event of those that are known to be stored last. Throws
   * `WrongRevision` if more were stored since.
   */
  readonly store: (trigger: string, refused: Refused, after: string | undefined) => Promise<void>;
  /** The event of the last refusals in the log, by trigger. */
  readonly lastRefused: Map<string, string>;
  readonly signal: AbortSignal;
  /** How long refusals of one reason are gathered, in milliseconds; 1,000 by default. */
  readonly gatherMs?: number | undefined;
  /** Called with an error after which the reader must begin anew. */
  readonly fail: (error: unknown) => void;
  readonly log: Log;
};

type Gathering = Refusal & { count: number; cause: Cause; readonly acked: Promise<void> };

const usualGatherMs = 1000;
const againMs = 1000;

/** Gathers the refusals of one trigger. They are stored in the order of their events. */
const gathering = (store: (refused: Refused) => Promise<void>, gatherMs: number, signal: AbortSignal) => {
  let current: Gathering | undefined;
  let last = Promise.resolve();

  const gather = async (): Promise<void> => {
    await pause(gatherMs, undefined, { signal });
    const gathered = current;
    current = undefined;
    if (!gathered) return;
    const { reason, message, count, cause } = gathered;
    await store({ reason, message, count, ...cause });
  };

  return {
    isWaiting: (): boolean => current !== undefined,
    add: async ({ reason, message }: Refusal, cause: Cause): Promise<{ readonly acked: Promise<void> }> => {
      while (current && current.reason !== reason) await last;
      if (!current) {
        // One after the other: the second before the first would hide what the first has to tell.
        last = last.then(gather);
        last.catch(() => undefined);
        current = { reason, message, count: 0, cause, acked: last };
      }
      current.count++;
      current.cause = cause;
      return { acked: current.acked };
    },
  };
};

/**
 * Gathers the refusals of each trigger: one append a second at most. They are stored in the order of their events. So
 * whoever finds a refusal in the log knows that this trigger has settled all events up to the one that it names. If
 * another process has stored refusals meanwhile, it reads the log too: then the reader begins anew.
 */
export const refusals = ({ store, lastRefused, signal, gatherMs = usualGatherMs, fail, log }: Needs) => {
  const byTrigger = new Map<string, ReturnType<typeof gathering>>();

  const storeAtLast = async (trigger: string, refused: Refused): Promise<void> => {
    await persist(() => store(trigger, refused, lastRefused.get(trigger)), {
      signal,
      pauseMs: againMs,
      onFailure: (error) => {
        if (!(error instanceof WrongRevision))
          return log('Refusals of a trigger cannot be stored; it is tried again', { trigger, error });
        fail(error);
        throw error;
      },
    });
    lastRefused.set(trigger, refused.event);
  };

  return {
    /**
     * Adds a refusal. Resolves once it will be stored with those before it; `acked` resolves once it is. A refusal of
     * another reason waits for the ones before.
     */
    add: (trigger: string, refusal: Refusal, cause: Cause): Promise<{ readonly acked: Promise<void> }> => {
      const own = byTrigger.get(trigger) ?? gathering((refused) => storeAtLast(trigger, refused), gatherMs, signal);
      byTrigger.set(trigger, own);
      return own.add(refusal, cause);
    },
    /** Forgets triggers whose refusals are stored, but for these. */
    tidy: (busy: ReadonlyMap<string, unknown>): void => {
      for (const [trigger, { isWaiting }] of byTrigger)
        if (!isWaiting() && !busy.has(trigger)) byTrigger.delete(trigger);
    },
  };
};

export type Refusals = ReturnType<typeof refusals>;

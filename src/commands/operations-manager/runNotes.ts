import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { insist, type Log, places } from '@automation-platform/concurrency';
import { Type } from 'typebox';
import { platform } from '../../domain/engine/core.ts';
import { noteRuns, type TriggerRan, triggerRuns } from '../../domain/operations-manager/triggerRuns.ts';
import { commandsOf } from '../engine/define.ts';
import type { Handle } from '../engine/handle.ts';

const noteTriggerRuns = commandsOf(triggerRuns)({
  name: 'noteTriggerRuns',
  input: Type.Unsafe<TriggerRan>({}),
  on: 'any',
  decide: noteRuns,
});

type Needs = {
  readonly handle: Handle;
  readonly log: Log;
  /** How long the notes of one trigger are gathered. */
  readonly gatherMs?: number;
};

/** How many triggers' notes are stored at once. With more, requests wait longer when many triggers run. */
const atOnce = 4;
/** Requests have their turns between notes. */
const restMs = 4;

/**
 * Notes in the log that triggers have started jobs. The first note of a trigger is stored at once. Those of the next
 * second are gathered and stored together.
 */
export const runNotes = ({ handle, log, gatherMs = 1000 }: Needs) => {
  const stop = new AbortController();
  // Each trigger that has run may wait with it.
  setMaxListeners(0, stop.signal);
  const atPlace = places(
    // Once the service stops, none waits for another.
    () => (stop.signal.aborted ? Number.POSITIVE_INFINITY : atOnce),
    () => pause(restMs),
  );
  const waiting = new Map<string, TriggerRan>();
  const atWork = new Map<string, Promise<void>>();

  const append = async (trigger: string, input: TriggerRan): Promise<void> => {
    const requestId = randomUUID();
    await handle(noteTriggerRuns, { id: trigger, input, actor: platform, operation: noteTriggerRuns.name, requestId });
  };

  /** Tries until it succeeds; once the service stops, a last time. */
  const store = async (trigger: string, ran: TriggerRan): Promise<void> => {
    await insist(() => append(trigger, ran), {
      signal: stop.signal,
      pauseMs: 100,
      longestPauseMs: 5000,
      onFailure: (error, isNew) => {
        if (isNew) log('Runs of a trigger could not be noted; it is tried again', { trigger, error });
      },
    });
  };

  const storeWaiting = async (trigger: string): Promise<void> => {
    const ran = waiting.get(trigger);
    if (!ran) return;
    waiting.delete(trigger);
    await store(trigger, ran).catch((error: unknown) => log('Runs of a trigger were not noted', { trigger, error }));
  };

  const carryOn = async (trigger: string): Promise<void> => {
    while (waiting.has(trigger)) {
      await atPlace(() => storeWaiting(trigger));
      await pause(gatherMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
    atWork.delete(trigger);
  };

  return {
    /** A job was started. `at`: when; UTC, ISO 8601 with milliseconds. A kill may lose the note. */
    ran: (trigger: string, job: string, at: string): void => {
      const count = (waiting.get(trigger)?.count ?? 0) + 1;
      waiting.set(trigger, { count, job, at });
      if (!atWork.has(trigger)) atWork.set(trigger, carryOn(trigger));
    },
    /** Stores what is gathered. To be called once nothing starts any more. */
    stop: async (): Promise<void> => {
      stop.abort();
      await Promise.all(atWork.values());
    },
  };
};

export type RunNotes = ReturnType<typeof runNotes>;

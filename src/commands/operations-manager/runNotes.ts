import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { Type } from 'typebox';
import { supervise } from '../../concurrency/supervise.ts';
import { platform } from '../../domain/engine/core.ts';
import {
  noteRuns,
  type RunsEvent,
  type RunsRefused,
  type TriggerRan,
  triggerRuns,
} from '../../domain/operations-manager/triggerRuns.ts';
import { commandsOf } from '../engine/define.ts';
import type { Handle } from '../engine/handle.ts';

const noteTriggerRuns = commandsOf(triggerRuns)({
  name: 'noteTriggerRuns',
  input: Type.Unsafe<RunsEvent>({}),
  on: 'any',
  decide: noteRuns,
});

type Needs = {
  readonly handle: Handle;
  readonly log: (message: string, about: Record<string, unknown>) => void;
  /** How long notes of one kind are gathered. */
  readonly gatherMs?: number;
};

/** A note that waits to be stored. */
type Waiting = { event: RunsEvent; readonly stored: Promise<void>; settle: (work: Promise<void>) => void };

const together = (before: RunsEvent, next: RunsEvent): RunsEvent =>
  // Notes that are gathered have the same topic, and the same reason if they have one.
  ({ topic: next.topic, data: { ...next.data, count: before.data.count + next.data.count } }) as RunsEvent;

const waitingFor = (event: RunsEvent): Waiting => {
  let settle: Waiting['settle'] = () => undefined;
  const stored = new Promise<void>((resolve) => {
    settle = resolve;
  });
  // Not everybody waits.
  stored.catch(() => undefined);
  return { event, stored, settle };
};

/**
 * Notes in the log what came of the firing of triggers. The first note of a kind is stored at once. Those of the next
 * second are gathered and stored together.
 */
export const runNotes = ({ handle, log, gatherMs = 1000 }: Needs) => {
  const stop = new AbortController();
  // Each trigger that has run may wait with it.
  setMaxListeners(0, stop.signal);
  const waiting = new Map<string, Waiting>();
  const atWork = new Map<string, Promise<void>>();

  const append = async (trigger: string, input: RunsEvent): Promise<void> => {
    const requestId = randomUUID();
    await handle(noteTriggerRuns, { id: trigger, input, actor: platform, operation: noteTriggerRuns.name, requestId });
  };

  /** Tries until it succeeds; once the service stops, a last time. */
  const store = async (trigger: string, event: RunsEvent): Promise<void> => {
    let stored = false;
    const attempt = async (): Promise<void> => {
      await append(trigger, event);
      stored = true;
    };
    await supervise(attempt, {
      signal: stop.signal,
      pauseMs: 100,
      longestPauseMs: 5000,
      onFailure: (error, isNew) => {
        if (isNew) log('Runs of a trigger could not be noted; it is tried again', { trigger, error });
      },
    });
    if (!stored) await append(trigger, event);
  };

  const carryOn = async (key: string, trigger: string): Promise<void> => {
    for (let next = waiting.get(key); next; next = waiting.get(key)) {
      waiting.delete(key);
      next.settle(store(trigger, next.event));
      await next.stored.catch((error: unknown) => log('Runs of a trigger were not noted', { trigger, error }));
      await pause(gatherMs, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
    }
    atWork.delete(key);
  };

  const note = (trigger: string, event: RunsEvent): Promise<void> => {
    const key = `${trigger} ${event.topic === 'triggerRan' ? event.topic : event.data.reason}`;
    const known = waiting.get(key);
    if (known) known.event = together(known.event, event);
    const one = known ?? waitingFor(event);
    waiting.set(key, one);
    if (!atWork.has(key)) atWork.set(key, carryOn(key, trigger));
    return one.stored;
  };

  return {
    /** A job was started. `at`: when; UTC, ISO 8601 with milliseconds. A kill may lose the note. */
    ran: (trigger: string, job: string, at: string): void =>
      void note(trigger, { topic: 'triggerRan', data: { count: 1, job, at } satisfies TriggerRan }),
    /**
     * `count` firings, 1 if not set, started no job. `event` and `instant` are those of the last one. Resolves once that
     * is stored; rejects if the service stops before.
     */
    refused: (trigger: string, { count = 1, ...refused }: Omit<RunsRefused, 'count'> & { readonly count?: number }) =>
      note(trigger, { topic: 'runsRefused', data: { ...refused, count } }),
    /** Stores what is gathered. To be called once nothing starts any more. */
    stop: async (): Promise<void> => {
      stop.abort();
      await Promise.all(atWork.values());
    },
  };
};

export type RunNotes = ReturnType<typeof runNotes>;

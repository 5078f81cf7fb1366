import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../concurrency/log.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import type { OpenedLog } from '../store/open.ts';

type Needs = {
  readonly opened: OpenedLog;
  /** Aborts when the service is to end before it has started. */
  readonly leaving: AbortSignal;
  readonly warn: Log;
};

/** Does a step of the start. */
export type Patiently = <T>(step: () => Promise<T>) => Promise<T>;

const againMs = 500;

/** True if the log does not answer now. A log that refuses for good says nothing of another try. */
const isPassing = (error: unknown): boolean =>
  error instanceof RequestError && error.code === 'unavailable' && error.retryAfterSeconds !== undefined;

/**
 * Makes the function that does a step of the start again while a log in EventStoreDB does not answer. Requests wait in
 * the same way later. A log in this process has no reason to be waited for.
 */
export const patience =
  ({ opened, leaving, warn }: Needs): Patiently =>
  async (step) => {
    for (let isWaiting = false; ; isWaiting = true) {
      try {
        return await step();
      } catch (error) {
        if ('embedded' in opened || !isPassing(error)) throw error;
        if (!isWaiting) warn('The start waits for the event log', { error });
        await pause(againMs, undefined, { signal: leaving });
      }
    }
  };

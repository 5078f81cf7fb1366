import { setTimeout as pause } from 'node:timers/promises';
import { NotReadable, RequestError } from '../../domain/engine/requestError.ts';
import { BadEvent } from '../../store/event.ts';
import { isUnusable } from '../../store/tampered.ts';

type Work = {
  readonly work: () => Promise<void>;
  /** Called after a failure that will not pass. */
  readonly giveUp: (error: unknown, tried: number) => Promise<void>;
  /** Called when the work begins to wait for something that is not its fault. */
  readonly waits: (error: unknown) => void;
  readonly failed: (error: unknown, tried: number) => void;
  /** Whether the log cannot be reached, or takes nothing. */
  readonly away: () => boolean;
  readonly signal: AbortSignal;
};

/**
 * The outcome of the work; undefined if a stream that it needs cannot be used. Another try would not help, and nothing
 * else may wait for it.
 */
export const unlessUnusable = async <T>(
  work: Promise<T>,
  unusable: (error: unknown) => void,
): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (!isUnusable(error)) throw error;
    unusable(error);
    return undefined;
  }
};

const tries = 6;
const waitMs = 100;

/** Tries until the work is done or given up. Rejects when the signal aborts. */
export const persistently = async ({ work, giveUp, waits, failed, away, signal }: Work): Promise<void> => {
  /** Whether the error is no fault of the work: the same will do later. */
  const mustWait = (error: unknown): boolean =>
    error instanceof NotReadable ||
    (error instanceof RequestError && (error.code === 'limited' || (error.code === 'unavailable' && away())));

  let isWaiting = false;
  for (let tried = 1; ; ) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (mustWait(error)) {
        if (!isWaiting) waits(error);
        isWaiting = true;
        await pause(waitMs, undefined, { signal });
        continue;
      }
      failed(error, tried);
      if (tried === tries || error instanceof BadEvent || isUnusable(error)) return giveUp(error, tried);
      await pause(50 * 2 ** tried, undefined, { signal });
      tried++;
    }
  }
};

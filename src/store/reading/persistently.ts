import { persist } from '@automation-platform/concurrency';
import { NotReadable, RequestError } from '../../domain/engine/requestError.ts';
import { BadEvent } from '../event.ts';
import { isUnusable } from '../tampered.ts';

type Work<T> = {
  readonly work: () => Promise<T>;
  /** Called after a failure that will not pass. Its result is the outcome. */
  readonly giveUp: (error: unknown, attempts: number) => Promise<T>;
  /** Called when the work begins to wait for something that is not its fault. */
  readonly waits: (error: unknown) => void;
  readonly failed: (error: unknown, attempts: number) => void;
  /** True while the log cannot be reached, or takes nothing. */
  readonly away: () => boolean;
  /** True if another try would not help. */
  readonly isHopeless?: (error: unknown) => boolean;
  /** The pause before the second try; each later one is twice as long. */
  readonly pauseMs?: number | undefined;
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

const mostTries = 6;
const firstPauseMs = 100;

const isUnreadable = (error: unknown): boolean => error instanceof BadEvent;

/**
 * Tries until the work is done, at most six times. Then, or as soon as another try would not help, it is given up.
 * Rejects when the signal aborts.
 */
export const persistently = async <T>(needs: Work<T>): Promise<T> => {
  const { work, giveUp, waits, failed, away, isHopeless = isUnreadable, pauseMs = firstPauseMs, signal } = needs;
  /** True if the error is no fault of the work: the same will do later. */
  const mustWait = (error: unknown): boolean =>
    error instanceof NotReadable ||
    (error instanceof RequestError && (error.code === 'limited' || (error.code === 'unavailable' && away())));

  let isWaiting = false;
  let givenUp: { readonly outcome: T } | undefined;
  const onFailure = async (error: unknown, { attempts }: { readonly attempts: number }): Promise<'waits' | void> => {
    if (mustWait(error)) {
      if (!isWaiting) waits(error);
      isWaiting = true;
      return 'waits';
    }
    failed(error, attempts);
    if (attempts < mostTries && !isHopeless(error) && !isUnusable(error)) return undefined;
    givenUp = { outcome: await giveUp(error, attempts) };
    throw error;
  };
  try {
    return await persist(work, { pauseMs, longestPauseMs: 16 * pauseMs, signal, onFailure });
  } catch (error) {
    if (givenUp) return givenUp.outcome;
    throw error;
  }
};

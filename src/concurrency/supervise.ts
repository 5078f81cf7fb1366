import { setTimeout as pause } from 'node:timers/promises';

type Options = {
  /** Once the signal aborts, the work is not run again. The work itself must obey the signal too. */
  readonly signal: AbortSignal;
  /** Pause after the first failure in a row, in milliseconds; each further failure doubles it. */
  readonly pauseMs: number;
  /** Longest pause, in milliseconds; `pauseMs` if not set. */
  readonly longestPauseMs?: number;
  /** Called with each failure. `isNew` is true unless the failure before it in the row had the same reason. */
  readonly onFailure: (error: unknown, isNew: boolean) => void;
};

/**
 * Runs the work, and runs it again whenever it fails, until it returns or the signal aborts. Never rejects.
 *
 * The work calls `goesOn` once it has started well: a failure after that call begins a new row. Each pause ends at a
 * random moment in its second half, so that nodes that failed together do not try again together.
 */
export const supervise = async (
  work: (goesOn: () => void) => Promise<void>,
  { signal, pauseMs, longestPauseMs = pauseMs, onFailure }: Options,
): Promise<void> => {
  let wait = pauseMs;
  let reason: string | undefined;
  const goesOn = (): void => {
    wait = pauseMs;
    reason = undefined;
  };

  while (!signal.aborted) {
    try {
      await work(goesOn);
      return;
    } catch (error) {
      if (signal.aborted) return;
      const before = reason;
      reason = error instanceof Error ? error.message : String(error);
      onFailure(error, reason !== before);
    }
    await pause(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    wait = Math.min(wait * 2, longestPauseMs);
  }
};

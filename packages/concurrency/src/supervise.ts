import { setTimeout as pause } from 'node:timers/promises';

/** A failure in a row of them. `isNew`: the failure before it had another reason. `attempts`: how often the work was tried. */
type Failure = { readonly isNew: boolean; readonly attempts: number };

type Patience = {
  /** Once the signal aborts, the work is not run again. The work itself must obey the signal too. */
  readonly signal: AbortSignal;
  /** Pause after the first failure in a row, in milliseconds; each further failure doubles it. */
  readonly pauseMs: number;
  /** Longest pause, in milliseconds; `pauseMs` if not set. */
  readonly longestPauseMs?: number;
};

type Trying = Patience & {
  /** Called with each failure. Throws to give up; `waits`: the work is not at fault, so this was no try. */
  readonly onFailure?: (error: unknown, failure: Failure) => 'waits' | void | Promise<'waits' | void>;
};

/**
 * Runs the work, and runs it again whenever it fails, until it succeeds or `onFailure` throws. Rejects once the signal
 * aborts.
 *
 * The work calls `goesOn` once it has started well: a failure after that call begins a new row. Each pause ends at a
 * random moment in its second half, so that nodes that failed together do not try again together.
 */
export const persist = async <T>(
  work: (goesOn: () => void) => Promise<T>,
  { signal, pauseMs, longestPauseMs = pauseMs, onFailure }: Trying,
): Promise<T> => {
  let attempt = 1;
  let reason: string | undefined;
  const goesOn = (): void => {
    attempt = 1;
    reason = undefined;
  };

  for (;;) {
    signal.throwIfAborted();
    let waits: unknown;
    try {
      return await work(goesOn);
    } catch (error) {
      signal.throwIfAborted();
      const before = reason;
      reason = error instanceof Error ? error.message : String(error);
      waits = await onFailure?.(error, { isNew: reason !== before, attempts: attempt });
    }
    const wait = waits ? pauseMs : Math.min(pauseMs * 2 ** (attempt - 1), longestPauseMs);
    if (!waits) attempt++;
    await pause(wait * (0.5 + Math.random() / 2), undefined, { signal });
  }
};

type Supervision = Patience & {
  /** Called with each failure. `isNew` is true unless the failure before it in the row had the same reason. */
  readonly onFailure: (error: unknown, isNew: boolean) => void;
};

/** Runs the work until it returns or the signal aborts, however often it fails. Never rejects. */
export const supervise = (
  work: (goesOn: () => void) => Promise<void>,
  { onFailure, ...patience }: Supervision,
): Promise<void> =>
  persist(work, { ...patience, onFailure: (error, { isNew }) => onFailure(error, isNew) }).catch(() => undefined);

/** Runs the work until it succeeds. Once the signal aborts, it is tried a last time: rejects if that fails. */
export const insist = async (work: () => Promise<void>, supervision: Supervision): Promise<void> => {
  let isDone = false;
  await supervise(async () => {
    await work();
    isDone = true;
  }, supervision);
  if (!isDone) await work();
};

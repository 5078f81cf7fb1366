import { setTimeout as pause } from 'node:timers/promises';
import { supervise } from './supervise.ts';

type Needs = {
  /** Works on these ids. If it throws, they come again. */
  readonly work: (ids: readonly string[]) => Promise<void>;
  /** How many ids come at a time. */
  readonly most: number;
  /** How long it rests after each batch, so that what happens meanwhile comes together. */
  readonly restMs?: number;
  readonly signal: AbortSignal;
  readonly onFailure: (error: unknown, isNew: boolean) => void;
};

/**
 * Works on ids in batches, one batch at a time. An id that is added while its batch is under way comes again, so that no
 * change is missed.
 */
export const idBatches = ({ work, most, restMs = 0, signal, onFailure }: Needs) => {
  const waiting = new Set<string>();
  let running: Promise<void> | undefined;

  const take = (): readonly string[] => {
    const ids: string[] = [];
    for (const id of waiting) {
      if (ids.length === most) break;
      ids.push(id);
    }
    for (const id of ids) waiting.delete(id);
    return ids;
  };

  const workAll = async (): Promise<void> => {
    while (waiting.size > 0 && !signal.aborted) {
      const ids = take();
      try {
        await work(ids);
      } catch (error) {
        for (const id of ids) waiting.add(id);
        throw error;
      }
      if (restMs > 0) await pause(restMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };

  const workSupervised = async (): Promise<void> => {
    // Ids that are added in this turn come together.
    await undefined;
    await supervise(workAll, { signal, pauseMs: 200, longestPauseMs: 2000, onFailure });
    running = undefined;
    if (waiting.size > 0 && !signal.aborted) run();
  };

  const run = (): void => {
    running ??= workSupervised();
  };

  return {
    add: (id: string): void => {
      waiting.add(id);
      run();
    },
    /** True if ids wait or are worked on. */
    isBusy: (): boolean => running !== undefined,
    /** Resolves once the batches that are under way have ended. */
    idle: async (): Promise<void> => running,
  };
};

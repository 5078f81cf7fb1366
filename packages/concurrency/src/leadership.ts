import { once, setMaxListeners } from 'node:events';
import { supervise } from './supervise.ts';

/**
 * The leadership among the processes that share the read models. One process at a time leads: it projects, and does the
 * work that only one process should do.
 */
export type Leadership = {
  /** True if this process leads, as far as it knows. */
  held(): boolean;
  /**
   * Resolves once this process leads, with a signal that aborts as soon as it no longer leads. Resolves also when
   * `stop` aborts.
   */
  taken(stop: AbortSignal): Promise<AbortSignal>;
};

/** Makes a leadership that `set` gives and takes away. */
export const newLeadership = (isHeld = false): Leadership & { readonly set: (isHeld: boolean) => void } => {
  let term = isHeld ? new AbortController() : undefined;
  const waiting = new Set<() => void>();
  return {
    held: () => term !== undefined,
    set: (isLeader) => {
      if (isLeader === (term !== undefined)) return;
      term?.abort();
      term = isLeader ? new AbortController() : undefined;
      if (isLeader) for (const wake of waiting) wake();
    },
    taken: (stop) =>
      new Promise((resolve) => {
        if (term || stop.aborted) return resolve(term?.signal ?? stop);
        const wake = (): void => {
          waiting.delete(wake);
          stop.removeEventListener('abort', wake);
          resolve(term?.signal ?? stop);
        };
        waiting.add(wake);
        stop.addEventListener('abort', wake);
      }),
  };
};

/** The leadership of work that every node does: each of them leads for ever. */
export const onEveryNode: Leadership = newLeadership(true);

type Work = {
  readonly leadership: Leadership;
  /** Waited for at the beginning of each term. Resolves also when the signal aborts. */
  readonly ready?: (signal: AbortSignal) => Promise<void>;
  /**
   * The work of a term, which obeys `term`. It is begun again when it fails; `goesOn` says that it has started well. When it
   * returns, it is done for this term.
   */
  readonly work: (term: AbortSignal, goesOn: () => void) => Promise<void>;
  /** Called when a term has ended. */
  readonly onEnd?: () => void | Promise<void>;
} & Omit<Parameters<typeof supervise>[1], 'signal'>;

/** Work that goes on while this process leads, from `start` to `stop`. */
export const leaderWork = ({ leadership, ready, work, onEnd, ...supervision }: Work) => {
  const stopping = new AbortController();
  const stop: AbortSignal = stopping.signal;
  // All that is under way may listen to it.
  setMaxListeners(0, stop);
  let lastWork = Promise.resolve();

  const workForTerm = async (signal: AbortSignal): Promise<void> => {
    await ready?.(signal);
    await supervise((goesOn) => work(signal, goesOn), { ...supervision, signal });
    if (!signal.aborted) await once(signal, 'abort');
    await onEnd?.();
  };

  const workInTerms = async (): Promise<void> => {
    while (!stop.aborted) await workForTerm(AbortSignal.any([await leadership.taken(stop), stop]));
  };

  return {
    start: (): void => {
      lastWork = workInTerms();
    },
    /** Resolves once the work has ended. */
    stop: async (): Promise<void> => {
      stopping.abort();
      await lastWork;
    },
    /** Aborts when the work is to stop. */
    stopping: stop,
  };
};

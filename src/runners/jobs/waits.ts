// One for all: to make an error takes longer than all else of a wait.
const over = new Error('The wait is over');

/** The waits of workers for work. */
export const workerWaits = () => {
  const waits = new Set<() => void>();
  let isStopping = false;

  return {
    /** Asks for work, and lets the worker wait for so long, until it has gone or the service stops. */
    wait: async <T>(waitMs: number, hungUp: AbortSignal, ask: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      if (waitMs === 0 || hungUp.aborted || isStopping) return ask(AbortSignal.abort(over));
      const waiting = new AbortController();
      const end = (): void => waiting.abort(over);
      const timer = setTimeout(end, waitMs);
      hungUp.addEventListener('abort', end);
      waits.add(end);
      try {
        return await ask(waiting.signal);
      } finally {
        clearTimeout(timer);
        hungUp.removeEventListener('abort', end);
        waits.delete(end);
      }
    },
    /** No worker waits any more. */
    stop: (): void => {
      isStopping = true;
      for (const end of waits) end();
    },
  };
};

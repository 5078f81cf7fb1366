import { NotReadable, RequestError } from '../../domain/engine/requestError.ts';

type Needs = {
  /** Called with each position before it counts as reached. */
  readonly onProjected: (position: number) => void;
  /** The reason why projecting has stopped for now; undefined if it has not. */
  readonly fault: () => string | undefined;
  readonly stopping: AbortSignal;
};

const shuttingDown = () => new RequestError('unavailable', 'The service is shutting down', { retryAfterSeconds: 2 });

/** Keeps the position of the read models, and wakes the callers that wait for a position. */
export const newProgress = ({ onProjected, fault, stopping }: Needs) => {
  const waiting = new Set<{ readonly position: number; readonly wake: (error?: RequestError) => void }>();
  const waitingForReady = new Set<() => void>();
  let position = 0;
  let ready = false;

  return {
    position: (): number => position,
    /** True once the read models have reached the head that the log had when following began. */
    ready: (): boolean => ready,
    move: (to: number): void => {
      onProjected(to);
      position = to;
      for (const waiter of waiting) if (waiter.position <= to) waiter.wake();
    },
    setReady: (so: boolean): void => {
      ready = so;
      if (so) for (const go of waitingForReady) go();
    },
    /** Resolves once the read models are ready, or the signal aborts. */
    whenReady: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const go = (): void => {
          waitingForReady.delete(go);
          signal.removeEventListener('abort', go);
          resolve();
        };
        if (ready || signal.aborted) return resolve();
        waitingForReady.add(go);
        signal.addEventListener('abort', go);
      }),
    /**
     * Resolves once the read models hold everything up to the position. Rejects with `unavailable` after `ms`
     * milliseconds, and when the service stops.
     */
    reached: (target: number, ms?: number): Promise<void> =>
      new Promise((resolve, reject) => {
        if (target <= position) return resolve();
        // The position does not move any more, so the caller would wait for ever.
        if (stopping.aborted) return reject(shuttingDown());
        const end = (error?: RequestError): void => {
          clearTimeout(timer);
          waiting.delete(waiter);
          if (error) reject(error);
          else resolve();
        };
        const waiter = { position: target, wake: end };
        const timer =
          ms === undefined
            ? undefined
            : setTimeout(() => end(new NotReadable('The read models are behind; try again', fault())), ms);
        waiting.add(waiter);
      }),
    /** The position does not move any more: rejects all callers that wait. */
    refuseAll: (): void => {
      for (const waiter of waiting) waiter.wake(shuttingDown());
    },
  };
};

export type Progress = ReturnType<typeof newProgress>;

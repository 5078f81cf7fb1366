import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Shares the thread with all other work: once works have taken `mostMs` together, those that can wait begin in later turns
 * of the event loop, in the order of the calls.
 */
export const paced = (mostMs: number) => {
  let spent = 0;
  let pause: Promise<void> | undefined;

  const timed = <T>(work: () => T): T => {
    const began = performance.now();
    try {
      return work();
    } finally {
      spent += performance.now() - began;
    }
  };

  const pauseOver = (): void => {
    spent = 0;
    pause = undefined;
  };

  const later = async <T>(work: () => T): Promise<T> => {
    while (spent >= mostMs) {
      pause ??= nextTurn().then(pauseOver);
      await pause;
    }
    return timed(work);
  };

  return {
    /** Does the work in its turn. Not a promise when it does not wait. */
    inTurn: <T>(work: () => T): T | Promise<T> => (spent < mostMs ? timed(work) : later(work)),
    /** Does work at once that counts. */
    timed,
  };
};

export type Pace = ReturnType<typeof paced>;

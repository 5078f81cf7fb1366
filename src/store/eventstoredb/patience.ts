import { TryAgain } from './errors.ts';

const steps = 10;

/**
 * Calls `late` after a time, unless the returned function is called before. The time passes in steps. While this
 * process is busy, it receives nothing; between two steps it can receive an answer that has come in time.
 */
export const unheard = (ms: number, late: () => void): (() => void) => {
  let step = 0;
  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(() => {
      if (++step < steps) next();
      else late();
    }, ms / steps);
  };
  next();
  return () => clearTimeout(timer);
};

/** The result of the work. Throws `TryAgain` when it does not come in time. */
export const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let noteAnswer = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    noteAnswer = unheard(ms, () => reject(new TryAgain()));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    noteAnswer();
  }
};

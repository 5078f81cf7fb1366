import { TryAgain } from './eventstoredbErrors.ts';

const steps = 10;

/**
 * Runs something after a time, unless what this returns is called before. The time is waited in steps: while this
 * process is at work it hears nothing, and an answer that has come must not be late for that.
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

/** The result of some work if it comes in time, else `TryAgain`. */
export const within = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  let heard = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    heard = unheard(ms, () => reject(new TryAgain()));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    heard();
  }
};

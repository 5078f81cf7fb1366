/** More work in line than there may be. */
export class Busy extends Error {}

/** A waiting caller: it may go on, or it is refused. */
export type Waiting = { readonly go: () => void; readonly refuse: (error: unknown) => void };

/**
 * Waits at the end of the line, or until the signal aborts. The code that calls `go` or `refuse` takes the caller out
 * of the line first.
 */
export const waitInLine = (line: Waiting[], signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = (): void => signal.removeEventListener('abort', leave);
    const one: Waiting = {
      go: () => {
        done();
        resolve();
      },
      refuse: (error) => {
        done();
        reject(error);
      },
    };
    const leave = (): void => {
      line.splice(line.indexOf(one), 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    line.push(one);
  });

type Line = { running: number; readonly waiting: Waiting[] };

/**
 * Runs at most `most` works at once per key, in the order of asking. Throws `Busy` when `longest` wait already, and the
 * signal's reason when the signal aborts first.
 */
export const semaphore = (most: number, longest: number) => {
  const lines = new Map<string, Line>();

  const enter = (line: Line, signal: AbortSignal): Promise<void> | undefined => {
    if (line.running < most) {
      line.running++;
      return undefined;
    }
    if (line.waiting.length >= longest) throw new Busy('Too many calls at once');
    return waitInLine(line.waiting, signal);
  };

  return async <T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const line = lines.get(key) ?? { running: 0, waiting: [] };
    lines.set(key, line);
    await enter(line, signal);
    try {
      return await work();
    } finally {
      // The place goes straight to the next in line.
      const next = line.waiting.shift();
      if (next) {
        next.go();
      } else {
        line.running--;
        if (line.running === 0) lines.delete(key);
      }
    }
  };
};

/** Too much work waits in line. */
export class Busy extends Error {}

/** A caller that waits. Either `go` lets it begin, or `refuse` ends its wait with an error. */
export type Waiting = { readonly go: () => void; readonly refuse: (error: unknown) => void };

/**
 * Waits at the end of the line until `go` or `refuse` is called, or until the signal aborts. The code that calls `go`
 * or `refuse` removes the caller from the line first.
 */
export const waitInLine = (line: Waiting[], signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stopListening = (): void => signal.removeEventListener('abort', leave);
    const one: Waiting = {
      go: () => {
        stopListening();
        resolve();
      },
      refuse: (error) => {
        stopListening();
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
 * For each key, runs at most `most` works at once, in the order of the calls. Throws `Busy` when `longest` works
 * already wait, and the signal's reason when the signal aborts first.
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
      // The place goes directly to the next in line, so `running` stays the same.
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

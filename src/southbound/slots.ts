/** More work in line than there may be. */
export class Busy extends Error {}

type Line = { running: number; readonly waiting: (() => void)[] };

/** Lets so many at once through per key, in the order of asking; throws `Busy` beyond `longest` in line, the signal's reason if that comes first. */
export const slots = (most: number, longest: number) => {
  const lines = new Map<string, Line>();

  const enter = (line: Line, signal: AbortSignal): Promise<void> | undefined => {
    if (line.running < most) return void line.running++;
    if (line.waiting.length >= longest) throw new Busy('Too many calls at once');
    return new Promise((resolve, reject) => {
      const go = () => { signal.removeEventListener('abort', leave); resolve(); };
      const leave = () => { line.waiting.splice(line.waiting.indexOf(go), 1); reject(signal.reason); };
      signal.addEventListener('abort', leave, { once: true });
      line.waiting.push(go);
    });
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
      if (next) next();
      else if (--line.running === 0) lines.delete(key);
    }
  };
};

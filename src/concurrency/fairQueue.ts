import type { RequestError } from '../domain/engine/requestError.ts';

type Limits = {
  /** So many works run at a time. */
  readonly atOnce: number;
  /** So many wait at most. */
  readonly mostWaiting: number;
  /** What somebody is told who cannot wait any longer. */
  readonly full: () => RequestError;
};

type Waiting = { readonly start: () => void; readonly giveUp: (reason: RequestError) => void };

/**
 * Lets few works run at a time. Those that wait take turns by key: a key with thousands of works holds up another key
 * by what it has running, no more. When too many wait, the key with the most of them gives up its last one; memory
 * stays bounded.
 */
export const fairQueue = ({ atOnce, mostWaiting, full }: Limits) => {
  // The key whose turn comes next is first.
  const waiting = new Map<string, Waiting[]>();
  const running = new Map<string, number>();
  let places = atOnce;
  let count = 0;

  /** Makes room for one more of a key, by taking the last one of a key that has still more than that. */
  const makeRoom = (key: string): void => {
    let longest: Waiting[] = [];
    for (const queue of waiting.values()) if (queue.length > longest.length) longest = queue;
    const wanted = (waiting.get(key)?.length ?? 0) + 1;
    const last = longest.length > wanted ? longest.pop() : undefined;
    if (!last) throw full();
    last.giveUp(full());
    count--;
  };

  const waitForPlace = (key: string): Promise<void> => {
    if (count >= mostWaiting) makeRoom(key);
    return new Promise((start, giveUp) => {
      const queue = waiting.get(key) ?? [];
      queue.push({ start, giveUp });
      waiting.set(key, queue);
      count++;
    });
  };

  const begin = (key: string): void => void running.set(key, (running.get(key) ?? 0) + 1);

  const end = (key: string): void => {
    const left = (running.get(key) ?? 0) - 1;
    if (left > 0) running.set(key, left);
    else running.delete(key);
  };

  /** Whose turn it is: of the keys that have nothing running the first, else the first of all. */
  const nextKey = (): string | undefined => {
    for (const key of waiting.keys()) if (!running.has(key)) return key;
    const [first] = waiting.keys();
    return first;
  };

  /** Gives a place that has become free to whoever waits. */
  const passOn = (): void => {
    const key = nextKey();
    const queue = key === undefined ? undefined : waiting.get(key);
    const turn = queue?.shift();
    if (key === undefined || !queue || !turn) {
      places++;
      return;
    }
    waiting.delete(key);
    if (queue.length > 0) waiting.set(key, queue);
    count--;
    begin(key);
    turn.start();
  };

  return {
    /** Does the work in the key's turn. */
    fairly: async <T>(key: string, work: () => Promise<T>): Promise<T> => {
      if (places === 0) await waitForPlace(key);
      else {
        places--;
        begin(key);
      }
      try {
        return await work();
      } finally {
        end(key);
        passOn();
      }
    },
    idle: (): boolean => places === atOnce,
  };
};

type Limits = {
  /** How many works run at a time. */
  readonly atOnce: number;
  /** How many works wait at most. */
  readonly mostWaiting: number;
  /** Makes the error for a work that cannot wait. */
  readonly full: () => Error;
};

type Waiting = { readonly start: () => void; readonly giveUp: (reason: Error) => void };

/**
 * Lets only some works run at a time. Waiting works take turns by key, so many works of one key delay another key only
 * by those that already run. When too many wait, the key with the most waiting works loses its last one. So memory
 * stays bounded.
 */
export const fairQueue = ({ atOnce, mostWaiting, full }: Limits) => {
  // The first key has the next turn.
  const waiting = new Map<string, Waiting[]>();
  const running = new Map<string, number>();
  let places = atOnce;
  let count = 0;

  /**
   * Makes room for one more work of a key: drops the last work of the longest queue, if that queue is longer than the
   * key's queue would be. Else it throws.
   */
  const makeRoom = (key: string): void => {
    let longest: Waiting[] = [];
    for (const queue of waiting.values()) if (queue.length > longest.length) longest = queue;
    const waitingCount = (waiting.get(key)?.length ?? 0) + 1;
    const last = longest.length > waitingCount ? longest.pop() : undefined;
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
    const remaining = (running.get(key) ?? 0) - 1;
    if (remaining > 0) running.set(key, remaining);
    else running.delete(key);
  };

  /** The key of the next turn: the first key with no running work, else the first of all. */
  const nextKey = (): string | undefined => {
    for (const key of waiting.keys()) if (!running.has(key)) return key;
    const [first] = waiting.keys();
    return first;
  };

  /** Gives a free place to the next waiting work. */
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
    /** Runs the work when it is the key's turn. */
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

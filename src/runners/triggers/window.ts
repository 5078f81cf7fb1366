/** An event that was taken, and is not settled. */
type Taken = { readonly before: number; left: number };

/** Holds up the checkpoint at an event. */
export type Hold = { readonly release: () => void };

/**
 * The place of the common reader in the log. The checkpoint may pass an event once all its runs are settled, or have
 * been left to a cursor that is stored.
 */
export const readersWindow = (from: number) => {
  const open: Taken[] = [];
  let position = from;
  let waiting: (() => void)[] = [];

  const drop = (): void => {
    while (open[0]?.left === 0) open.shift();
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  };

  return {
    /** The position up to which all events were taken. */
    position: (): number => position,
    /** All events up to here are settled. */
    settled: (): number => open[0]?.before ?? position,
    size: (): number => open.length,
    /** Resolves once something is settled. */
    news: (): Promise<void> =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
    wake: drop,
    /** Takes the next event, with so many runs. `hold` is called for each of them. */
    take: (at: number, runs: number, hold: (hold: Hold, n: number) => void): void => {
      const taken: Taken = { before: position, left: runs };
      position = at;
      if (runs > 0) open.push(taken);
      for (let n = 0; n < runs; n++) {
        let held = true;
        hold(
          {
            release: () => {
              if (!held) return;
              held = false;
              taken.left--;
              drop();
            },
          },
          n,
        );
      }
    },
  };
};

export type ReadersWindow = ReturnType<typeof readersWindow>;

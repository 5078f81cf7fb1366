import { setImmediate as nextTurn } from 'node:timers/promises';

const longestTurnMs = 2;
const pieceLength = 32;

/**
 * Shares the thread with all other work: once works of a kind have taken `mostMs` together, those that can wait begin in
 * later turns of the event loop, in the order of the calls. Works of each kind have their part of each turn: read models
 * keep up however many decisions wait.
 */
export const paced = (mostMs = longestTurnMs) => {
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

  /** Does the work in its turn. Not a promise when it does not wait. */
  const inTurn = <T>(work: () => T): T | Promise<T> => (spent < mostMs ? timed(work) : later(work));

  return {
    inTurn,
    /** Does the work with a few items at a time, one after the other. */
    inPieces: async <Item>(items: readonly Item[], work: (piece: readonly Item[]) => unknown): Promise<void> => {
      for (let from = 0; from < items.length; from += pieceLength) {
        const turn = inTurn(() =>
          work(from === 0 && items.length <= pieceLength ? items : items.slice(from, from + pieceLength)),
        );
        if (turn instanceof Promise) await turn;
      }
    },
    /** Collects the items, some at a time: each of them takes work. */
    collect: async <Item>(items: Iterable<Item>): Promise<Item[]> => {
      const iterator = items[Symbol.iterator]();
      const collected: Item[] = [];
      const collectPiece = (): boolean => {
        for (let n = 0; n < pieceLength; n++) {
          const { done, value } = iterator.next();
          if (done) return false;
          collected.push(value);
        }
        return true;
      };
      while (await inTurn(collectPiece));
      return collected;
    },
    /** Does work at once that counts. */
    timed,
  };
};

export type Pace = ReturnType<typeof paced>;

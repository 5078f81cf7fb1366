import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Gives each caller a turn of the event loop of its own, one after the other. If many work in pieces and each waits only
 * for the next turn, their pieces come together in one turn, and everybody else waits for all of them.
 */
export const turns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
};

import { setImmediate as nextTurn } from 'node:timers/promises';

const longestMs = 10;

/**
 * Returns a function for loops with much work. A loop awaits it in each round: after 10 milliseconds of work it lets
 * the event loop run.
 */
export const breather = (): (() => Promise<void> | undefined) => {
  let began = performance.now();
  return () => {
    if (performance.now() - began < longestMs) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
};

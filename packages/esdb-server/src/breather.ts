import { turns } from '@automation-platform/concurrency';

const longestMs = 10;
const turn = turns();

/**
 * Returns a function for loops with much work. A loop awaits it in each round: after 10 milliseconds of work it lets
 * the event loop run.
 */
export const breather = (): (() => Promise<void> | undefined) => {
  let began = performance.now();
  return () => {
    if (performance.now() - began < longestMs) return undefined;
    return turn().then(() => {
      began = performance.now();
    });
  };
};

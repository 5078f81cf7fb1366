import { setImmediate as nextTurn } from 'node:timers/promises';

const longestMs = 10;

/** To be awaited again and again in a long work: now and then it lets others have their turn. */
export const breather = (): (() => Promise<void> | undefined) => {
  let began = performance.now();
  return () => {
    if (performance.now() - began < longestMs) return undefined;
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
};

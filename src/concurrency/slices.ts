import { setImmediate as nextTurn } from 'node:timers/promises';

const leastMs = 2;
const mostMs = 20;
const stepsAtOnce = 16;

/** Divides long work into slices, between which others have their turn: about half of the time, if they need it. */
export const slices = () => {
  let steps = 0;
  let until = performance.now() + leastMs;
  return {
    /** To be called after each step of the work. True once the slice is over. */
    isOver: (): boolean => ++steps % stepsAtOnce === 0 && performance.now() >= until,
    /** Waits for the next slice. It is as long as the others' turn was, within bounds. */
    next: async (): Promise<void> => {
      const began = performance.now();
      await nextTurn();
      const now = performance.now();
      until = now + Math.min(Math.max(now - began, leastMs), mostMs);
    },
  };
};

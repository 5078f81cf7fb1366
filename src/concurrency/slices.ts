import { setImmediate as nextTurn } from 'node:timers/promises';

const sliceMs = 2;
const stepsAtOnce = 16;

/** Divides long work into slices, between which others have their turn. */
export const slices = () => {
  let steps = 0;
  let until = performance.now() + sliceMs;
  return {
    /** To be called after each step of the work. True once the slice is over. */
    isOver: (): boolean => ++steps % stepsAtOnce === 0 && performance.now() >= until,
    /** Waits for the next slice. */
    next: async (): Promise<void> => {
      await nextTurn();
      until = performance.now() + sliceMs;
    },
  };
};

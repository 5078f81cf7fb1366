import { setImmediate as turn } from 'node:timers/promises';

/** The check as one that lets others have a turn after it: a long row of checks may not hold up the event loop. */
export const inTurn =
  <A extends readonly unknown[]>(check: (...values: A) => void) =>
  async (...values: A): Promise<void> => {
    check(...values);
    await turn();
  };

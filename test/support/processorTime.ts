import { readFileSync } from 'node:fs';

/**
 * Begins to count the milliseconds of processor time of this process: unlike the clock, it stands while others have the
 * machine.
 */
export const processorTime = (): (() => number) => {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
};

/** Milliseconds of processor time of the main thread so far; where there is no /proc, of the whole process. */
const mainThread = (): number => {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
};

/** Measures turns of the event loop until it is asked for the longest, in milliseconds of processor time. */
export const longestTurn = (): (() => number) => {
  let [before, longest] = [mainThread(), 0];
  const look = (): void => {
    const now = mainThread();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const looking = setInterval(look, 5).unref();
  return () => {
    clearInterval(looking);
    look();
    return longest;
  };
};

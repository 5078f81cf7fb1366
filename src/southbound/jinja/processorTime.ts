import { readFileSync } from 'node:fs';

/** Linux counts in hundredths of a second, whatever the machine. */
const msPerTick = 10;

/**
 * Milliseconds of processor time that a process has used, by itself and for the system; undefined where nothing tells.
 */
export const processorMs = (pid: number | undefined): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold anything; utime and stime are the 12th and 13th fields after it (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * msPerTick;
  } catch {
    return undefined;
  }
};

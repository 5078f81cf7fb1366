import { readFileSync } from 'node:fs';

/** Linux shows processor time in units of so many milliseconds, on every machine. */
const msPerTick = 10;

/**
 * Milliseconds of processor time that a process has used, in user mode and in the kernel. Undefined where the system
 * does not show them.
 */
export const processorMs = (pid: number | undefined): number | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The process name, in parentheses, may contain anything. After it, utime and stime are fields 12 and 13 (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * msPerTick;
  } catch {
    return undefined;
  }
};

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { scale } from './compare.ts';
import { kept } from './processes.ts';

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** The most memory that a process has used so far, in MB; 0 where the system does not tell. */
const peakOf = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
};

export type Run = { readonly rate: number; readonly peak: number };

/** A size in words. */
export const megabytes = (figure: number): string => `${Math.round(figure)} MB`;

/**
 * Runs a command on the log of a folder, which has as many events as the long log. Gives events per second, from the
 * start of the process to its end, and the most memory that it used, in MB.
 */
export const runCommand = async (words: readonly string[], folder: string, to?: string): Promise<Run> => {
  const out = to === undefined ? undefined : openSync(to, 'w');
  const env = { ...process.env, DATA_DIR: folder };
  const begun = performance.now();
  const child = kept(
    spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', out ?? 'ignore', 'ignore'] }),
  );
  let peak = 0;
  const look = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid ?? 0));
  }, 20);
  const [code] = await once(child, 'exit');
  clearInterval(look);
  if (out !== undefined) closeSync(out);
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}`);
  return { rate: (scale.events / (performance.now() - begun)) * 1000, peak };
};

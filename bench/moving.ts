import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Findings, inTurn, milliseconds, perSecond, progress, scale } from './compare.ts';
import { longLog } from './logs.ts';
import { kept, startProgram, startService, temporary } from './processes.ts';
import type { Replaying } from './programs/replays.ts';
import { ask } from './requests.ts';
import { ready } from './service.ts';

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));

/** The most memory that a process has used so far, in MB; 0 where the system does not tell. */
const peakOf = (pid: number): number => {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1000;
  } catch {
    return 0;
  }
};

type Run = { readonly rate: number; readonly peak: number };

/** Runs a command on the log of a folder. Gives events per second, from the start of the process to its end. */
const run = async (words: readonly string[], folder: string, to?: string): Promise<Run> => {
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

const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;

/** The p99 of single reads, one after the other, until the work is done. */
const readsDuring = async (url: string, work: Promise<unknown>): Promise<number> => {
  let done = false;
  const ending = work.finally(() => {
    done = true;
  });
  const took: number[] = [];
  while (!done) {
    const begun = performance.now();
    await ask(url, 'GET', '/group-mappings?limit=25');
    took.push(performance.now() - begun);
  }
  await ending;
  return p99(took);
};

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** (r) Moving and rebuilding the long log: rates, memory, and what a rebuild costs others. */
export const moving = async (): Promise<Findings> => {
  const folder = await longLog();
  const scratch = await temporary();
  const file = join(scratch, 'export.ndjson');
  const exports: Run[] = [];
  const moved = await inTurn('r', {
    exporting: async () => {
      const done = await run(['export'], folder, file);
      exports.push(done);
      return done.rate;
    },
    importing: async () => {
      const to = join(scratch, 'imported');
      rmSync(to, { recursive: true, force: true });
      mkdirSync(to);
      return (await run(['import', file], to)).rate;
    },
    replaying: async () => {
      const replays = startProgram('replays');
      const rate = await replays.ask<number>({
        by: 'projections',
        file: join(folder, 'events.db'),
      } satisfies Replaying);
      await replays.stop();
      return rate;
    },
  });

  progress('r: starting the service on the long log');
  const service = await startService(folder);
  await ready(service.url);
  const rebuilds: number[] = [];
  const { during, before } = await inTurn('r', {
    before: () => readsDuring(service.url, pause(scale.milliseconds)),
    during: async () => {
      const begun = performance.now();
      const reads = await readsDuring(service.url, ask(service.url, 'POST', '/health/rebuild'));
      rebuilds.push((scale.events / (performance.now() - begun)) * 1000);
      return reads;
    },
  });
  await service.stop();

  const events = scale.events.toLocaleString('en');
  return {
    comparisons: [
      {
        what: `(r) export of ${events} events`,
        comparedWith: 'the goal',
        ours: moved.exporting,
        theirs: moved.exporting.map(() => 100_000),
        shown: perSecond,
        goal: { least: 1 },
      },
      {
        what: `(r) export of ${events} events: memory`,
        comparedWith: 'the goal',
        ours: exports.map(({ peak }) => peak),
        theirs: exports.map(() => 300),
        shown: (megabytes) => `${Math.round(megabytes)} MB`,
        goal: { most: 1 },
      },
      {
        what: `(r) import of ${events} events into SQLite`,
        comparedWith: 'the goal',
        ours: moved.importing,
        theirs: moved.importing.map(() => 20_000),
        shown: perSecond,
        goal: { least: 1 },
      },
      {
        what: `(r) rebuild of the read models from ${events} events, while somebody reads`,
        comparedWith: 'a replay with nothing else to do',
        ours: rebuilds.slice(-moved.replaying.length),
        theirs: moved.replaying,
        shown: perSecond,
        goal: { least: 0.5 },
      },
      {
        what: '(r) p99 of a list of 25 during a rebuild',
        comparedWith: 'without one',
        ours: during,
        theirs: before,
        shown: milliseconds,
        goal: { most: 2 },
      },
    ],
  };
};

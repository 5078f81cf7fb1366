import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { megabytes, type Run, runCommand } from './commands.ts';
import { type Findings, inTurn, milliseconds, perSecond, progress, scale } from './compare.ts';
import { signedLongLog } from './logs.ts';
import { cpuSeconds, type Service, startProgram, startService, temporary } from './processes.ts';
import type { Replaying } from './programs/replays.ts';
import { ask } from './requests.ts';
import { ready } from './service.ts';

export const p99 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0;

/** The p99 of single reads, one after the other, until the work is done. */
export const readsDuring = async (url: string, work: Promise<unknown>): Promise<number> => {
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

/** Waits until the service has done what follows a start, such as its snapshot: it uses hardly any processor time. */
const settled = async ({ pid }: Service): Promise<void> => {
  for (let before = NaN, used = cpuSeconds(pid); !(used - before < 0.1); used = cpuSeconds(pid)) {
    await pause(1000);
    before = used;
  }
};

/** A round takes a minute or more, and each begins with new processes. So there are few, and none to warm up. */
const turns = { warm: false, rounds: Math.min(3, scale.rounds) };

/** (r) Moving and rebuilding the long log: rates, memory, and what a rebuild costs others. */
export const moving = async (): Promise<Findings> => {
  const folder = await signedLongLog();
  const scratch = await temporary();
  const file = join(scratch, 'export.ndjson');
  const exports: Run[] = [];
  const imports: Run[] = [];
  const moved = await inTurn(
    'r',
    {
      exporting: async () => {
        const done = await runCommand(['export'], folder, file);
        exports.push(done);
        return done.rate;
      },
      importing: async () => {
        const to = join(scratch, 'imported');
        rmSync(to, { recursive: true, force: true });
        mkdirSync(to);
        const done = await runCommand(['import', file], to);
        imports.push(done);
        return done.rate;
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
    },
    turns,
  );

  progress('r: starting the service on the long log');
  const service = await startService(folder);
  await ready(service.url);
  progress('r: waiting until the service has nothing to do');
  await settled(service);
  const rebuilds: number[] = [];
  const { during, before } = await inTurn(
    'r',
    {
      before: () => readsDuring(service.url, pause(scale.milliseconds)),
      during: async () => {
        const begun = performance.now();
        const reads = await readsDuring(service.url, ask(service.url, 'POST', '/health/rebuild'));
        rebuilds.push((scale.events / (performance.now() - begun)) * 1000);
        return reads;
      },
    },
    turns,
  );
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
        shown: megabytes,
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
        what: `(r) import of ${events} events: memory`,
        comparedWith: 'the goal',
        ours: imports.map(({ peak }) => peak),
        theirs: imports.map(() => 300),
        shown: megabytes,
        goal: { most: 1 },
      },
      {
        what: `(r) rebuild of the read models from ${events} events, while somebody reads`,
        comparedWith: 'a replay with nothing else to do',
        ours: rebuilds,
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

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Findings, inTurn, progress, scale, seconds } from './compare.ts';
import { kinds } from './kinds.ts';
import { longLog, writeLog } from './logs.ts';
import { startService, temporary } from './processes.ts';
import { ask } from './requests.ts';
import { ready } from './service.ts';

const shortEvents = 10_000;

/** Starts the service once and waits until a snapshot covers the log as it was. */
const makeSnapshot = async (folder: string): Promise<void> => {
  progress('e: making a snapshot');
  const service = await startService(folder);
  await ready(service.url);
  const kept = async (): Promise<number> =>
    (
      JSON.parse((await ask(service.url, 'GET', '/health/status')).body.toString()) as {
        readStore: { snapshot: number };
      }
    ).readStore.snapshot;
  while ((await kept()) < scale.events) await pause(100);
  await service.stop();
};

/** (e) From the start of the process to being ready: a long log with a snapshot, compared with a short log. */
export const startingUp = async (): Promise<Findings> => {
  const long = await longLog();
  await makeSnapshot(long);
  const short = join(await temporary(), 'short');
  mkdirSync(short);
  writeLog(join(short, 'events.db'), { kinds, documents: shortEvents / 10, eventsEach: 10 });

  const measure = (folder: string) => async (): Promise<number> => {
    const start = performance.now();
    const service = await startService(folder);
    await ready(service.url);
    const took = performance.now() - start;
    await service.stop();
    return took / 1000;
  };
  const found = await inTurn('e', { long: measure(long), short: measure(short) });
  return {
    comparisons: [
      {
        what: `(e) cold start, ${scale.events.toLocaleString('en')} events with a snapshot`,
        comparedWith: `${shortEvents.toLocaleString('en')} events`,
        ours: found.long,
        theirs: found.short,
        shown: seconds,
        goal: { most: 3 },
      },
    ],
  };
};

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from './people.ts';
import { type Server, startServer } from './process.ts';

/** The library of the program faketime; empty where it is not installed. */
const library = spawnSync('faketime', ['-m', '2026-01-01', 'printenv', 'LD_PRELOAD']).stdout?.toString().trim() ?? '';

/** Says that the program faketime is missing; '' if it is there. */
export const missingFaketime = library === '' ? ' (needs the program faketime)' : '';
export const describeFaketime = (title: string, suite: (this: Mocha.Suite) => void): void => {
  (missingFaketime !== '' && process.env.CI !== 'true' ? describe.skip : describe)(title, suite);
};

/** A service in a folder whose wall clock the test sets. Its monotonic clock is the machine's. */
export const clockedService = (folder: string) => {
  let server: Server | undefined;
  const offsets = join(folder, 'offset');
  const running = (): Server => {
    if (!server) throw new Error('The service does not run');
    return server;
  };

  /** Sets the wall clock of the service to a time. The monotonic clock stays. */
  const setClock = (time: number): void => {
    const seconds = (time - Date.now()) / 1000;
    writeFileSync(offsets, `${seconds < 0 ? '' : '+'}${seconds.toFixed(3)}\n`);
  };
  const clock = async () => ok(await running().ask('GET', '/health/status')).clock;

  return {
    setClock,
    /** How the service judges its clock. */
    clock,
    startAt: async (time: number): Promise<Server> => {
      setClock(time);
      server = await startServer(join(folder, 'data'), {
        LD_PRELOAD: library,
        FAKETIME_TIMESTAMP_FILE: offsets,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
        NO_FAKE_STAT: '1',
        // A place whose clocks change. It makes no difference.
        TZ: 'Europe/Berlin',
      });
      return server;
    },
    ask: (...asking: Parameters<Server['ask']>): ReturnType<Server['ask']> => running().ask(...asking),
    stop: async (signal?: NodeJS.Signals): Promise<void> => {
      await server?.stop(signal);
      server = undefined;
    },
  };
};

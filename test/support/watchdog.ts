import { Worker } from 'node:worker_threads';

// Counts its own ticks and not the time, in which the whole machine may have slept. Whatever it hears sets it back.
// It writes and kills by itself, since the thread that it watches does nothing any more.
const program = String.raw`
  const { writeSync } = require('node:fs');
  const { parentPort, workerData: { limitMs, ticks } } = require('node:worker_threads');
  let running;
  let silent = 0;
  parentPort.on('message', (test) => { silent = 0; running = test ?? running; });
  setInterval(() => {
    if (running === undefined || ++silent < ticks) return;
    writeSync(2, 'The event loop has stood still for ' + limitMs / 1000 + ' s, since or after the begin of: ' + running + '\n');
    process.kill(process.pid, 'SIGKILL');
  }, limitMs / ticks);
`;
const ticks = 50;

/**
 * Kills this process, which fails the run, when its event loop stands still for so long, and says which test did that.
 */
export const startWatchdog = (limitMs: number): { readonly begins: (test: string) => void } => {
  const watchdog = new Worker(program, { eval: true, workerData: { limitMs, ticks }, execArgv: [] });
  watchdog.unref();
  // Without threads to spare the tests are as good without.
  watchdog.on('error', () => undefined);
  setInterval(() => watchdog.postMessage(undefined), limitMs / ticks).unref();
  return { begins: (test) => watchdog.postMessage(test) };
};

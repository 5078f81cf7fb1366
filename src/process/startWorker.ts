import { once } from 'node:events';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { bundled, fileOf, isSource } from './bundled.ts';

/** Starts a module as a worker thread. `name`: its path from `src` without extension. */
export const startWorker = (name: string, workerData: unknown, resourceLimits: ResourceLimits = {}): Worker =>
  isSource
    ? new Worker(bundled(name), { eval: true, execArgv: [], workerData, resourceLimits })
    : new Worker(fileOf(name), { workerData, resourceLimits });

const endMs = 5000;

/**
 * Asks a worker to end, so that it can close its files. One that waits for something that is away is ended all the same.
 * The worker ends itself when it gets the message 'end'.
 */
export const endWorker = async (worker: Worker): Promise<void> => {
  const workerExit = once(worker, 'exit').catch(() => undefined);
  worker.postMessage('end');
  const late = setTimeout(() => void worker.terminate(), endMs);
  await workerExit;
  clearTimeout(late);
};

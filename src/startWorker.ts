import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ResourceLimits, Worker } from 'node:worker_threads';

// On Node 20, tsx works in the main thread only: a worker that runs from source must register it itself.
const throughTsx = (file: string, importsLater: boolean): string => `
  require('node:module').createRequire(${JSON.stringify(file)})('tsx/cjs/api').register();
  const start = () => require(${JSON.stringify(file)});
  ${importsLater ? "import('tsx/esm/api').then(({ register }) => register()).then(start)" : 'start()'};
`;

type Options = {
  /** The worker calls `import()`. From source, such a worker takes longer to start. */
  readonly importsLater?: boolean;
  readonly resourceLimits?: ResourceLimits;
};

/**
 * Starts a module as a worker thread. `name` is its path without extension, relative to `from`, the caller's
 * `import.meta.url`.
 */
export const startWorker = (
  name: string,
  from: string,
  workerData: unknown,
  { importsLater = false, resourceLimits = {} }: Options = {},
): Worker => {
  const module = new URL(name + extname(from), from);
  return extname(from) === '.ts'
    ? new Worker(throughTsx(fileURLToPath(module), importsLater), { eval: true, workerData, resourceLimits })
    : new Worker(module, { workerData, resourceLimits });
};

const endMs = 5000;

/**
 * Asks a worker to end, so that it can close its files. One that waits for something that is away is ended all the same.
 * The worker ends itself when it gets the message 'end'.
 */
export const endWorker = async (worker: Worker): Promise<void> => {
  const gone = once(worker, 'exit').catch(() => undefined);
  worker.postMessage('end');
  const late = setTimeout(() => void worker.terminate(), endMs);
  await gone;
  clearTimeout(late);
};

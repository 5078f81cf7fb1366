import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ResourceLimits, Worker } from 'node:worker_threads';

// On Node 20, tsx works in the main thread only: a worker that runs from source must register it itself.
const throughTsx = (file: string): string => `
  require('node:module').createRequire(${JSON.stringify(file)})('tsx/cjs/api').register();
  require(${JSON.stringify(file)});
`;

/**
 * Starts a module as a worker thread. `name` is its path without extension, relative to `from`, the caller's
 * `import.meta.url`.
 */
export const startWorker = (
  name: string,
  from: string,
  workerData: unknown,
  resourceLimits: ResourceLimits = {},
): Worker => {
  const module = new URL(name + extname(from), from);
  return extname(from) === '.ts'
    ? new Worker(throughTsx(fileURLToPath(module)), { eval: true, workerData, resourceLimits })
    : new Worker(module, { workerData, resourceLimits });
};

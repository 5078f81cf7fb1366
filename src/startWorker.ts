import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

// tsx reaches only the main thread on Node 20: a worker that runs from source has to call it itself.
const throughTsx = (file: string): string => `
  require('node:module').createRequire(${JSON.stringify(file)})('tsx/cjs/api').register();
  require(${JSON.stringify(file)});
`;

/**
 * Starts the module `name` (no extension) beside the calling module (`from`: its `import.meta.url`) as a worker thread.
 */
export const startWorker = (name: string, from: string, workerData: unknown): Worker => {
  const module = new URL(name + extname(from), from);
  return extname(from) === '.ts'
    ? new Worker(throughTsx(fileURLToPath(module)), { eval: true, workerData })
    : new Worker(module, { workerData });
};

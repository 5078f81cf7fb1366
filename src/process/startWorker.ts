import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ResourceLimits, Worker } from 'node:worker_threads';

// On Node 20, tsx works in the main thread only: a worker that runs from source must register it itself.
const throughTsx = (file: string, importsLater: boolean): string => `
  require('node:module').createRequire(${JSON.stringify(file)})('tsx/cjs/api').register();
  const start = () => require(${JSON.stringify(file)});
  ${importsLater ? "import('tsx/esm/api').then(({ register }) => register()).then(start)" : 'start()'};
`;

/** The sources of our packages, by their names. */
const ownPackages = (): Record<string, string> => {
  const folder = new URL('../../packages/', import.meta.url);
  const sourceOf = (name: string): string => fileURLToPath(new URL(`${name}/src/index.ts`, folder));
  return Object.fromEntries(readdirSync(folder).map((name) => [`@automation-platform/${name}`, sourceOf(name)]));
};

const bundles = new Map<string, string>();

/**
 * A module from source with all that it imports from here and from our packages, as one script. Its files do not use
 * `import.meta`.
 */
const bundled = (file: string): string => {
  const known = bundles.get(file);
  if (known !== undefined) return known;
  const { buildSync } = createRequire(import.meta.url)('esbuild') as typeof import('esbuild');
  const { outputFiles } = buildSync({
    entryPoints: [file],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    packages: 'external',
    alias: ownPackages(),
    write: false,
  });
  const from = `require('node:module').createRequire(${JSON.stringify(file)})`;
  const script = `((require) => {${outputFiles[0]?.text}\n})(${from});`;
  bundles.set(file, script);
  return script;
};

type Options = {
  /** The worker calls `import()`. From source, such a worker takes longer to start. */
  readonly importsLater?: boolean;
  /** From source, it is compiled once for all of its threads: a small module of which there are many. */
  readonly isBundled?: boolean;
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
  { importsLater = false, isBundled = false, resourceLimits = {} }: Options = {},
): Worker => {
  const module = new URL(name + extname(from), from);
  if (extname(from) !== '.ts') return new Worker(module, { workerData, resourceLimits });
  const file = fileURLToPath(module);
  const script = isBundled ? bundled(file) : throughTsx(file, importsLater);
  return new Worker(script, { eval: true, workerData, resourceLimits });
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

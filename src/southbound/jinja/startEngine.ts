import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Starts the engine as a process of its own with a bounded heap, and waits until it takes work. It is no thread: a
 * thread that runs out of memory can end the whole process. The engine gets neither the environment nor the output of
 * the service, and cannot turn text into code.
 */
export const startEngine = (megabytes: number): { readonly engine: ChildProcess; readonly ready: Promise<unknown> } => {
  const type = extname(import.meta.url);
  const engine = fork(fileURLToPath(new URL(`engine${type}`, import.meta.url)), [], {
    execArgv: [
      `--max-old-space-size=${megabytes}`,
      '--disallow-code-generation-from-strings',
      ...(type === '.ts' ? ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href] : []),
    ],
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // No JSON, whose names Node itself may misread (soundJson.ts).
    serialization: 'advanced',
  });
  const ended = once(engine, 'exit').then(([code, signal]) => {
    throw new Error(`The template engine ended while it started: ${code ?? signal}`);
  });
  return { engine, ready: Promise.race([once(engine, 'message'), ended]) };
};

/** Lets the process of the service end, or not, while the engine is there. */
export const hold = (engine: ChildProcess, holding: boolean): void => {
  for (const handle of [engine, engine.channel]) {
    if (holding) handle?.ref();
    else handle?.unref();
  }
};

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { bundled, fileOf, isSource } from '../../process/bundled.ts';

const module = 'southbound/engines/engine';

/**
 * Starts the engine as a separate process with a limited heap. `ready` resolves when the engine can work. A thread
 * would not do, because a thread without memory can end the whole process. The engine gets neither the environment nor
 * the output of the service. Unless it is said, it cannot turn text into code.
 */
export const startEngine = ({
  megabytes,
  makesCode,
}: {
  readonly megabytes: number;
  readonly makesCode?: true;
}): { readonly engine: ChildProcess; readonly ready: Promise<unknown> } => {
  // `-` is the standard input.
  const engine = fork(isSource ? '-' : fileOf(module), [], {
    execArgv: [`--max-old-space-size=${megabytes}`, ...(makesCode ? [] : ['--disallow-code-generation-from-strings'])],
    // Times without a zone mean the same on every node.
    env: { TZ: 'UTC' },
    stdio: [isSource ? 'pipe' : 'ignore', 'ignore', 'ignore', 'ipc'],
    // This is not JSON, because Node may misread some member names of JSON (soundJson.ts).
    serialization: 'advanced',
  });
  engine.stdin?.on('error', () => undefined).end(bundled(module));
  const ended = once(engine, 'exit').then(([code, signal]) => {
    throw new Error(`The engine ended while it started: ${code ?? signal}`);
  });
  return { engine, ready: Promise.race([once(engine, 'message'), ended]) };
};

/** With `holding`, the engine keeps the process of the service alive. Without it, the process may end. */
export const hold = (engine: ChildProcess, holding: boolean): void => {
  for (const handle of [engine, engine.channel]) {
    if (holding) handle?.ref();
    else handle?.unref();
  }
};

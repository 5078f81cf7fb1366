import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** An empty folder on the disk of this repository, gone when the benchmark ends. */
export const temporary = async (): Promise<string> => {
  const folder = await mkdtemp(join(dist, 'bench-'));
  folders.add(folder);
  return folder;
};

/** Ends all that was started and removes all temporary folders. */
export const cleanUp = (): void => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
};

const kept = (child: ChildProcess): ChildProcess => {
  running.add(child);
  return child.once('exit', () => running.delete(child));
};

/** A program of this folder, compiled like the service: `tell` sends it a message, `ask` also waits for its answer. */
export const startProgram = (name: string) => {
  const child = kept(fork(join(dist, 'bench/bench', `${name}.js`), { serialization: 'advanced', execArgv: process.env.BENCH_PROFILE === name ? ['--cpu-prof'] : [] }));
  const tell = (order: unknown): void => { child.send(order as object); };
  return {
    pid: child.pid!,
    tell,
    ask: async <Answer>(order: unknown): Promise<Answer> => {
      const answer = Promise.race([once(child, 'message'), once(child, 'exit').then(([code]) => { throw new Error(`${name} ended with ${code}`); })]);
      tell(order);
      const [message] = await answer as [Answer | { readonly error: string }];
      if (typeof message === 'object' && message !== null && 'error' in message) throw new Error(message.error);
      return message as Answer;
    },
    /** Ends once it has nothing left to do. */
    stop: async (): Promise<void> => {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
};

export type Program = ReturnType<typeof startProgram>;

export const adminPassword = 'correct horse battery';

/** Starts the service as shipped on a folder, its access log going to a file there; resolves once it listens. */
export const startService = async (folder: string, settings: Record<string, string> = {}) => {
  const log = openSync(join(folder, 'access.log'), 'a');
  const child = kept(spawn(process.execPath, [...(process.env.BENCH_PROFILE === 'service' ? ['--cpu-prof'] : []), join(dist, 'main.js')], {
    env: { ...process.env, PORT: '0', DATA_DIR: folder, ADMIN_PASSWORD: adminPassword, ...settings },
    stdio: ['ignore', log, 'pipe'],
  }));
  closeSync(log);
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const found = /listens on (\S+)/.exec(said)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`The service ended with ${code}:\n${said}`)));
  });
  return {
    pid: child.pid!,
    url,
    port: Number(new URL(url).port),
    stop: async (): Promise<void> => {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
    },
  };
};

export type Service = Awaited<ReturnType<typeof startService>>;

/** Seconds of processor time that a process has used, all threads; where the system does not tell, NaN. */
export const cpuSeconds = (pid: number): number => {
  try {
    const [user, system] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13);
    return (Number(user) + Number(system)) / 100;
  } catch {
    return NaN;
  }
};

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keys } from './keys.ts';

const dist = fileURLToPath(new URL('../dist/', import.meta.url));
/** With BENCH_PROFILE=<name>, programs of that name (or `service`) leave CPU profiles in dist/profiles. */
const profiled = (name: string): string[] =>
  process.env.BENCH_PROFILE === name ? ['--cpu-prof', `--cpu-prof-dir=${join(dist, 'profiles')}`] : [];

const running = new Set<ChildProcess>();
const folders = new Set<string>();

/** An empty folder, on the disk of this repository or elsewhere, gone when the benchmark ends. */
export const temporary = async (where = dist): Promise<string> => {
  const folder = await mkdtemp(join(where, 'bench-'));
  folders.add(folder);
  return folder;
};

/** Ends all that was started and removes all temporary folders. */
export const cleanUp = (): void => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
};

/** The process; it ends with the benchmark at the latest. */
export const kept = (child: ChildProcess): ChildProcess => {
  running.add(child);
  return child.once('exit', () => running.delete(child));
};

/**
 * A program of the folder `programs`, compiled like the service: `tell` sends it a message, `ask` also waits for its
 * answer.
 */
export const startProgram = (name: string) => {
  const child = kept(
    fork(join(dist, 'bench/bench/programs', `${name}.js`), { serialization: 'advanced', execArgv: profiled(name) }),
  );
  let answered: { resolve: (message: unknown) => void; reject: (error: Error) => void } | undefined;
  child
    .on('message', (message) => answered?.resolve(message))
    .once('exit', (code) => answered?.reject(new Error(`${name} ended with ${code}`)));
  const tell = (order: unknown): void => {
    child.send(order as object);
  };
  return {
    pid: child.pid!,
    tell,
    /** One order at a time. */
    ask: async <Answer>(order: unknown): Promise<Answer> => {
      tell(order);
      const message = await new Promise((resolve, reject) => {
        answered = { resolve, reject };
      });
      if (typeof message === 'object' && message !== null && 'error' in message) throw new Error(String(message.error));
      return message as Answer;
    },
    /** Ends at once. */
    kill: (): void => {
      child.removeAllListeners('exit').kill('SIGKILL');
    },
    /** Ends once it has nothing left to do. */
    stop: async (): Promise<void> => {
      const exit = once(child, 'exit');
      child.disconnect();
      await exit;
    },
  };
};

export const adminPassword = 'correct horse battery';

/** Starts the service as shipped on a folder, its access log going to a file there; resolves once it listens. */
export const startService = async (folder: string, settings: Record<string, string> = {}, program = dist) => {
  const log = openSync(join(folder, 'access.log'), 'a');
  const child = kept(
    spawn(process.execPath, [...profiled('service'), join(program, 'main.js')], {
      env: {
        ...process.env,
        PORT: '0',
        DATA_DIR: folder,
        ADMIN_PASSWORD: adminPassword,
        ...keys,
        ...settings,
      },
      stdio: ['ignore', log, 'pipe'],
    }),
  );
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
    folder,
    url,
    port: Number(new URL(url).port),
    /** Where its log is served, if it is; without user and password. */
    logUrl: /event log on (\S+)/.exec(said)?.[1],
    kill: async (): Promise<void> => {
      child.removeAllListeners('exit').kill('SIGKILL');
      await once(child, 'exit');
    },
    stop: async (): Promise<void> => {
      if (child.signalCode !== null) return;
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

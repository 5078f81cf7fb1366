import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminPassword, basic } from './service.ts';

const main = new URL('../src/main.ts', import.meta.url).pathname;

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'automation-platform-'));

/** The program as a process of its own, from source; `limit` goes before it in a shell (ulimit ...). */
export const startProgram = (args: readonly string[], env: Record<string, string>, limit?: string): { child: ChildProcess; output: () => { out: string; err: string }; ended: Promise<number | null> } => {
  const command = [process.execPath, '--import', 'tsx', main, ...args];
  const child = spawn(limit ? 'bash' : command[0]!, limit ? ['-c', `${limit}; exec "$@"`, 'bash', ...command] : command.slice(1), {
    env: { PATH: process.env.PATH!, LOG_LEVEL: 'warn', ...env }, stdio: ['pipe', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout!.on('data', (chunk) => { out += chunk; });
  child.stderr!.on('data', (chunk) => { err += chunk; });
  return { child, output: () => ({ out, err }), ended: once(child, 'close').then(([code]) => code as number | null) };
};

/** What is found instead of an answer when the connection broke. */
export const noAnswer = { status: 0, body: undefined, text: '', headers: new Headers() };

/** The service as a process of its own over a folder, once it listens. */
export const startServer = async (folder: string, settings: Record<string, string> = {}, limit?: string) => {
  const program = startProgram([], { PORT: '0', DATA_DIR: folder, ADMIN_PASSWORD: adminPassword, ...settings }, limit);
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = /listens on (\S+)/.exec(program.output().err)?.[1];
      if (found) resolve(found);
    };
    program.child.stderr!.on('data', look);
    void program.ended.then((code) => reject(new Error(`ended with ${code}: ${program.output().err}${program.output().out}`)));
  });
  const login = basic({ user: 'admin', password: adminPassword });
  return {
    ...program, url,
    /** Status 0 when the connection broke; JSON as `body`. */
    ask: async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<{ status: number; body: any; text: string; headers: Headers }> => { // a body is whatever the route says
      try {
        const response = await fetch(url + path, {
          method, headers: { Authorization: login, ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers }, ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return { status: response.status, text, body: response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : undefined, headers: response.headers };
      } catch {
        return noAnswer;
      }
    },
    /** Its exit code; null when a signal ended it, which is SIGKILL once it has not come to an end in half a minute. */
    stop: async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
      const patience = setTimeout(() => program.child.kill('SIGKILL'), 30_000);
      program.child.kill(signal);
      return program.ended.finally(() => clearTimeout(patience));
    },
  };
};

export type Server = Awaited<ReturnType<typeof startServer>>;

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { programOf } from './programs.ts';
import { adminPassword, basic } from './service.ts';

const script = transformSync(readFileSync(new URL('cheapPasswords.ts', import.meta.url)), { loader: 'ts' }).code;
const cheapPasswords = `data:text/javascript,${encodeURIComponent(script)}`;

/** `limit` goes before the program in a shell (ulimit ...); `entry` is its file in src. */
type How = { readonly limit?: string | undefined; readonly entry?: string };

export type Program = {
  readonly child: ChildProcess;
  readonly output: () => { out: string; err: string };
  readonly ended: Promise<number | null>;
};

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'automation-platform-'));

/** Collects what a process prints. `ended`: its exit code, null when a signal ended it. */
export const watched = (child: ChildProcess): Program => {
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  return { child, output: () => ({ out, err }), ended: once(child, 'close').then(([code]) => code as number | null) };
};

/** The program as a process of its own. */
export const startProgram = (
  args: readonly string[],
  env: Record<string, string>,
  { limit, entry = 'main.ts' }: How = {},
): Program => {
  const command = [process.execPath, '--import', cheapPasswords, ...programOf(entry), ...args];
  const limited = limit === undefined ? command : ['bash', '-c', `${limit}; exec "$@"`, 'bash', ...command];
  return watched(
    spawn(limited[0]!, limited.slice(1), {
      env: { PATH: process.env.PATH!, LOG_LEVEL: 'warn', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    }),
  );
};

/** What is found instead of an answer when the connection broke. */
export const noAnswer = { status: 0, body: undefined, text: '', headers: new Headers() };

/** The service as a process of its own over a folder, once it listens. */
export const startServer = async (folder: string, settings: Record<string, string> = {}, limit?: string) => {
  const program = startProgram(
    [],
    { PORT: '0', DATA_DIR: folder, ADMIN_PASSWORD: adminPassword, ...settings },
    { limit },
  );
  const url = await new Promise<string>((resolve, reject) => {
    const look = () => {
      const found = /listens on (\S+)/.exec(program.output().err)?.[1];
      if (found) resolve(found);
    };
    program.child.stderr!.on('data', look);
    void program.ended.then((code) =>
      reject(new Error(`ended with ${code}: ${program.output().err}${program.output().out}`)),
    );
  });
  const login = basic({ user: 'admin', password: adminPassword });
  return {
    ...program,
    url,
    /** Status 0 when the connection broke; JSON as `body`. */
    ask: async (
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ): Promise<{ status: number; body: any; text: string; headers: Headers }> => {
      // a body is whatever the route says
      try {
        const response = await fetch(url + path, {
          method,
          headers: {
            Authorization: login,
            ...(body !== undefined && { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        return {
          status: response.status,
          text,
          body: response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : undefined,
          headers: response.headers,
        };
      } catch {
        return noAnswer;
      }
    },
    /** Its exit code; null when a signal ended it, which is SIGKILL once it has not come to an end in 100 seconds. */
    stop: async (signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> => {
      const patience = setTimeout(() => program.child.kill('SIGKILL'), 100_000);
      program.child.kill(signal);
      return program.ended.finally(() => clearTimeout(patience));
    },
  };
};

export type Server = Awaited<ReturnType<typeof startServer>>;

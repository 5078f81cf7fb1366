import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { serviceLogger } from '../../src/process/logger.ts';
import type { Clocks } from '../../src/service/serviceNode.ts';
import { startService as start } from '../../src/service/start.ts';

export const adminPassword = 'correct horse battery';

export type Answer = { status: number; headers: Headers; body: any; text: string }; // a body is whatever the route says

export type Login = { readonly user: string; readonly password: string };

/** The `Authorization` header of Basic. */
export const basic = ({ user, password }: Login): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/**
 * The real service on a free port over a temporary folder, with the account admin. `ask` calls it as admin unless told
 * otherwise; a body that is a string is sent as it is. `stop` ends it and removes the folder; `restart` ends it and
 * starts it again on the same folder.
 */
export const startService = async (settings: Record<string, string> = {}, keepIn?: string, clocks?: Clocks) => {
  const folder = keepIn ?? mkdtempSync(join(tmpdir(), 'automation-platform-'));
  const lines: string[] = [];
  // A slow machine is no fault of the service: whoever tests the 503 says how long it waits.
  const config = readConfig({
    PORT: '0',
    DATA_DIR: folder,
    ADMIN_PASSWORD: adminPassword,
    READ_WAIT_MS: '30000',
    ...settings,
  });
  const write = (line: string): void => {
    lines.push(line);
    if (process.env.TEST_LOG) process.stderr.write(line);
  };
  const service = await start(
    config,
    serviceLogger(process.env.TEST_LOG ?? settings.LOG_LEVEL ?? 'warn', { write }),
    () => undefined,
    { clocks },
  );

  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    login: Login | null = { user: 'admin', password: adminPassword },
  ): Promise<Answer> => {
    const response = await fetch(service.url + path, {
      method,
      headers: {
        ...(login && { Authorization: basic(login) }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };

  const end = async (): Promise<void> => {
    await service.stop();
  };

  return {
    url: service.url,
    /** Where its log is served, if it is. */
    logUrl: service.logUrl,
    folder,
    /** What the service has logged at `warn` and above, or at the LOG_LEVEL of the settings. */
    lines,
    ask,
    /** The same for another login; null: none. */
    as: (login: Login | null) => (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
      ask(method, path, body, headers, login),
    /** Ends it, and leaves the folder. */
    end,
    stop: async (): Promise<void> => {
      await end();
      if (!keepIn) rmSync(folder, { recursive: true, force: true });
    },
    restart: async (more: Record<string, string> = {}) => {
      await end();
      return startService({ ...settings, ...more }, folder);
    },
  };
};

export type TestService = Awaited<ReturnType<typeof startService>>;

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createClient } from 'redis';
import { freePort } from './freePort.ts';

/** A Redis. One given by TEST_REDIS_URL may hold other people's data: it can be asked, but not controlled. */
export type Redis = { readonly url: string; command(...args: string[]): Promise<unknown> };

/** A Redis of the test's own, in a temporary folder; without `SAVE` a restart forgets everything. */
export type OwnRedis = Redis & {
  readonly process: () => ChildProcess;
  start(): Promise<void>;
  /** Without warning, as in a crash. */
  kill(): Promise<void>;
  remove(): Promise<void>;
};

const redisAt = (url: string): Redis => ({
  url,
  async command(...args) {
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    await client.connect();
    return client.sendCommand(args).finally(() => client.destroy());
  },
});

const ownRedis = async (options: readonly string[]): Promise<OwnRedis> => {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', ...options];
  let server: ChildProcess;

  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, 'exit');
    server.kill('SIGKILL');
    await exit;
  };
  const start = async (): Promise<void> => {
    server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).once('exit', () => reject(new Error(`redis-server did not start:\n${output}`)));
      server.stdout!.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        if (output.includes('Ready to accept connections')) resolve();
      });
    });
  };
  await start();
  return {
    ...redisAt(`redis://127.0.0.1:${port}`),
    process: () => server,
    start,
    kill,
    async remove() {
      await kill();
      await rm(folder, { recursive: true });
    },
  };
};

const installed = (process.env['PATH'] ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'redis-server')));

const runnable = (title: string): boolean => {
  if (installed || process.env['CI'] === 'true') return true;
  describe(title, () => {
    it('is not tested here: needs redis-server on the PATH (apt-get install redis-server)');
  });
  return false;
};

/**
 * A suite with a Redis of its own, which it may flush, stop and break. Skipped without redis-server; in CI that fails.
 */
export const describeOwnRedis = (
  title: string,
  suite: (redis: () => OwnRedis) => void,
  options: readonly string[] = [],
): void => {
  if (!runnable(title)) return;
  describe(title, () => {
    let redis: OwnRedis | undefined;
    before(async () => {
      redis = await ownRedis(options);
    });
    after(async () => {
      await redis?.remove();
    });
    suite(() => redis!);
  });
};

const run = randomUUID();

/** A prefix that nobody else uses; its keys are removed after the suite of `describeRedis`. */
export const freshPrefix = (): string => `test-${run}-${randomUUID()}`;

/** A suite that only adds keys, with a fresh prefix, to a Redis: the one of TEST_REDIS_URL, or its own. */
export const describeRedis = (title: string, suite: (redis: () => Redis) => void): void => {
  const url = process.env['TEST_REDIS_URL'];
  if (url === undefined) {
    describeOwnRedis(title, suite);
    return;
  }
  describe(title, () => {
    const redis = redisAt(url);
    after(async () => {
      const keys = (await redis.command('KEYS', `{test-${run}-*`)) as string[];
      if (keys.length > 0) await redis.command('UNLINK', ...keys);
    });
    suite(() => redis);
  });
};

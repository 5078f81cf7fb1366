import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { authorityFile } from '../../src/secrets/certificate.ts';
import { auditKey } from './auditKey.ts';
import { freePort } from './freePort.ts';
import { noAnswer, type Server, startServer, temporaryFolder } from './process.ts';
import { openProxy } from './proxy.ts';
import type { OwnRedis } from './redisServer.ts';
import { adminPassword } from './service.ts';
import { until } from './until.ts';

/** How often it was looked, and how many milliseconds that took, until it was so. */
export type Wait = { readonly looks: number; readonly ms: number };

export const lookUntil = async (what: string, so: () => boolean | Promise<boolean>): Promise<Wait> => {
  const began = performance.now();
  let looks = 0;
  // Others need the processors more than who only looks.
  await until(async () => (++looks && (await so())) || pause(10, false), `seeing that ${what}`);
  return { looks, ms: Math.round(performance.now() - began) };
};

/** How many milliseconds it took until it was so. */
export const soon = async (what: string, so: () => boolean | Promise<boolean>): Promise<number> =>
  (await lookUntil(what, so)).ms;

/** With nothing else running so many looks take 0.9 s. A machine with other work takes longer for each. */
const mostLooks = 20;

/** Checks that all of it was so within a second. */
export const withinSecond = (waits: readonly Wait[]): void => {
  const text = waits.map(({ looks, ms }) => `${ms} ms (${looks} looks)`).join(', ');
  note(`so after ${text}`);
  assert.ok(
    waits.every(({ looks, ms }) => looks <= mostLooks && (!process.env.SOAK_ROUNDS || ms < 1000)),
    text,
  );
};

/** Shows what was measured to whoever sets TEST_LOG. */
export const note = (text: string): void => {
  if (process.env.TEST_LOG) process.stderr.write(`${text}\n`);
};

const secret = 'the same key on every node';

/** One process of a cluster, which can be ended and started again. */
const member = (folder: string, settings: Record<string, string>) => {
  let server: Server | undefined;
  let slept: ChildProcess | undefined;
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    const ending = server;
    server = undefined;
    return ending ? ending.stop(signal) : null;
  };
  return {
    folder,
    /** `limit` goes before the program in a shell. */
    start: async (limit?: string): Promise<void> => {
      server = await startServer(folder, { SECRET_KEY: secret, AUDIT_KEY: auditKey, ...settings }, limit);
    },
    /** Resolves once it has ended, or has not even started. */
    ended: async (): Promise<unknown> => server?.ended,
    runs: (): boolean => server !== undefined,
    /** Where it listens, while it runs. */
    url: (): string => server?.url ?? '',
    /** Status 0 also when it does not run. */
    ask: async (...args: Parameters<Server['ask']>): ReturnType<Server['ask']> => {
      if (server) return server.ask(...args);
      // Who asks again and again must let others have their turn.
      await pause(10);
      return noAnswer;
    },
    /** What a request's connection depends on: another one after each start and, once it has slept, undefined. */
    process: () => (server?.child === slept ? undefined : server?.child),
    /** Stands still until `wake`. It may break connections then, whose time is up. */
    sleep: (): void => {
      slept = server?.child;
      slept?.kill('SIGSTOP');
    },
    wake: (): void => {
      slept?.kill('SIGCONT');
    },
    /** What it has logged since it was last started. */
    logged: (): string => server?.output().out ?? '',
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
};

/** A node of the API in a folder of its own, which reaches its log and its read models as the settings say. */
const apiNodeOf = (name: string, folder: string, settings: Record<string, string>) => {
  const node = member(folder, settings);
  return {
    ...node,
    name,
    status: async () => (await node.ask('GET', '/health/status')).body,
    ready: async (): Promise<boolean> => (await node.ask('GET', '/health/ready')).status === 200,
    leads: async (): Promise<boolean> => (await node.ask('GET', '/health/status')).body?.readStore?.leads === true,
  };
};

export type ApiNode = ReturnType<typeof apiNodeOf>;

/** Which of the nodes leads, once one does so alone, and one that does not. */
const rolesOf = async <N extends ApiNode>(nodes: readonly N[]) => {
  let leads: readonly boolean[] = [];
  await soon('one node leads alone', async () => {
    leads = await Promise.all(nodes.map((node) => node.leads()));
    return leads.filter(Boolean).length === 1;
  });
  return { leader: nodes[leads.indexOf(true)]!, other: nodes[leads.indexOf(false)]! };
};

/**
 * Two API nodes over a log that others run, and one Redis or the memory of each. `isMixed`: the first one has its memory.
 * Nothing runs yet.
 */
export const nodesOver = (eventStoreUrl: string, redis?: OwnRedis, isMixed = false) => {
  const folder = temporaryFolder();
  const settings = { EVENTSTORE_URL: eventStoreUrl, SECRET_KEY: secret, AUDIT_KEY: auditKey };
  const nodes = ['a', 'b'].map((name) =>
    apiNodeOf(name, join(folder, name), {
      ...settings,
      ADMIN_PASSWORD: adminPassword,
      READSTORE_URL: redis && !(isMixed && name === 'a') ? redis.url : 'memory:',
    }),
  );
  return {
    nodes,
    settings,
    start: async (): Promise<void> => {
      for (const node of nodes) await node.start();
    },
    roles: () => rolesOf(nodes),
    remove: async (): Promise<void> => {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const logUrlOf = (logFolder: string, port: number): string =>
  `esdb://admin:${encodeURIComponent(adminPassword)}@localhost:${port}?tlsCAFile=${authorityFile(logFolder)}`;

/** A node that serves its embedded log, and one that uses it; each has read models in memory. Nothing runs yet. */
export const memoryCluster = async (settings: Record<string, string> = {}) => {
  const folder = temporaryFolder();
  const logPort = await freePort();
  const log = apiNodeOf('log', join(folder, 'log'), { ...settings, ESDB_PORT: String(logPort) });
  const other = apiNodeOf('other', join(folder, 'other'), {
    ...settings,
    EVENTSTORE_URL: logUrlOf(log.folder, logPort),
  });
  const nodes = [log, other] as const;
  return {
    log,
    other,
    nodes,
    logFile: join(log.folder, 'events.db'),
    /** The node with the log first: it makes the account that the other needs. */
    start: async (): Promise<void> => {
      for (const node of nodes) await node.start();
    },
    remove: async (): Promise<void> => {
      await Promise.all(nodes.map((node) => node.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/**
 * A log node, which serves its log to others, and API nodes over it and one Redis; each reaches both through proxies of
 * its own. `settings` are those of all of them. Nothing runs yet.
 */
export const cluster = async (redis: OwnRedis, settings: Record<string, string> = {}, size = 2) => {
  const folder = temporaryFolder();
  const logPort = await freePort();
  const log = member(join(folder, 'log'), { ...settings, ESDB_PORT: String(logPort) });
  const logUrl = (port: number): string => logUrlOf(log.folder, port);

  const apiNode = async (name: string) => {
    const [toLog, toRedis] = await Promise.all([openProxy(logPort), openProxy(Number(new URL(redis.url).port))]);
    const node = apiNodeOf(name, join(folder, name), {
      ...settings,
      EVENTSTORE_URL: logUrl(toLog.port),
      READSTORE_URL: `redis://127.0.0.1:${toRedis.port}`,
    });
    return { ...node, toLog, toRedis };
  };
  const nodes = await Promise.all(['a', 'b', 'c'].slice(0, size).map(apiNode));

  return {
    log,
    nodes,
    /** The log, for a reader beside the log node. */
    logFile: join(log.folder, 'events.db'),
    /** What a further node needs to be one on the same log. */
    settings: { EVENTSTORE_URL: logUrl(logPort), SECRET_KEY: secret, AUDIT_KEY: auditKey },
    /** The log node first, since it makes the account that the others need. */
    start: async (): Promise<void> => {
      await log.start();
      await Promise.all(nodes.map((node) => node.start()));
    },
    /** Which node leads, and one that does not. */
    roles: () => rolesOf(nodes),
    /** Starts what does not run, and lets everything through. */
    mend: async (): Promise<void> => {
      for (const { wake, toLog, toRedis } of nodes) {
        wake();
        toLog.resume();
        toRedis.resume();
      }
      if (!log.runs()) await log.start();
      await Promise.all(
        nodes.map(async (node) => {
          if (!node.runs()) await node.start();
        }),
      );
    },
    remove: async (): Promise<void> => {
      await Promise.all([log, ...nodes].map((each) => each.kill()));
      await Promise.all(nodes.flatMap(({ toLog, toRedis }) => [toLog.close(), toRedis.close()]));
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

export type Cluster = Awaited<ReturnType<typeof cluster>>;
export type ClusterNode = Cluster['nodes'][number];

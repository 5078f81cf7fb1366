import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { progress } from './compare.ts';
import { mappings } from './kinds.ts';
import { writeLog } from './logs.ts';
import { adminPassword, type Service, startService, temporary } from './processes.ts';
import { startRedis } from './redis.ts';
import { ask } from './requests.ts';
import { ready } from './service.ts';

/** Nodes that share a log, served by a node of its own, and read models in Redis. */
export type Cluster = {
  /** Starts another node. */
  readonly node: () => Promise<Service>;
  readonly stop: () => Promise<void>;
};

export const withoutRedis = {
  comparisons: [],
  notes: ['**Several nodes are not measured: redis-server is not installed.**'],
};

/** A cluster on a log of so many group mappings, without nodes yet; undefined when redis-server is not installed. */
export const startCluster = async (documents: number): Promise<Cluster | undefined> => {
  const redis = await startRedis();
  if (redis === undefined) return undefined;
  progress(`writing a log of ${documents} group mappings`);
  const folder = join(await temporary(), 'data');
  mkdirSync(folder);
  writeLog(join(folder, 'events.db'), { kinds: [mappings], documents, eventsEach: 1 });
  const log = await startService(folder, { ESDB_PORT: '0' });
  await ready(log.url);
  const EVENTSTORE_URL = log.logUrl!.replace('esdb://', `esdb://admin:${encodeURIComponent(adminPassword)}@`);
  const nodes: Service[] = [];
  return {
    node: async () => {
      const node = await startService(await temporary(), { EVENTSTORE_URL, READSTORE_URL: redis });
      nodes.push(node);
      await ready(node.url);
      return node;
    },
    stop: async () => {
      for (const node of [...nodes, log]) await node.stop();
    },
  };
};

/** Whether a node writes the read models. */
export const leads = async ({ url }: Service): Promise<boolean> =>
  (JSON.parse((await ask(url, 'GET', '/health/status')).body.toString()) as { readStore: { leads: boolean } }).readStore
    .leads;

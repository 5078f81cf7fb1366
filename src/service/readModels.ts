import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Log } from '../concurrency/log.ts';
import type { Config } from '../config.ts';
import { everySource, type ForeignSources } from '../domain/sources.ts';
import { projections } from '../projections/all.ts';
import type { ReadStore } from '../projections/engine/port.ts';
import { collectionsOf } from '../projections/engine/projector.ts';
import type { Projections } from '../projections/engine/run.ts';
import { projectionVersion } from '../projections/engine/version.ts';
import { memoryReadStore } from '../projections/index/memory.ts';
import { redisReadStore } from '../projections/redis/redis.ts';
import { readSnapshot } from '../projections/snapshots/snapshot.ts';
import type { Origin } from '../projections/snapshots/snapshotFile.ts';
import { snapshotName } from '../projections/snapshots/snapshotSeen.ts';
import { snapshots } from '../projections/snapshots/snapshots.ts';

type Needs = {
  readonly config: Pick<Config, 'EVENTSTORE_URL' | 'FOREIGN_EVENTS' | 'READSTORE_URL' | 'DATA_DIR'>;
  /** Id of the log from which the read models are made. */
  readonly logId: string;
  readonly warn: Log;
};

/** The read store of the service, and its snapshots. */
export type ReadModels = {
  readonly kind: 'memory' | 'redis';
  readonly model: ReadStore;
  /** How many events one batch has while catching up. */
  readonly catchUp: number;
  /** Position of the last snapshot; 0 if there is none. */
  readonly snapshotPosition: () => number;
  /** Starts to make snapshots of the projected events. */
  readonly startSnapshots: (run: Projections) => void;
  /** Starts no more snapshots. */
  readonly pauseSnapshots: () => void;
  /** Makes a snapshot, however few events have come. */
  readonly snapshotSoon: () => void;
  /** Removes the snapshot, because it is wrong. The next one is made from the log alone. */
  readonly discardSnapshot: () => Promise<void>;
  /** Whether the documents were made by another version of the program. They serve until they are made anew. */
  readonly isOutdated: () => boolean;
  /** Stops the snapshot in progress. */
  readonly stopSnapshots: () => Promise<void>;
};

const snapshotEvery = 20_000;
const lookEveryMs = 1000;
// A step blocks Redis, so it must be small.
const largestStep = 5_000;

/** This version of the program, and what else decides what documents say. */
const versionWith = (foreign: ForeignSources): string =>
  foreign === everySource ? projectionVersion() : hash('sha256', JSON.stringify([projectionVersion(), foreign]), 'hex');

/** What read models of a log are made by: this version of the program, and the events of others that count. */
export const originOf = (logId: string, foreign: ForeignSources = everySource) => ({
  log: logId,
  version: versionWith(foreign),
  shape: hash('sha256', JSON.stringify(collectionsOf(projections)), 'hex'),
});

/** The read models in the store that READSTORE_URL names. */
export const readModelsOf = (needs: Needs): ReadModels => {
  const origin = originOf(needs.logId, needs.config.FOREIGN_EVENTS);
  const { READSTORE_URL: url } = needs.config;
  return url === undefined ? inMemory(needs, origin) : inRedis(url, `ap:${origin.log}:${origin.version}`);
};

const inRedis = (url: string, prefix: string): ReadModels => ({
  kind: 'redis',
  model: redisReadStore({ url, prefix, collections: collectionsOf(projections) }),
  catchUp: largestStep,
  snapshotPosition: () => 0,
  startSnapshots: () => undefined,
  pauseSnapshots: () => undefined,
  snapshotSoon: () => undefined,
  discardSnapshot: async () => undefined,
  // Another version has keys of its own in Redis.
  isOutdated: () => false,
  stopSnapshots: async () => undefined,
});

const inMemory = ({ config, warn }: Needs, origin: Origin): ReadModels => {
  const file = join(config.DATA_DIR, snapshotName);
  const { EVENTSTORE_URL: at, FOREIGN_EVENTS: foreign } = config;
  const keeping = snapshots({ work: { log: at, file, origin, foreign }, every: snapshotEvery, log: warn });
  let timer: NodeJS.Timeout | undefined;
  let isOutdated = false;
  return {
    kind: 'memory',
    model: memoryReadStore({
      collections: collectionsOf(projections),
      load: async () => {
        const snapshot = await readSnapshot(file, origin, { anyVersion: true });
        isOutdated = snapshot !== undefined && snapshot.version !== origin.version;
        if (snapshot && !isOutdated) keeping.found(snapshot.checkpoint.position);
        return snapshot;
      },
    }),
    // With few batches, a replay into memory writes most documents as JSON once.
    catchUp: Infinity,
    snapshotPosition: keeping.position,
    startSnapshots: (run) => {
      timer = setInterval(() => {
        if (run.ready()) keeping.moved(run.position(), run.taken());
      }, lookEveryMs).unref();
    },
    pauseSnapshots: () => clearInterval(timer),
    snapshotSoon: keeping.soon,
    discardSnapshot: keeping.discard,
    isOutdated: () => isOutdated,
    stopSnapshots: keeping.stop,
  };
};

import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { Log } from '@automation-platform/concurrency';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { everySource, type ForeignSources } from '../domain/sources.ts';
import type { Node } from '../node.ts';
import { projections } from '../projections/all.ts';
import type { ReadStore } from '../projections/engine/port.ts';
import { collectionsOf } from '../projections/engine/projector.ts';
import type { Projections } from '../projections/engine/run.ts';
import { projectionVersion } from '../projections/engine/version.ts';
import type { Compared } from '../projections/foldLog.ts';
import { memoryReadStore } from '../projections/index/memory.ts';
import { type Folder, startFolder } from '../projections/rebuild/folder.ts';
import { rebuild } from '../projections/rebuild/rebuild.ts';
import { redisReadStore } from '../projections/redis/redis.ts';
import { type Origin, readSnapshot, snapshotName } from '../projections/snapshots/snapshot.ts';
import { snapshots } from '../projections/snapshots/snapshots.ts';

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
  /** True if the documents were made by another version of the program. They serve until they are made anew. */
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

/** The origin of the read models of a log: this version of the program, and the events of other programs that count. */
export const originOf = (logId: string, foreign: ForeignSources = everySource) => ({
  log: logId,
  version: versionWith(foreign),
  shape: hash('sha256', JSON.stringify(collectionsOf(projections)), 'hex'),
});

/** The read models in the store that READSTORE_URL names. */
export const readModelsOf = (config: Config, logId: string, warn: Log): ReadModels => {
  const origin = originOf(logId, config.FOREIGN_EVENTS);
  const { READSTORE_URL: url } = config;
  return url === undefined ? inMemory(config, origin, warn) : inRedis(url, `ap:${origin.log}:${origin.version}`);
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

const inMemory = (config: Config, origin: Origin, warn: Log): ReadModels => {
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

/** Rebuilds the read models of a running service. */
export type Rebuilding = {
  /** A caller who asks while one is made gets the result of that one. */
  readonly rebuild: () => Promise<readonly Compared[]>;
  /** Rebuilds read models that another version of the program has made, once they can be read. */
  readonly afterUpgrade: (stop: AbortSignal) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export const rebuildingOf = (config: Config, node: Node, readModels: ReadModels, logger: Logger): Rebuilding => {
  const { model, run, changes } = node;
  let folder: Folder | undefined;
  let atWork: Promise<readonly Compared[]> | undefined;

  const tell = (collections: readonly Compared[]): void => {
    for (const { name, differences } of collections)
      if (differences.length > 0)
        logger.warn({ collection: name, differences }, 'Documents differed from the log; they were put right');
  };

  const make = async (): Promise<readonly Compared[]> => {
    if (!run.leadership.held()) throw new RequestError('conflict', 'Another node writes the read models; ask that one');
    if (!run.ready()) throw new RequestError('conflict', 'The read models are being made already');
    folder = startFolder({ log: config.EVENTSTORE_URL, foreign: config.FOREIGN_EVENTS });
    try {
      const collections = collectionsOf(projections);
      const compared = await rebuild({ model, run, touched: changes, collections, folder });
      tell(compared);
      return compared;
    } finally {
      await folder.stop();
    }
  };

  const begin = (): Promise<readonly Compared[]> =>
    (atWork ??= make().finally(() => {
      atWork = undefined;
    }));

  const rebuildNow = async (): Promise<readonly Compared[]> => {
    const compared = await begin();
    // The next start would show the same faults, and the next snapshot would be made from this one.
    if (compared.some(({ differences }) => differences.length > 0)) await readModels.discardSnapshot();
    return compared;
  };

  return {
    rebuild: rebuildNow,
    afterUpgrade: async (stop) => {
      await run.whenReady(stop);
      if (stop.aborted || !readModels.isOutdated()) return;
      logger.info('The read models are those of another version; they are made anew while they serve');
      try {
        await begin();
        readModels.snapshotSoon();
        logger.info('The read models are those of this version');
      } catch (error) {
        if (!stop.aborted) logger.error({ err: error }, 'The read models of another version could not be made anew');
      }
    },
    stop: async () => {
      await folder?.stop();
      await atWork?.catch(() => undefined);
    },
  };
};

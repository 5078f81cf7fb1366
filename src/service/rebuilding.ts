import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { RequestError } from '../domain/engine/requestError.ts';
import { projections } from '../projections/all.ts';
import type { Compared } from '../projections/compareFolds.ts';
import { collectionsOf } from '../projections/engine/projector.ts';
import { type Folder, startFolder } from '../projections/rebuild/folder.ts';
import { rebuild } from '../projections/rebuild/rebuild.ts';
import type { Node } from './node.ts';
import type { ReadModels } from './readModels.ts';

type Needs = {
  readonly config: Pick<Config, 'EVENTSTORE_URL' | 'FOREIGN_EVENTS'>;
  readonly node: Pick<Node, 'model' | 'run' | 'changes'>;
  readonly readModels: Pick<ReadModels, 'isOutdated' | 'snapshotSoon' | 'discardSnapshot'>;
  readonly logger: Logger;
};

/** Rebuilds the read models of a running service. */
export type Rebuilding = {
  /** Whoever asks while one is made gets the result of that one. */
  readonly rebuild: () => Promise<readonly Compared[]>;
  /** Rebuilds read models that another version of the program has made, once they can be read. */
  readonly afterUpgrade: (stop: AbortSignal) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export const rebuildingOf = ({ config, node, readModels, logger }: Needs): Rebuilding => {
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

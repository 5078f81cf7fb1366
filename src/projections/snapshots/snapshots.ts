import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import type { Log } from '@automation-platform/concurrency';
import { startWorker } from '../../process/startWorker.ts';
import type { SnapshotWork } from './snapshotWorker.ts';

type Needs = {
  readonly work: SnapshotWork;
  /** How many new events make a new snapshot worthwhile. */
  readonly every: number;
  readonly log: Log;
};

/** The shortest time between the end of a snapshot and the start of the next one, in milliseconds. */
const restMs = 30_000;

/**
 * Makes a snapshot in a worker whenever enough events have come since the last one. Positions do not count events: in
 * EventStoreDB they are bytes.
 */
export const snapshots = ({ work, every, log }: Needs) => {
  let savedCount = 0;
  let counted = 0;
  let notBefore = 0;
  let worker: Worker | undefined;

  const make = async (position: number, savedAt: number): Promise<void> => {
    worker = startWorker('projections/snapshots/snapshotWorker', work);
    try {
      const [code] = await once(worker, 'exit');
      if (code === 0) {
        savedCount = position;
        counted = savedAt;
      }
    } catch (error) {
      log('A snapshot failed; the last one stays', { error });
    }
    notBefore = performance.now() + restMs;
    worker = undefined;
  };

  /** Makes a new one at the next call of `moved`. */
  const soon = (): void => {
    counted = -every;
  };
  /** Stops the snapshot in progress. Its file appears complete or not at all. */
  const stop = async (): Promise<void> => {
    await worker?.terminate();
  };

  return {
    /** Call now and then, with the position of the read models and the number of events projected since the start. */
    moved: (position: number, savedAt: number): void => {
      if (savedAt - counted >= every && !worker && performance.now() >= notBefore) void make(position, savedAt);
    },
    soon,
    /** A position that the last snapshot has reached; the snapshot may be newer. */
    position: (): number => savedCount,
    /** Notes the position of a snapshot that exists already. */
    found: (position: number): void => {
      savedCount = Math.max(savedCount, position);
    },
    /** Removes a snapshot that is wrong. The next one is made from the log alone. */
    discard: async (): Promise<void> => {
      await stop();
      // At once, so that no snapshot begins with it meanwhile.
      rmSync(work.file, { force: true });
      savedCount = 0;
      soon();
    },
    stop,
  };
};

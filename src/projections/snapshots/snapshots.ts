import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../../startWorker.ts';
import type { SnapshotWork } from './snapshotWorker.ts';

type Needs = {
  readonly work: SnapshotWork;
  /** Events after which a new snapshot is worth its work. */
  readonly every: number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** Least time between the end of a snapshot and the next one. */
const restMs = 30_000;

/**
 * Has a snapshot made in a worker whenever enough events have come since the last one. Positions do not tell how many:
 * in EventStoreDB they are bytes.
 */
export const snapshots = ({ work, every, log }: Needs) => {
  let done = 0;
  let counted = 0;
  let notBefore = 0;
  let worker: Worker | undefined;

  const make = async (position: number, taken: number): Promise<void> => {
    worker = startWorker('snapshotWorker', import.meta.url, work);
    try {
      const [code] = await once(worker, 'exit');
      if (code === 0) {
        done = position;
        counted = taken;
      }
    } catch (error) {
      log('A snapshot failed; the last one stays', { error });
    }
    notBefore = performance.now() + restMs;
    worker = undefined;
  };

  return {
    /** Told the position of the read models now and then, and how many events they have taken since the start. */
    moved: (position: number, taken: number): void => {
      if (taken - counted >= every && !worker && performance.now() >= notBefore) void make(position, taken);
    },
    /** Position that the last snapshot has at least. */
    position: (): number => done,
    /** Told the position of a snapshot that is there. */
    found: (position: number): void => {
      done = Math.max(done, position);
    },
    /** Gives up the one under way: its file appears complete or not at all. */
    stop: async (): Promise<void> => {
      await worker?.terminate();
    },
  };
};

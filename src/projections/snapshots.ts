import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { startWorker } from '../startWorker.ts';
import type { SnapshotWork } from './snapshotWorker.ts';

type Needs = {
  readonly work: SnapshotWork;
  /** Events after which a new snapshot is worth its work. */
  readonly every: number;
  readonly log: (message: string, about: Record<string, unknown>) => void;
};

/** Least time between the end of a snapshot and the next one. */
const restMs = 30_000;

/** Has a snapshot made in a worker whenever enough has happened since the last one. */
export const snapshots = ({ work, every, log }: Needs) => {
  let done = 0;
  let notBefore = 0;
  let worker: Worker | undefined;

  const make = async (position: number): Promise<void> => {
    worker = startWorker('snapshotWorker', import.meta.url, work);
    try {
      const [code] = await once(worker, 'exit');
      if (code === 0) done = position;
    } catch (error) {
      log('A snapshot failed; the last one stays', { error });
    }
    notBefore = performance.now() + restMs;
    worker = undefined;
  };

  return {
    /** Told the position of the read models now and then. */
    moved: (position: number): void => {
      if (position - done >= every && !worker && performance.now() >= notBefore) void make(position);
    },
    /** Position that the last snapshot has at least. */
    position: (): number => done,
    /** Told the position of a snapshot that is there. */
    found: (position: number): void => { done = Math.max(done, position); },
    /** Gives up the one under way: its file appears complete or not at all. */
    stop: async (): Promise<void> => { await worker?.terminate(); },
  };
};

import { once } from 'node:events';
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
  let running: Promise<void> | undefined;

  const make = async (position: number): Promise<void> => {
    const worker = startWorker('snapshotWorker', import.meta.url, work);
    try {
      await once(worker, 'exit');
      done = position;
    } catch (error) {
      log('A snapshot failed; the last one stays', { error });
    }
    notBefore = performance.now() + restMs;
    running = undefined;
  };

  return {
    /** Told the position of the read models now and then. */
    moved: (position: number): void => {
      if (position - done >= every && !running && performance.now() >= notBefore) running = make(position);
    },
    /** Position that the last snapshot has at least. */
    position: (): number => done,
    stop: async (): Promise<void> => { await running; },
  };
};

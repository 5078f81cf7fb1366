import type { Findings } from './compare.ts';
import { heartbeats, idleWorkers } from './waitingWorkers.ts';
import { claimToReport } from './wholeJobs.ts';

/** (w) What workers cost. */
export const working = async (): Promise<Findings> => {
  const parts = [await claimToReport(), await idleWorkers(), await heartbeats()];
  return {
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
    notes: parts.flatMap(({ notes = [] }) => notes),
  };
};

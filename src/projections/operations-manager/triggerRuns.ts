import { triggerRuns as runs } from '../../domain/operations-manager/triggerRuns.ts';
import { idOf, projection } from '../engine/define.ts';

/** The outcome of a trigger's firing. No route serves this document; the answers of triggers show `lastExecuted`. */
export type RunsDoc = {
  readonly trigger: string;
  /** The start of the last job, epoch milliseconds. */
  readonly lastExecuted: number | null;
};

/** The milliseconds by which the clocks of two nodes may differ. */
const tolerated = 60_000;

export const triggerRuns = projection<RunsDoc>()(runs, {
  collection: 'triggerRuns',
  on: {
    triggerRan: (doc, event) => {
      const { data, metadata } = event;
      const lastRun = doc?.lastExecuted ?? 0;
      const isToCome = lastRun > Date.parse(metadata.at) + tolerated;
      // Another node may have noted a later run first. A time that is still to come was told by a wrong clock.
      return { trigger: idOf(event), lastExecuted: Math.max(isToCome ? 0 : lastRun, Date.parse(data.at)) };
    },
    runsRefused: (doc, event) => doc ?? { trigger: idOf(event), lastExecuted: null },
  },
  sorts: { trigger: ({ trigger }) => trigger },
  filters: {},
});

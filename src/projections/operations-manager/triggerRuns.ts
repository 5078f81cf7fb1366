import { triggerRuns as runs } from '../../domain/operations-manager/triggerRuns.ts';
import { projection } from '../engine/define.ts';
import { idOf } from '../engine/stamps.ts';

/** What came of a trigger's firing. No route serves this document; the answers of triggers show `lastExecuted`. */
export type RunsDoc = {
  readonly trigger: string;
  /** The start of the last job, epoch milliseconds. */
  readonly lastExecuted: number | null;
};

export const triggerRuns = projection<RunsDoc>()(runs, {
  collection: 'triggerRuns',
  on: {
    triggerRan: (doc, event) => ({
      trigger: idOf(event),
      // Another node may have noted a later run first.
      lastExecuted: Math.max(doc?.lastExecuted ?? 0, Date.parse(event.data.at)),
    }),
    runsRefused: (doc, event) => doc ?? { trigger: idOf(event), lastExecuted: null },
  },
  sorts: { trigger: ({ trigger }) => trigger },
  filters: {},
});

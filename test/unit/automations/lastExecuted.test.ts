import assert from 'node:assert/strict';
import { project } from '../../../src/projections/engine/define.ts';
import { type RunsDoc, triggerRuns } from '../../../src/projections/operations-manager/triggerRuns.ts';
import type { Recorded } from '../../../src/store/event.ts';

const noon = Date.UTC(2026, 0, 5, 12);
const second = 1000;
const day = 86_400 * second;

/** Notes of runs in the order of the log: when the job was started, and when that was noted. */
const lastExecuted = (notes: readonly (readonly [started: number, noted: number])[]): number | null | undefined =>
  notes.reduce<RunsDoc | undefined>((doc, [started, noted], revision) => {
    const at = (ms: number): string => new Date(noon + ms).toISOString();
    const event = {
      stream: 'triggerRuns-1',
      revision,
      topic: 'triggerRan',
      data: { count: 1, job: 'j', at: at(started) },
      metadata: { at: at(noted) },
    };
    return project(triggerRuns, doc, event as unknown as Recorded); // with the members that the projection reads
  }, undefined)?.lastExecuted;

describe('lastExecuted of a trigger', () => {
  it('is the start of its last job', () => {
    assert.equal(
      lastExecuted([
        [0, 0],
        [5 * second, 6 * second],
      ]),
      noon + 5 * second,
    );
  });

  it('stays when another node notes an earlier start later', () => {
    assert.equal(
      lastExecuted([
        [5 * second, 5 * second],
        [0, 9 * second],
      ]),
      noon + 5 * second,
    );
    assert.equal(
      lastExecuted([
        [5 * second, 5 * second],
        [-20 * second, -20 * second],
      ]),
      noon + 5 * second,
    );
  });

  it('goes back to the present with the first start after a wrong clock', () => {
    assert.equal(
      lastExecuted([
        [0, 0],
        [3650 * day, 3650 * day],
        [second, second],
      ]),
      noon + second,
    );
  });
});

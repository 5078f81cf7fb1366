import assert from 'node:assert/strict';
import type { Recorded } from '../../src/store/event.ts';

/** The events by which a trigger's schedule was decided and its runs refused, and its jobs. */
export const outcomeOf = (events: readonly Recorded<any>[], id: string) => {
  const of = (stream: string) => events.filter((event) => event.stream === `${stream}-${id}`);
  return {
    decided: of('triggerSchedule').slice(1),
    refused: of('triggerRuns').filter(({ topic }) => topic === 'runsRefused'),
    jobs: events.filter(({ topic, data }) => topic === 'jobStarted' && data.trigger === id),
  };
};

/** Asserts that all instants from the first one on are settled, each once, and gives those that ran. */
export const ranOf = (decided: readonly Recorded<any>[], first: number, step: number): readonly number[] => {
  let next = first;
  const ran: number[] = [];
  for (const { topic, data } of decided) {
    if (topic === 'runsMissed') {
      assert.deepEqual([data.first, data.last], [next, next + (data.count - 1) * step]);
      next = data.last + step;
    } else {
      assert.equal(data.instant, next);
      ran.push(next);
      next += step;
    }
  }
  return ran;
};

import assert from 'node:assert/strict';
import type { Tools } from '../../../src/commands/engine/define.ts';
import { lastRunsOf } from '../../../src/commands/operations-manager/jobReading.ts';
import { type TimedEvent, taskHistory } from '../../../src/domain/operations-manager/workflows/taskHistory.ts';
import { jobOf, ours, worker, workflow } from '../../support/workflowSamples.ts';

/** The events of a job with a loop, a wait and ways back, each at a time of its own. */
const sample = (): readonly TimedEvent[] => {
  const document = workflow(
    {
      each: ours('forEach', { data_array: [1, 2, 3] }),
      turn: ours('newVariable', { name: 'x', value: 1 }),
      wait: ours('delay', { time: 1 }),
      w: worker(),
    },
    ['start -> each', 'each -loop-> turn', 'each -> wait', 'wait -> w', 'wait <-failure- w', 'w -> end'],
  );
  const job = jobOf(document);
  let now = 1_000_000;
  for (const [run, result] of ['failure', 'failure', 'success'].entries()) {
    now += 1000;
    job.at(now);
    job.act([{ topic: 'taskFinished', data: { task: 'w', run: run + 1, result: result as 'success', outgoing: {} } }]);
  }
  assert.equal(job.state().status, 'complete');
  return job.events().map((event, place) => ({ ...event, at: new Date(place * 1000).toISOString() }));
};

describe('The last runs of tasks', () => {
  const events = sample();
  const wanted = (last: number) =>
    new Map([...taskHistory(events.slice(0, last + 1))].map(([task, runs]) => [task, runs.at(-1)]));

  /** Tools over these events alone, and the numbers of events that were read. */
  const counting = () => {
    const read: number[] = [];
    const tools = {
      events: async (_: unknown, __: string, last: number, from = 0) => {
        const found = events.slice(from, last + 1);
        read.push(found.length);
        return found.map(({ at, ...event }) => ({ ...event, metadata: { at } }));
      },
    } as unknown as Pick<Tools, 'events'>;
    return { tools, read };
  };

  it('are those of the whole history, at each revision', async () => {
    for (const last of events.keys()) {
      const { tools } = counting();
      assert.deepEqual(await lastRunsOf('j', last, tools), wanted(last));
    }
  });

  it('are read on from where they were read before, and earlier ones anew', async () => {
    const { tools, read } = counting();
    for (const last of events.keys()) assert.deepEqual(await lastRunsOf('j', last, tools), wanted(last));
    assert.deepEqual(
      read.splice(0),
      events.map(() => 1),
    );
    const end = events.length - 1;
    await lastRunsOf('j', end, tools);
    assert.deepEqual(read.splice(0), []);
    assert.deepEqual(await lastRunsOf('j', 3, tools), wanted(3));
    assert.deepEqual(read.splice(0), [4]);
    await lastRunsOf('j', end, tools);
    assert.deepEqual(read, []);
  });
});

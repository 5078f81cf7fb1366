import assert from 'node:assert/strict';
import type { Tools } from '../../../src/commands/engine/define.ts';
import { lastRunsOf } from '../../../src/commands/operations-manager/jobReading.ts';
import { runFinder, type TimedEvent } from '../../../src/domain/operations-manager/workflows/taskHistory.ts';
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
  const taskIds = new Set(events.flatMap(({ data }: any) => data.task ?? []));
  /** The run of a task up to an event, the state before it, which is the number of events, and its outcome. */
  const find = (task: string, last: number, run?: number) => {
    const finder = runFinder(task, run, 0);
    for (const [place, event] of events.slice(0, last + 1).entries()) finder.take(event, place);
    return finder.found();
  };
  const wanted = (last: number) =>
    new Map(
      [...taskIds].flatMap((task) => {
        const { run } = find(task, last);
        return run ? [[task, run] as const] : [];
      }),
    );

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

  it('are found with the state before them and their outcome, as is any other run', () => {
    const end = events.length - 1;
    const results = (task: string) => find(task, end).runs.map(({ run, result }) => [run, result]);
    assert.deepEqual(results('w'), [
      [1, 'failure'],
      [2, 'failure'],
      [3, 'success'],
    ]);
    for (const [run, result] of results('w') as [number, string][]) {
      const { run: found, before, outcome } = find('w', end, run);
      assert.equal(
        before,
        events.findIndex(({ topic, data }: any) => topic === 'taskOffered' && data.run === run),
      );
      assert.deepEqual([found?.from, outcome?.result], [events[before]?.at, result]);
    }
    assert.equal(find('w', end).run?.run, 3);
    assert.equal(find('w', end, 4).run, undefined);
    assert.equal(find('turn', end, 2).outcome?.result, 'success');
  });

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

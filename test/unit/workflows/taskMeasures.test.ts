import assert from 'node:assert/strict';
import { taskMeasures } from '../../../src/runners/jobs/taskMeasures.ts';

describe('Measures of tasks', () => {
  it('count each run by who carried it out, with the time that it was open', () => {
    const counted: unknown[] = [];
    let now = 0;
    const measures = taskMeasures({ now: () => now, count: (...one) => counted.push(one) });
    const tell = (topic: string, data: object) => measures.onOwn({ stream: 'job-j', topic, data });
    const since = new Date(-5000).toISOString();
    const open = { run: 1, to: { groups: ['ops'] }, since, due: null, isRetried: false, claim: null };
    measures.see('j.p.1', open);
    tell('taskOffered', { task: 'w', run: 1, to: { worker: { app: 'A', name: 'n', adapter: null } } });
    tell('taskOffered', { task: 'n', run: 1, to: { platform: true } });
    tell('taskStarted', { task: 'd', run: 1 });
    now = 2000;
    tell('taskFinished', { task: 'd', run: 1, result: 'loop' });
    tell('taskFinished', { task: 'x', run: 1, result: 'failure' });
    for (const task of ['p', 'w', 'n', 'd']) tell('taskFinished', { task, run: 1, result: 'success' });
    assert.deepEqual(counted, [
      ['instant', 'failure', 0],
      ['people', 'success', 7],
      ['worker', 'success', 2],
      ['node', 'success', 2],
      ['engine', 'success', 2],
    ]);
  });

  it('are counted by the node that ends the run alone, whichever node began it', () => {
    const counted: unknown[] = [];
    let now = 0;
    const nodes = ['one', 'two'].map((node) =>
      taskMeasures({ now: () => now, count: (...run) => counted.push([node, ...run]) }),
    );
    const store = (by: number, topic: string, data: object): void => {
      const event = { stream: 'job-j', topic, data };
      nodes[by]?.onOwn(event);
      for (const node of nodes) node.onEvent(event);
    };
    const to = { worker: { app: 'A', name: 'n', adapter: null } };
    store(0, 'taskOffered', { task: 'w', run: 1, to });
    now = 3000;
    store(1, 'taskFinished', { task: 'w', run: 1, result: 'success' });
    // The node hears of a run once more that it has ended itself.
    store(1, 'taskOffered', { task: 'w', run: 2, to });
    store(1, 'taskFinished', { task: 'w', run: 2, result: 'error' });
    assert.deepEqual(counted, [
      ['two', 'worker', 'success', 3],
      ['two', 'worker', 'error', 0],
    ]);
  });
});

import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { simulate } from '../../../src/domain/operations-manager/workflows/simulate.ts';
import { ours, person, worker, workflow, workOn } from '../../support/workflowSamples.ts';

describe('simulate', () => {
  const tasks = {
    d: ours('delay', { time: 3600 }),
    w: worker(
      {},
      {
        variables: { outgoing: { out: '$var.job.out' } },
        retrySettings: { autoRetry: true, limit: 1, delay: 9000, state: ['error'] },
      },
    ),
    p: person(),
    t: ours(
      'transformation',
      { tr_id: 'double', variableMap: { n: '$var.job.out' } },
      { variables: { outgoing: { doubled: '$var.job.doubled' } } },
    ),
  };
  const document = workflow(tasks, ['start -> d', 'd -> w', 'w -> p', 'w <-failure- p', 'p -> t', 't -> end']);
  const transform = ({ variableMap }: any) => ({ doubled: variableMap.n * 2 }); // inputs are any JSON

  it('gives each task its answers one after the other, and skips time', () => {
    const answers = {
      w: [
        { result: 'error', error: 'x' },
        { result: 'success', outgoing: { out: 4 } },
      ],
      p: [{ result: 'failure' }, { result: 'success' }],
    } as const;
    const {
      status,
      state,
      events,
      tasks: views,
      progress,
    } = simulate(workOn(document), { variables: {}, answers, transform });
    assert.equal(status, 'complete');
    const ends = events.flatMap((event) =>
      event.topic === 'taskFinished' ? [`${event.data.task} ${event.data.run} ${event.data.result}`] : [],
    );
    assert.deepEqual(ends, [
      'workflow_start 1 success',
      'd 1 success',
      'w 1 error',
      'w 2 success',
      'p 1 failure',
      'w 3 success',
      'p 2 success',
      't 1 success',
      'workflow_end 1 success',
    ]);
    assert.deepEqual([views.t?.status, views.w?.run, progress, state.runs], ['done', 3, 1, 9]);
    assert.equal(
      events.find(({ topic }) => topic === 'taskStarted')?.topic,
      'taskStarted',
      'a delay starts as in a job',
    );
    assert.deepEqual(
      state.variables.layers.flatMap((layer) => [...layer]).filter(([name]) => name === 'doubled'),
      [['doubled', 8]],
    );
  });

  it('ends when it takes too long', () => {
    const refuses = () =>
      simulate(workOn(document), { variables: {}, answers: { p: [{ result: 'failure' }] } }, () => true);
    assert.throws(refuses, (error) => error instanceof RequestError && error.code === 'unprocessable');
  });
});

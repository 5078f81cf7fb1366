import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import type { Outcome } from '../../../src/domain/operations-manager/workflows/controlTasks.ts';
import { simulate } from '../../../src/domain/operations-manager/workflows/simulate.ts';
import { finishTask } from '../../../src/domain/operations-manager/workflows/taskClaims.ts';
import { taskIn } from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { inTurn } from '../../support/inTurn.ts';
import { drawing, randomWorkflow } from '../../support/randomWorkflows.ts';
import { seed } from '../../support/sample.ts';
import { jobOf, ours, person, plainState, worker, workflow, workOn } from '../../support/workflowSamples.ts';

/** `npm run soak` tries 1,000 workflows, `npm test` the first 100. */
const workflows = process.env.SOAK_ROUNDS ? 1000 : 20;
const mostRounds = 200;
const ann = { id: 'a'.repeat(24), admin: false };

/** In a simulation all times have come: the same task in a job has to wait for none. */
const withoutTimes = (task: any): void => {
  delete task.timeLimit;
  if (task.retrySettings) task.retrySettings.delay = 0;
  const { incoming } = task.variables ?? {};
  for (const member of ['time', 'minutes']) if (incoming && member in incoming) incoming[member] = 0;
};

const orEndless = <T>(run: () => T): T | undefined => {
  try {
    return run();
  } catch (error) {
    if (error instanceof RequestError) return undefined;
    throw error;
  }
};

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

  it(`has the events of a run, in ${workflows} random workflows`, async function () {
    this.timeout(60_000 + workflows * 100);
    let compared = 0;
    const compare = (size: number, tape: readonly number[]): void => {
      const chance = drawing(tape);
      const document = randomWorkflow(size, chance);
      for (const task of Object.values<any>(document.tasks)) withoutTimes(task);
      const variables = { v0: 1, v1: 'text1', list: ['x', 2] };
      const { graph } = workOn(document);
      const answers: Record<string, Outcome[]> = {};
      for (const { id, kind } of graph.tasks)
        answers[id] = Array.from({ length: 1 + chance.draw(3) }, () => {
          const result = chance.pick('success', 'success', 'failure', kind === 'people' ? 'success' : 'error');
          const outcome = { result, outgoing: { out: chance.draw(3), password: 'pw' } } as const;
          return result === 'error' ? { ...outcome, error: 'bad' } : outcome;
        });
      let rounds = 0;
      const simulation = orEndless(() =>
        simulate(workOn(document), { variables, answers }, () => ++rounds > mostRounds),
      );
      // A way back that is always taken goes on for ever.
      if (!simulation) return;
      compared++;
      const job = jobOf(document, variables);
      const count = new Map<string, number>();
      for (;;) {
        const state = job.state();
        const task = graph.tasks.find(({ id }) => taskIn(state, id).status === 'open' && taskIn(state, id).to);
        if (state.status !== 'running' || !task) break;
        const { id } = task;
        const n = count.get(id) ?? 0;
        count.set(id, n + 1);
        const outcome = answers[id]!.at(Math.min(n, answers[id]!.length - 1))!;
        job.act(finishTask(job.work(), state, { task: id, run: taskIn(state, id).run, outcome }, ann));
      }
      assert.deepEqual(JSON.parse(JSON.stringify(simulation.events)), job.events());
      assert.deepEqual(plainState(simulation.state), plainState(job.state()));
    };
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.nat(1000), { minLength: 300, maxLength: 1000, size: 'max' }),
        inTurn(compare),
      ),
      { numRuns: workflows, seed, endOnFailure: process.env.SOAK_ROUNDS === undefined },
    );
    assert.ok(compared > workflows / 2, `${compared} came to an end`);
  });
});

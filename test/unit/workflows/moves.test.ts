import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import {
  claimTask,
  finishTask,
  lapseTask,
  reserveTask,
} from '../../../src/domain/operations-manager/workflows/taskClaims.ts';
import { continueFrom, retryJob, retryTask } from '../../../src/domain/operations-manager/workflows/taskMoves.ts';
import {
  foldTasks,
  taskIn,
  type WorkflowJobEvent,
} from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { inTurn } from '../../support/inTurn.ts';
import { drawing, randomWorkflow } from '../../support/randomWorkflows.ts';
import { seed } from '../../support/sample.ts';
import { jobOf, plainState } from '../../support/workflowSamples.ts';

const jobs = process.env.SOAK_ROUNDS ? 1000 : 5;
const most = 1000;
const ann = { id: 'a'.repeat(24), admin: false };
const hour = 3_600_000;

/** Moves a random job in all orders while its tasks end, are claimed and lost, and the clock jumps. */
const moveAbout = (size: number, tape: readonly number[]): void => {
  const { draw, pick, ...chance } = drawing(tape);
  const job = jobOf(randomWorkflow(size, { draw, pick, ...chance }), { v0: 1, list: ['x', 2] });
  let now = 1_000_000;
  const under = () =>
    job
      .work()
      .graph.tasks.filter(({ id }) => ['open', 'retrying', 'entering'].includes(taskIn(job.state(), id).status));
  /** Does a move; one that is refused changes nothing. */
  const move = (decide: () => readonly WorkflowJobEvent[]): void => {
    try {
      job.act(decide());
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
    }
  };
  const check = (): void => {
    const state = job.state();
    if (state.status === 'running') assert.ok(under().length > 0, 'a job that runs has something under way');
    assert.deepEqual(plainState(foldTasks(job.events())), plainState(state));
  };
  check();
  for (let step = 0; step < most && !chance.isOver(); step++) {
    const state = job.state();
    const { graph } = job.work();
    const { id } = pick(...graph.tasks);
    const isLive = state.status === 'running' || state.status === 'paused';
    const offered = graph.tasks.filter((task) => taskIn(state, task.id).status === 'open' && taskIn(state, task.id).to);
    const one = offered.length > 0 ? pick(...offered).id : id;
    const { run, claims } = taskIn(state, one);
    const result = pick('success', 'failure', 'error');
    const outcome = { result, outgoing: {}, ...(result === 'error' ? { error: 'bad' } : {}) } as { result: 'success' };
    const of = { task: one, run };
    const held = claims.held ?? { claim: 1, until: 0 };
    move(
      pick<() => readonly WorkflowJobEvent[]>(
        () => finishTask(job.work(), state, { ...of, outcome, claim: held.claim }, ann),
        () => finishTask(job.work(), state, { ...of, outcome }, ann),
        () => claimTask(state, { ...of, worker: 'w', lease: 60 }, now, ann),
        () => reserveTask(state, { ...of, worker: 'ann' }, ann),
        () =>
          held.until === null ? [] : lapseTask(job.work(), state, { ...of, claim: held.claim, until: held.until }),
        () => (state.status === 'running' ? [{ topic: 'jobPaused', data: {} }] : []),
        () => (state.status === 'paused' ? [{ topic: 'jobResumed', data: {} }] : []),
        () => (isLive && draw(20) === 0 ? [{ topic: 'jobCanceled', data: {} }] : []),
        () => (isLive && draw(4) === 0 ? [{ topic: 'jobErrored', data: { error: 'ended from outside' } }] : []),
        () => retryJob(job.work(), state),
        () => retryTask(job.work(), state, { task: id, outcome: { result: 'success' } }),
        () => continueFrom(job.work(), state, { task: id, variables: { v0: draw(3) } }),
        () => {
          now += pick(-hour, hour, 1000, 7 * 24 * hour);
          job.at(now);
          return [];
        },
      ),
    );
    check();
    if (job.state().status === 'canceled') return;
  }
};

describe('moves of jobs in all orders', () => {
  it(`leave no job that neither waits nor has ended, in ${jobs} random workflows`, async function () {
    this.timeout(60_000 + jobs * 2000);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 12 }),
        fc.array(fc.nat(1000), { minLength: 300, maxLength: 3000, size: 'max' }),
        inTurn(moveAbout),
      ),
      { numRuns: jobs, seed, endOnFailure: process.env.SOAK_ROUNDS === undefined },
    );
  });
});

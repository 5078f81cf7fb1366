import assert from 'node:assert/strict';
import fc from 'fast-check';
import { entriesIn } from '../../../src/domain/engine/layeredMap.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { finishTask } from '../../../src/domain/operations-manager/workflows/taskClaims.ts';
import { continueFrom, retryJob, retryTask } from '../../../src/domain/operations-manager/workflows/taskMoves.ts';
import {
  foldTasks,
  taskIn,
  type WorkflowJobEvent,
} from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { workflowFaults } from '../../../src/domain/operations-manager/workflows/workflowFaults.ts';
import { inTurn } from '../../support/inTurn.ts';
import { drawing, randomWorkflow } from '../../support/randomWorkflows.ts';
import { seed } from '../../support/sample.ts';
import { slowJob } from '../../support/slowWorkflows.ts';
import { jobOf, plainState } from '../../support/workflowSamples.ts';

/** `npm run soak` tries 50,000 workflows, `npm test` the first 500. */
const workflows = process.env.SOAK_ROUNDS ? 50_000 : 25;
const mostSteps = 25;

const ann = { id: 'a'.repeat(24), admin: false };

/** The error texts of the engine, and the words that the slow model has for them. */
const shortErrors: readonly (readonly [pattern: RegExp, short: string])[] = [
  [/^The time limit of \d+ seconds is over$/, 'limit'],
  [/^There were \d+ attempts$/, 'attempts'],
  [/^\S.* must be a list$/, 'list'],
];

/** A value in which each error text of the engine, at any depth, is the word of the slow model: tasks pass errors on. */
const withShortErrors = (value: unknown): unknown =>
  typeof value === 'string'
    ? (shortErrors.find(([pattern]) => pattern.test(value))?.[1] ?? value)
    : Array.isArray(value)
      ? value.map(withShortErrors)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withShortErrors(member)]))
        : value;

/** The events of a decision; undefined if it refuses. */
const allowed = (decide: () => readonly WorkflowJobEvent[]): readonly WorkflowJobEvent[] | undefined => {
  try {
    return decide();
  } catch (error) {
    if (error instanceof RequestError && error.code === 'conflict') return undefined;
    throw error;
  }
};

/** Runs a random workflow in the engine and in the slow model, and compares them after each step. */
const compare = (size: number, tape: readonly number[]): void => {
  const chance = drawing(tape);
  const { draw, pick } = chance;
  const document = randomWorkflow(size, chance);
  const variables = { v0: 1, v1: 'text1', list: ['x', 2] };
  const job = jobOf(document, variables);
  assert.deepEqual(workflowFaults(job.work().graph).faults, []);
  const slow = slowJob(document, variables);
  let now = 1_000_000;
  slow.settle(now);
  const check = (): void => {
    const state = job.state();
    const open = job
      .work()
      .graph.tasks.filter(({ id, kind }) => kind !== 'forEach' && taskIn(state, id).status === 'open');
    assert.deepEqual(job.happened(), slow.happened);
    assert.equal(state.status, slow.status());
    assert.deepEqual(withShortErrors(Object.fromEntries(entriesIn(state.variables))), withShortErrors(slow.variables));
    assert.deepEqual(
      open.map(({ id }) => id),
      slow.open(),
    );
    assert.deepEqual(
      Object.fromEntries(job.work().graph.tasks.map(({ id }) => [id, taskIn(state, id).run])),
      slow.runs(),
    );
    const { tasks = [] } = (state.error ?? {}) as { tasks?: readonly { readonly task: string }[] };
    if (state.status === 'error')
      assert.deepEqual(
        tasks.map(({ task }) => task),
        slow.blocking() ?? [],
      );
    assert.deepEqual(plainState(foldTasks(job.events())), plainState(state));
  };
  check();
  for (let step = 0; step < mostSteps && !chance.isOver(); step++) {
    const state = job.state();
    const { graph } = job.work();
    const offered = graph.tasks.filter(({ id }) => taskIn(state, id).status === 'open' && taskIn(state, id).to);
    const what = draw(12);
    if (what < 7 && offered.length > 0) {
      const { id, kind } = pick(...offered);
      const result = pick('success', 'success', 'success', 'failure', kind === 'people' ? 'success' : 'error');
      const said = { result, outgoing: { out: draw(3) }, ...(result === 'error' ? { error: `bad ${draw(2)}` } : {}) };
      const { run } = taskIn(state, id);
      const outcome = said as { result: 'success' };
      job.act(finishTask(job.work(), state, { task: id, run, outcome }, ann));
      slow.answer(id, said, now);
    } else if (what === 7) {
      job.act(state.status === 'running' ? [{ topic: 'jobPaused', data: {} }] : []);
      slow.pause();
    } else if (what === 8) {
      job.act(state.status === 'paused' ? [{ topic: 'jobResumed', data: {} }] : []);
      slow.resume(now);
    } else if (what === 9) {
      now = Math.min(...slow.dueTimes().filter((due) => due > now), now + 120_000);
      job.at(now);
      slow.settle(now);
    } else if (what === 10) {
      const id = pick(...graph.tasks.map((task) => task.id));
      const [fast, model] = pick<readonly [() => readonly WorkflowJobEvent[], () => boolean]>(
        [() => retryJob(job.work(), state), () => slow.retry(now)],
        [() => retryTask(job.work(), state, { task: id }), () => slow.retryOne(id, now)],
        [() => continueFrom(job.work(), state, { task: id }), () => slow.continueFrom(id, now)],
      );
      const events = allowed(fast);
      if (events) job.act(events);
      assert.equal(model(), events !== undefined, 'both allow the move or neither does');
    } else job.restart();
    check();
  }
};

describe('workflows against a slow model', () => {
  it(`runs the same tasks in the same order, with the same variables and ends, in ${workflows} random workflows`, async function () {
    this.timeout(60_000 + workflows * 100);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.nat(1000), { minLength: 300, maxLength: 1500, size: 'max' }),
        inTurn(compare),
      ),
      { numRuns: workflows, seed, endOnFailure: process.env.SOAK_ROUNDS === undefined },
    );
  });
});

import assert from 'node:assert/strict';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import type { Outcome } from '../../../src/domain/operations-manager/workflows/controlTasks.ts';
import {
  claimTask,
  finishTask,
  heartbeatTask,
  lapseTask,
  releaseTask,
  reserveTask,
} from '../../../src/domain/operations-manager/workflows/taskClaims.ts';
import { continueFrom, retryJob, retryTask } from '../../../src/domain/operations-manager/workflows/taskMoves.ts';
import { taskIn, type WorkflowJobEvent } from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { jobOf, ours, person, worker, workflow } from '../../support/workflowSamples.ts';

const [ann, bob, root] = [
  { id: 'ann', admin: false },
  { id: 'bob', admin: false },
  { id: 'root', admin: true },
];
const render = { ...ours('renderJinjaTemplate'), app: 'TemplateBuilder' };
const apply = { ...ours('RunCommandTemplate'), app: 'MOP' };
const create = { ...ours('createInventory'), app: 'InventoryManager' };
const start = () =>
  jobOf(
    workflow({ w: worker(), p: person(), r: render, x: apply, i: create }, [
      ...['w', 'p', 'r', 'x', 'i'].map((id) => `start -> ${id}`),
      'w -> end',
    ]),
  );
type Job = ReturnType<typeof start>;

const success: Outcome = { result: 'success', outgoing: { out: 1 } };
const refuses = (code: string, decide: () => unknown): void => {
  assert.throws(decide, (error) => error instanceof RequestError && error.code === code);
};
const claimed = (job: Job, task: string, caller = ann): readonly WorkflowJobEvent[] =>
  claimTask(job.state(), { task, run: taskIn(job.state(), task).run, worker: 'w1', lease: 60 }, job.work().now, caller);
const finished = (job: Job, task: string, more: object = {}, caller = ann): readonly WorkflowJobEvent[] =>
  finishTask(job.work(), job.state(), { task, run: 1, outcome: success, ...more }, caller);

describe('claims on tasks', () => {
  it('gives a run to one worker, numbered and leased', () => {
    const job = start();
    const data = {
      task: 'w',
      run: 1,
      claim: 1,
      worker: 'w1',
      account: 'ann',
      until: job.work().now + 60_000,
      lease: 60,
    };
    assert.deepEqual(job.act(claimed(job, 'w')).length, 0);
    assert.deepEqual(taskIn(job.state(), 'w').claims.held, (({ task: _, run: __, ...claim }) => claim)(data));
    assert.deepEqual(claimed(job, 'w', bob), [], 'another was faster');
    assert.deepEqual(claimed(job, 'p'), [], 'people have their own way');
    job.act([{ topic: 'jobPaused', data: {} }]);
    assert.deepEqual(claimed(job, 'r'), [], 'a paused job gives out nothing');
  });

  it('takes a report with the claim, or without one while nobody holds one', () => {
    const job = start();
    job.act(claimed(job, 'w'));
    refuses('conflict', () => finished(job, 'w'));
    refuses('conflict', () => finished(job, 'w', { claim: 2 }));
    refuses('conflict', () => finished(job, 'w', { claim: 1 }, bob));
    assert.equal(finished(job, 'w', { claim: 1 }, root).length, 1);
    job.act(releaseTask(job.state(), { task: 'w', run: 1, claim: 1 }, ann));
    refuses('conflict', () => finished(job, 'w', { claim: 1 }));
    job.act(finished(job, 'w'));
    assert.deepEqual(finished(job, 'w'), [], 'the same report again');
    refuses('conflict', () => finished(job, 'w', { outcome: { result: 'failure' } }));
    refuses('not_found', () => finished(job, 'none'));
  });

  it('an error needs an error', () => {
    const job = start();
    refuses('invalid', () => finished(job, 'w', { outcome: { result: 'error' } }));
    assert.equal(finished(job, 'w', { outcome: { result: 'error', error: { code: 1 } } }).length, 1);
  });

  it('extends a claim once half of its lease is over', () => {
    const job = start();
    job.act(claimed(job, 'w'));
    const beat = (later: number, caller = ann) =>
      heartbeatTask(job.state(), { task: 'w', run: 1, claim: 1 }, job.work().now + later, caller);
    assert.deepEqual(beat(29_000), []);
    assert.deepEqual(beat(31_000), [
      { topic: 'taskClaimExtended', data: { task: 'w', run: 1, claim: 1, until: job.work().now + 91_000 } },
    ]);
    refuses('conflict', () => beat(31_000, bob));
    job.act([{ topic: 'jobCanceled', data: {} }]);
    assert.deepEqual(beat(31_000), [], 'it is heard, so that it stops');
    refuses('conflict', () => finished(job, 'w', { claim: 1 }));
  });

  /** The task, and how often its claim is lost until the run ends in error; null: it never does. */
  const losses = [
    ['w', 3],
    ['r', 3],
    ['x', 1],
    ['i', null],
  ] as const;
  for (const [task, most] of losses)
    it(`${task} ends after ${most ?? 'no number of'} lost claims`, () => {
      const job = start();
      for (let lost = 1; lost <= (most ?? 5); lost++) {
        job.act(claimed(job, task));
        const { claims } = taskIn(job.state(), task);
        const input = { task, run: 1, claim: claims.last, until: claims.held!.until! };
        assert.deepEqual(lapseTask(job.work(), job.state(), { ...input, until: 0 }), [], 'it was extended since');
        job.act(lapseTask(job.work(), job.state(), input));
        assert.equal(taskIn(job.state(), task).result, lost === most ? 'error' : undefined);
      }
    });

  it('a claim that lapses while the job is paused was not lost, but what acts is never done again', () => {
    const job = start();
    for (const task of ['w', 'x']) job.act(claimed(job, task));
    job.act([{ topic: 'jobPaused', data: {} }]);
    for (const task of ['w', 'x'])
      job.act(lapseTask(job.work(), job.state(), { task, run: 1, claim: 1, until: job.work().now + 60_000 }));
    assert.deepEqual([taskIn(job.state(), 'w').claims.lost, taskIn(job.state(), 'x').result], [0, 'error']);
    assert.match(String(taskIn(job.state(), 'x').error), /outcome is unknown/);
  });

  it('takes no report of work of the service from others', () => {
    const job = start();
    refuses('conflict', () => finished(job, 'r'));
    job.act(claimed(job, 'r'));
    assert.equal(finished(job, 'r', { claim: 1 }).length, 1);
  });

  it('is reserved by one person, who needs no lease', () => {
    const job = start();
    const named = { task: 'p', run: 1, worker: 'Ann' };
    job.act(reserveTask(job.state(), named, ann));
    assert.deepEqual(reserveTask(job.state(), named, ann), []);
    refuses('conflict', () => reserveTask(job.state(), named, bob));
    refuses('conflict', () => reserveTask(job.state(), { ...named, task: 'w' }, ann));
    refuses('conflict', () => finished(job, 'p', {}, bob));
    refuses('conflict', () => releaseTask(job.state(), { task: 'p', run: 1 }, bob));
    assert.equal(releaseTask(job.state(), { task: 'p', run: 1 }, root).length, 1);
    refuses('invalid', () => finished(job, 'p', { outcome: { result: 'error', error: 'x' } }));
    job.act([{ topic: 'jobPaused', data: {} }]);
    assert.equal(finished(job, 'p').length, 1, 'people may finish tasks of a paused job');
  });

  it('a run that was broken off takes nothing', () => {
    const job = jobOf(
      workflow({ a: worker(), b: worker(), c: worker() }, [
        'start -> a',
        'a -> b',
        'a -> c',
        'b -> end',
        'c -> end',
        'a <-failure- b',
      ]),
    );
    job.act(finishTask(job.work(), job.state(), { task: 'a', run: 1, outcome: success }, ann));
    job.act(claimTask(job.state(), { task: 'c', run: 1, worker: 'w', lease: 60 }, job.work().now, ann));
    job.act(finishTask(job.work(), job.state(), { task: 'b', run: 1, outcome: { result: 'failure' } }, ann));
    refuses('conflict', () =>
      finishTask(job.work(), job.state(), { task: 'c', run: 1, outcome: success, claim: 1 }, ann),
    );
    refuses('conflict', () => heartbeatTask(job.state(), { task: 'c', run: 1, claim: 1 }, job.work().now, ann));
  });
});

describe('moves of jobs with workflows', () => {
  const ended = (...outcomes: readonly Outcome[]) => {
    const job = jobOf(workflow({ a: worker(), b: worker() }, ['start -> a', 'start -> b', 'a -> end', 'b -> end']));
    for (const [i, outcome] of outcomes.entries())
      job.act(finishTask(job.work(), job.state(), { task: 'ab'.charAt(i), run: 1, outcome }, ann));
    return job;
  };
  const bad: Outcome = { result: 'error', error: 'bad' };
  const failure: Outcome = { result: 'failure' };
  const waiting = (job: ReturnType<typeof jobOf>) =>
    ['a', 'b'].filter((id) => taskIn(job.state(), id).status === 'open');

  it('retries what blocks, or else the failures that ended a branch', () => {
    const blocked = ended(bad, failure);
    blocked.act(retryJob(blocked.work(), blocked.state()));
    assert.deepEqual([waiting(blocked), taskIn(blocked.state(), 'a').run], [['a'], 2]);
    const failed = ended(failure, failure);
    failed.act(retryJob(failed.work(), failed.state()));
    assert.deepEqual(waiting(failed), ['a', 'b']);
    refuses('conflict', () => retryJob(failed.work(), failed.state()));
  });

  it('retries what blocked a job that was ended from outside, and goes on with what was under way', () => {
    const job = ended(bad);
    job.act([{ topic: 'jobErrored', data: { error: 'Nothing has happened' } }]);
    job.act(retryJob(job.work(), job.state()));
    assert.deepEqual(waiting(job), ['a', 'b']);
  });

  it('retries one task that blocks, or answers in its place', () => {
    const job = ended(bad);
    refuses('conflict', () => retryTask(job.work(), job.state(), { task: 'b' }));
    refuses('not_found', () => retryTask(job.work(), job.state(), { task: 'c' }));
    job.act(retryTask(job.work(), job.state(), { task: 'a', outcome: success }));
    assert.deepEqual([waiting(job), taskIn(job.state(), 'a').run], [['b'], 2]);
    job.act(finishTask(job.work(), job.state(), { task: 'b', run: 1, outcome: success }, ann));
    assert.equal(job.state().status, 'complete');
  });

  it('continues from a task that has run, with variables', () => {
    const job = ended(failure, failure);
    refuses('conflict', () => continueFrom(job.work(), job.state(), { task: 'workflow_end' }));
    const events = continueFrom(job.work(), job.state(), { task: 'b', variables: { x: 1 } });
    assert.deepEqual(events, [
      { topic: 'variablesSet', data: { variables: { x: 1 } } },
      { topic: 'jobRetried', data: { from: 'b' } },
      { topic: 'tasksReverted', data: { from: null, to: 'b', tasks: ['b'], run: 2 } },
    ]);
    job.act(events);
    assert.deepEqual([waiting(job), job.state().status], [['b'], 'running']);
  });

  it('begins a child task again with the children that it has', () => {
    const job = jobOf(workflow({ a: ours('childJob', { workflow: 'child' }) }, ['start -> a', 'a -> end']));
    const end = (run: number) =>
      job.act([{ topic: 'taskFinished', data: { task: 'a', run, result: 'error', outgoing: {}, error: 'child' } }]);
    for (const run of [1, 2]) {
      end(run);
      const [event] = job.act(retryJob(job.work(), job.state()));
      assert.deepEqual(event, {
        topic: 'taskStarted',
        data: { task: 'a', run: run + 1, keeps: 1, children: { count: 1 } },
      });
    }
  });
});

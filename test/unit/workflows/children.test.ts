import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type ChildEnd,
  childrenIn,
  childrenUnderWay,
} from '../../../src/domain/operations-manager/workflows/children.ts';
import { childVariables, noteChild } from '../../../src/domain/operations-manager/workflows/childTasks.ts';
import { retryJob } from '../../../src/domain/operations-manager/workflows/taskMoves.ts';
import {
  foldTasks,
  taskIn,
  type WorkflowJobEvent,
} from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { inputsOf } from '../../../src/domain/operations-manager/workflows/taskValues.ts';
import { taskViews } from '../../../src/domain/operations-manager/workflows/taskViews.ts';
import { seed } from '../../support/sample.ts';
import { jobOf, ours, person, plainState, worker, workflow } from '../../support/workflowSamples.ts';

type Json = any; // documents are any JSON

const child = (incoming: Json = {}, more: Json = {}): Json =>
  ours('childJob', { workflow: 'Port', variables: {}, ...incoming }, more);
const listed = (loopType: string, list: Json): Json => child({ loopType, data_array: list });
const items = (count: number): Json[] => Array.from({ length: count }, (_, i) => ({ port: i }));
const complete = (variables: Json = {}): ChildEnd => ({ status: 'complete', variables });
const failed: ChildEnd = { status: 'error', variables: { tried: 1 }, error: 'no link' };

/** A job with one task `a` that has children, whose ends the test says. */
const running = (task: Json, more: Json = {}, edges: readonly string[] = ['start -> a', 'a -> end']) => {
  const job = jobOf(workflow({ a: task, ...more.tasks }, edges), more.variables, more.work);
  const stored = <T extends WorkflowJobEvent['topic']>(topic: T): Json[] =>
    job.events().flatMap((event) => (event.topic === topic ? [event.data] : []));
  return {
    ...job,
    stored,
    a: () => taskIn(job.state(), 'a'),
    /** The children that have begun, or are retried, in each step. */
    begun: () =>
      stored('childrenBegun').map(({ indexes, retried }) => [
        ...indexes,
        ...retried.map((r: Json) => `again ${r.index}`),
      ]),
    /** `run`: the run that began the child. */
    end: (index: number, end: ChildEnd, run = taskIn(job.state(), 'a').run) =>
      job.act(noteChild(job.state(), { task: 'a', run, index }, end)),
    status: () => [job.state().status, taskIn(job.state(), 'a').result],
    details: () => taskIn(job.state(), 'a').outgoing.job_details as Json,
  };
};

describe('children of a job', () => {
  it('is one without a list, and its variables and status are the output', () => {
    const job = running(child());
    assert.deepEqual(job.stored('taskStarted'), [{ task: 'a', run: 1, children: { count: 1 } }]);
    assert.deepEqual(job.begun(), [[0]]);
    job.end(0, complete({ vlan: 7, status: 'hidden' }));
    assert.deepEqual(job.status(), ['complete', 'success']);
    assert.deepEqual(job.details(), { vlan: 7, status: 'complete' });
  });

  it('gives its task an error if it does not complete, with its variables all the same', () => {
    for (const [end, error] of [
      [failed, 'The child ended in error: no link'],
      [{ status: 'canceled', variables: { tried: 1 } }, 'The child was canceled'],
    ] as const) {
      const job = running(child());
      job.end(0, end);
      assert.deepEqual(job.status(), ['error', 'error']);
      assert.deepEqual([job.details(), job.a().error], [{ tried: 1, status: end.status }, error]);
    }
  });

  it('could not begin: that is an error, too', () => {
    const job = running(child());
    job.end(0, { status: 'refused', error: 'There is no workflow "Port"' });
    assert.equal(job.a().error, 'The child could not begin: There is no workflow "Port"');
    assert.deepEqual(job.details(), { status: 'error' });
    const { children } = taskViews(job.work().graph, job.state()).tasks.a!;
    assert.deepEqual(children, [{ run: null, index: 0, status: 'error' }]);
  });

  it('of a list begin beside each other, 32 at most', () => {
    const job = running(listed('parallel', items(40)));
    assert.deepEqual(job.begun(), [Array.from({ length: 32 }, (_, i) => i)]);
    job.end(5, complete());
    job.end(3, failed);
    assert.deepEqual(job.begun().slice(1), [[32], [33]]);
  });

  it('of a parallel list all come to their ends, and stand in the order of the list', () => {
    const job = running(listed('parallel', items(3)));
    job.end(2, complete({ port: 2 }));
    job.end(0, failed);
    assert.deepEqual(job.status(), ['running', undefined]);
    job.end(1, complete({ port: 1 }));
    assert.deepEqual(job.status(), ['error', 'error']);
    assert.equal(job.a().error, 'Child 0 ended in error: no link');
    assert.deepEqual(job.details(), {
      loop: [
        { tried: 1, status: 'error', childJobLoopIndex: 0 },
        { port: 1, status: 'complete', childJobLoopIndex: 1 },
        { port: 2, status: 'complete', childJobLoopIndex: 2 },
      ],
    });
  });

  it('of a sequential list begin one after the other, and none after one that did not complete', () => {
    const job = running(listed('sequential', items(3)));
    assert.deepEqual(job.begun(), [[0]]);
    job.end(0, complete());
    assert.deepEqual(job.begun(), [[0], [1]]);
    job.end(1, failed);
    assert.deepEqual([job.begun().length, job.status()], [2, ['error', 'error']]);
    assert.deepEqual(
      job.details().loop.map(({ status }: Json) => status),
      ['complete', 'error'],
    );
  });

  it('of an empty list are none: success', () => {
    const job = running(listed('parallel', []));
    assert.deepEqual([job.status(), job.details(), job.begun()], [['complete', 'success'], { loop: [] }, []]);
  });

  const errors: readonly (readonly [string, Json, RegExp])[] = [
    ['without a workflow', { workflow: '' }, /workflow must name/],
    ['with no list', { data_array: 'x', loopType: 'parallel' }, /must be a list/],
    ['with more than 10,000 items', { data_array: items(10_001), loopType: 'parallel' }, /10000 children at most/],
    ['with a list and no loopType', { data_array: items(1) }, /loopType/],
  ];
  for (const [words, incoming, error] of errors)
    it(`${words}: an error of the task`, () => {
      // Written lists of a wrong form are faults; values of references are not known then.
      const job = running(child({ ...incoming, ...(incoming.data_array ? { data_array: '$var.job.list' } : {}) }), {
        variables: { list: incoming.data_array },
      });
      assert.match(String(job.a().error), error);
      assert.deepEqual(job.begun(), []);
    });

  it('are eight levels at most, one in the other', () => {
    const at = (level: number) => running(child(), { work: { job: { id: 'j', initiator: 'ann', level } } });
    assert.equal(at(7).status()[0], 'running');
    assert.match(String(at(8).a().error), /8 levels/);
  });

  it('get the values that the task names, and the members of their item, which win', () => {
    const task = child({
      data_array: '$var.job.list',
      loopType: 'parallel',
      variables: {
        site: { task: 'job', value: 'site' },
        port: { task: 'static', value: 'none' },
        deep: { task: 'job', value: 'more#/x' },
        plain: 4,
      },
    });
    const variables = {
      site: 'Bonn',
      more: { x: [1] },
      list: [{ port: 1, from: { task: 'job', value: 'site' } }, 'x'],
    };
    const job = running(task, { variables });
    const { graph, job: self } = job.work();
    const found = graph.tasks.find(({ id }) => id === 'a')!;
    const scope = { state: job.state(), job: self, variables: job.state().variables };
    const of = (index: number) => childVariables(scope, found, inputsOf(scope, found), index);
    assert.deepEqual(of(0), { site: 'Bonn', port: 1, deep: [1], plain: 4, from: { task: 'job', value: 'site' } });
    assert.throws(() => of(1), /must be an object/);
  });

  it('do not begin while the job is paused or has ended; their ends are stored all the same', () => {
    const job = running(listed('sequential', items(2)));
    job.act([{ topic: 'jobPaused', data: {} }]);
    job.end(0, complete());
    assert.deepEqual([job.stored('childNoted').length, job.begun().length], [1, 1]);
    job.act([{ topic: 'jobResumed', data: {} }]);
    assert.equal(job.begun().length, 2);
    job.act([{ topic: 'jobErrored', data: { error: 'The account is gone' } }]);
    job.end(1, complete());
    job.act([{ topic: 'jobRetried', data: {} }]);
    assert.deepEqual(job.status(), ['complete', 'success']);
  });

  it('of a canceled job, and of a run that is not under way any more, are not heard', () => {
    const job = running(child());
    assert.deepEqual(job.end(0, complete(), 7), []);
    assert.deepEqual(job.end(1, complete()), []);
    job.act([{ topic: 'jobCanceled', data: {} }]);
    assert.deepEqual(job.end(0, complete()), []);
    assert.deepEqual(job.stored('childNoted'), []);
  });

  it('are noted once, and again when one that was retried by itself runs', () => {
    const job = running(listed('parallel', items(2)));
    job.end(0, failed);
    assert.deepEqual(noteChild(job.state(), { task: 'a', run: 1, index: 0 }, failed), []);
    job.end(0, { status: 'running' });
    job.end(1, complete());
    assert.equal(job.status()[0], 'running', 'the task waits for the one that runs again');
    job.end(0, complete());
    assert.deepEqual(job.status(), ['complete', 'success']);
  });

  it('are retried where they are in error; the others are kept, or begin anew', () => {
    const job = running(listed('parallel', items(4)));
    job.end(0, complete({ n: 0 }));
    job.end(1, failed);
    job.end(2, { status: 'canceled', variables: {} });
    job.end(3, { status: 'refused', error: 'x' });
    job.act(retryJob(job.work(), job.state()));
    assert.deepEqual([job.a().run, job.stored('taskStarted')[1].keeps], [2, 1]);
    assert.deepEqual(job.stored('childrenBegun')[1], {
      task: 'a',
      run: 2,
      indexes: [2, 3],
      retried: [{ index: 1, run: 1 }],
    });
    job.end(1, failed, 1);
    job.end(2, complete({ n: 2 }));
    job.end(3, complete({ n: 3 }));
    job.act(retryJob(job.work(), job.state()));
    assert.deepEqual(job.begun().at(-1), ['again 1']);
    job.end(1, complete({ n: 1 }), 1);
    assert.deepEqual(job.status(), ['complete', 'success']);
    assert.deepEqual(
      job.details().loop.map(({ n }: Json) => n),
      [0, 1, 2, 3],
    );
  });

  it('of a sequential list go on from the one in error', () => {
    const job = running(listed('sequential', items(3)));
    job.end(0, complete());
    job.end(1, failed);
    job.act(retryJob(job.work(), job.state()));
    job.end(1, complete(), 1);
    assert.deepEqual(job.begun(), [[0], [1], ['again 1'], [2]]);
    job.end(2, complete(), 2);
    assert.deepEqual(job.status(), ['complete', 'success']);
  });

  it('of a task that goes again by itself are retried, too', () => {
    const settings = { retrySettings: { autoRetry: true, limit: 1, delay: 0, state: ['error'] } };
    const job = running({ ...child(), ...settings });
    job.end(0, failed);
    assert.deepEqual(job.begun(), [[0], ['again 0']]);
    job.end(0, complete(), 1);
    assert.deepEqual(job.status(), ['complete', 'success']);
  });

  it('are broken off by a time limit, by a way back, and by the end of a loop around them', () => {
    const limited = running({ ...child(), timeLimit: { seconds: 60 } });
    limited.at(1_060_000);
    assert.deepEqual(limited.stored('taskFinished').at(-1).stops, [{ task: 'a', run: 1, index: 0 }]);
    assert.deepEqual(
      childrenIn(limited.a().children!).map(({ status }) => status),
      ['canceled'],
    );
    const back = running(child(), { tasks: { b: worker(), c: worker() } }, [
      'start -> b',
      'b -> a',
      'b -> c',
      'b <-failure- c',
      'a -> end',
      'c -> end',
    ]);
    const finish = (task: string, result: string) =>
      back.act([{ topic: 'taskFinished', data: { task, run: 1, result, outgoing: {} } }] as Json);
    finish('b', 'success');
    finish('c', 'failure');
    assert.deepEqual(back.stored('tasksReverted')[0].stops, [{ task: 'a', run: 1, index: 0 }]);
    const loop = { ...ours('forEach', { data_array: [1] }), timeLimit: { seconds: 60 } };
    const around = running(child(), { tasks: { l: loop } }, ['start -> l', 'l -loop-> a', 'l -> end']);
    around.at(1_060_000);
    assert.deepEqual(around.stored('taskFinished').at(-1).stops, [{ task: 'a', run: 1, index: 0 }]);
  });

  it('leave out variables that the job cannot keep: an error, not a job without end', () => {
    const job = running(listed('parallel', items(3)));
    const large = { text: 'x'.repeat(7 * 1024 * 1024) };
    for (const index of [0, 1, 2]) job.end(index, complete(large));
    assert.deepEqual(
      job.stored('childNoted').map(({ variables }) => variables !== undefined),
      [true, true, false],
    );
    assert.deepEqual(job.status(), ['error', 'error']);
  });

  it('that an earlier version gave to workers stay with them', () => {
    const job = jobOf(workflow({ p: person(), a: child() }, ['start -> p', 'p -> a', 'a -> end']));
    const to = { worker: { app: 'WorkFlowEngine', name: 'childJob', adapter: null } };
    job.act([
      { topic: 'taskFinished', data: { task: 'p', run: 1, result: 'loop', outgoing: {} } },
      { topic: 'taskOffered', data: { task: 'a', run: 1, to } },
    ] as Json);
    assert.equal(taskViews(job.work().graph, job.state()).tasks.a?.status, 'waiting');
  });
});

/** `npm run soak` tries many more. */
const rounds = process.env.SOAK_ROUNDS ? 20_000 : 40;

describe('children in any order', () => {
  it(`come to one end with the job, whatever happens in between (${rounds} jobs)`, () => {
    const step = fc.record({ what: fc.nat(9), pick: fc.nat(1000) });
    fc.assert(
      fc.property(fc.nat(40), fc.boolean(), fc.array(step, { maxLength: 120 }), (count, inTurn, steps) => {
        const job = running(listed(inTurn ? 'sequential' : 'parallel', items(count)));
        /** The children as they are, whatever the job knows: by the run that began them and the index. */
        const real = new Map<string, ChildEnd['status']>();
        const everBegun = new Set<string>();
        let seenEvents = 0;
        const carryOut = (): void => {
          for (const event of job.events().slice(seenEvents)) {
            seenEvents++;
            if (event.topic !== 'childrenBegun') continue;
            for (const index of event.data.indexes) {
              const id = `${event.data.run} ${index}`;
              assert.ok(!everBegun.has(id), 'no child begins twice');
              everBegun.add(id);
              real.set(id, 'running');
            }
            for (const { index, run } of event.data.retried) {
              assert.equal(real.get(`${run} ${index}`), 'error');
              real.set(`${run} ${index}`, 'running');
            }
          }
        };
        const tell = (id: string): void => {
          const [run = 0, index = 0] = id.split(' ').map(Number);
          const status = real.get(id) ?? 'running';
          job.end(index, status === 'complete' ? complete({ id }) : { status, variables: { id } }, run);
        };
        const check = (): void => {
          carryOut();
          const underWay = [...real.values()].filter((status) => status === 'running').length;
          assert.ok(underWay <= (inTurn ? 1 : 32));
          assert.deepEqual(plainState(foldTasks(job.events())), plainState(job.state()));
          const { status } = job.state();
          if (status !== 'running') return;
          assert.equal(childrenUnderWay('a', job.a().children).length, underWay, 'the job waits for those that run');
          assert.ok(underWay > 0, 'a job that runs waits for something');
        };
        check();
        for (const { what, pick } of steps) {
          const runs = [...real].filter(([, status]) => status === 'running');
          const chosen = runs[pick % Math.max(1, runs.length)]?.[0];
          if (what < 6 && chosen !== undefined) {
            real.set(chosen, what < 4 ? 'complete' : what === 4 ? 'error' : 'canceled');
            tell(chosen);
          } else if (what === 6 && job.state().status === 'running') job.act([{ topic: 'jobPaused', data: {} }]);
          else if (what === 7 && job.state().status === 'paused') job.act([{ topic: 'jobResumed', data: {} }]);
          else if (what === 8 && job.state().status === 'error') job.act(retryJob(job.work(), job.state()));
          else if (what === 9) {
            // Any of them is told once more: nothing happens.
            const any = [...real.keys()][pick % Math.max(1, real.size)];
            const before = job.events().length;
            if (any !== undefined) tell(any);
            assert.equal(job.events().length, before);
          }
          check();
        }
        // All that is left ends well, after as many retries as it takes.
        for (let left = 2000; job.state().status !== 'complete' && left > 0; left--) {
          const { status } = job.state();
          if (status === 'paused') job.act([{ topic: 'jobResumed', data: {} }]);
          if (status === 'error') job.act(retryJob(job.work(), job.state()));
          carryOut();
          const next = [...real].find(([, one]) => one === 'running')?.[0];
          if (next === undefined) continue;
          real.set(next, 'complete');
          tell(next);
        }
        assert.equal(job.state().status, 'complete');
        assert.deepEqual(
          job.details().loop.map(({ childJobLoopIndex }: Json) => childJobLoopIndex),
          [...items(count).keys()],
        );
      }),
      { numRuns: rounds, seed },
    );
  }).timeout(rounds * 100 + 20_000);
});

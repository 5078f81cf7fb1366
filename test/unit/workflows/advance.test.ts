import assert from 'node:assert/strict';
import { get } from '../../../src/domain/engine/layeredMap.ts';
import { withFollowing } from '../../../src/domain/operations-manager/jobWorkflows.ts';
import { advance } from '../../../src/domain/operations-manager/workflows/advance.ts';
import type { Outcome } from '../../../src/domain/operations-manager/workflows/controlTasks.ts';
import { finishedRun } from '../../../src/domain/operations-manager/workflows/taskOutcomes.ts';
import { foldTasks, taskIn } from '../../../src/domain/operations-manager/workflows/taskStates.ts';
import { taskViews } from '../../../src/domain/operations-manager/workflows/taskViews.ts';
import { jobOf, ours, person, worker, workflow, workOn } from '../../support/workflowSamples.ts';

type Json = any; // documents are any JSON

/** A job in which tasks end as the test says: `a`, `a failure`, `a error`. */
const running = (tasks: Json, edges: readonly string[], { variables = {}, ...more }: Json = {}) => {
  const job = jobOf(workflow(tasks, edges, more), variables);
  const end = (said: string, outcome: Partial<Outcome> = {}): void => {
    const [id = '', result = 'success'] = said.split(' ');
    const task = job.work().graph.tasks.find((one) => one.id === id)!;
    const { run } = taskIn(job.state(), id);
    const whole = { result, ...(result === 'error' ? { error: 'bad' } : {}), ...outcome } as Outcome;
    job.act([{ topic: 'taskFinished', data: finishedRun(job.work(), job.state(), { task, run, outcome: whole }) }]);
  };
  const views = () => taskViews(job.work().graph, job.state());
  const open = () => Object.entries(views().tasks).flatMap(([id, { status }]) => (status === 'waiting' ? [id] : []));
  return { ...job, end, views, open, variable: (name: string) => get(job.state().variables, name) };
};

const [a, b, c, d] = [worker(), worker(), worker(), worker()];

/** Tasks, edges, how tasks end one after the other; then the tasks that wait, or the status of the job. */
const ways: readonly (readonly [string, Json, string, string, readonly string[] | string])[] = [
  ['begins with what the start leads to', { a, b }, 'start -> a, start -> b, a -> end, b -> end', '', ['a', 'b']],
  [
    'takes the edge of the result',
    { a, b, c },
    'start -> a, a -> b, a -failure-> c, b -> end, c -> end',
    'a failure',
    ['c'],
  ],
  ['joins when all before have run', { a, b, c }, 'start -> a, start -> b, a -> c, b -> c, c -> end', 'a', ['b']],
  ['joins: and then goes on', { a, b, c }, 'start -> a, start -> b, a -> c, b -> c, c -> end', 'a, b', ['c']],
  [
    'does not wait for what never runs',
    { a, b, c, d },
    'start -> a, a -> b, a -failure-> c, b -> d, c -> d, d -> end',
    'a, b',
    ['d'],
  ],
  [
    'is dead behind what is dead',
    { a, b, c, d },
    'start -> a, a -> b, a -failure-> c, c -> d, d -> end, b -> end',
    'a, b',
    'complete',
  ],
  ['waits for branches that do not lead to the end', { a, b }, 'start -> a, start -> b, a -> end', 'a', ['b']],
  ['waits for them, and completes', { a, b }, 'start -> a, start -> b, a -> end', 'a, b', 'complete'],
  [
    'blocks at an error without an edge',
    { a, b, c },
    'start -> a, start -> b, a -> c, b -> c, c -> end',
    'a error, b',
    'error',
  ],
  ['lets other branches go on', { a, b, c }, 'start -> a, start -> b, a -> end, b -> c, c -> end', 'a error, b', ['c']],
  ['takes up an error by its edge', { a, b }, 'start -> a, a -> end, a -error-> b, b -> end', 'a error', ['b']],
  [
    'does not catch an error by a failure edge',
    { a, b },
    'start -> a, a -> end, a -failure-> b, b -> end',
    'a error',
    'error',
  ],
  [
    'ends a branch by a failure without an edge',
    { a, b },
    'start -> a, start -> b, a -> end, b -> end',
    'a failure, b',
    'complete',
  ],
  ['does not reach the end by failures alone', { a }, 'start -> a, a -> end', 'a failure', 'error'],
  ['goes back', { a, b }, 'start -> a, a -> b, b -> end, a <-failure- b', 'a, b failure', ['a']],
  [
    'goes back and on again',
    { a, b },
    'start -> a, a -> b, b -> end, a <-failure- b',
    'a, b failure, a, b',
    'complete',
  ],
  [
    'breaks off what is under way behind',
    { a, b, c },
    'start -> a, a -> b, a -> c, b -> end, c -> end, a <-failure- b',
    'a, b failure',
    ['a'],
  ],
];

describe('advance', () => {
  for (const [words, tasks, edges, ends, expected] of ways)
    it(words, () => {
      const job = running(tasks, edges.split(', '));
      for (const said of ends.split(', ').filter(Boolean)) job.end(said);
      assert.deepEqual(typeof expected === 'string' ? job.state().status : job.open(), expected);
    });

  it('says all that blocks a job, and what the end lacked', () => {
    const job = running({ a, b: { ...b, summary: 'Check' } }, ['start -> a', 'start -> b', 'a -> end', 'b -> end']);
    job.end('a error', { error: { message: 'no route', password: 'x' } });
    job.end('b error', { error: 'timeout' });
    assert.deepEqual(job.state().error, {
      tasks: [
        { task: 'a', name: 'work', message: 'no route' },
        { task: 'b', name: 'Check', message: 'timeout' },
      ],
      message: 'work: no route',
    });
    const other = running({ a }, ['start -> a', 'a -> end']);
    other.end('a failure');
    assert.equal(other.state().error, 'The end was not reached: work ended with failure, and no edge leads on');
  });

  it('tells what a way back puts back, and forgets its outputs', () => {
    const edges = ['start -> a', 'a -> b', 'b -> c', 'c -> end', 'a <-failure- c'];
    const job = running({ a: worker({}, { variables: { outgoing: { x: '$var.job.x' } } }), b, c }, edges);
    job.end('a', { outgoing: { x: 7 } });
    job.end('b');
    const { run } = taskIn(job.state(), 'c');
    job.end('c failure');
    const reverted = job.events().find(({ topic }) => topic === 'tasksReverted');
    assert.deepEqual(reverted?.data, { from: 'c', to: 'a', tasks: ['a', 'b', 'c'], run: 2 });
    assert.deepEqual([run, taskIn(job.state(), 'a').run, taskIn(job.state(), 'a').outgoing], [1, 2, {}]);
    assert.equal(job.variable('x'), 7, 'variables stay');
  });

  it('offers tasks to workers, people and the service itself', () => {
    const render = { ...ours('renderJinjaTemplate', { name: 't' }), app: 'TemplateBuilder' };
    const tasks = { a: worker({ adapter_id: 'lab1' }), b: person({ groups: ['noc', { name: 'ops' }] }), c: render };
    const job = running(tasks, ['start -> a', 'start -> b', 'start -> c', 'c -> end']);
    const offers = job.events().flatMap((event) => (event.topic === 'taskOffered' ? [event.data.to] : []));
    assert.deepEqual(offers, [
      { worker: { app: 'Lab', name: 'work', adapter: 'lab1' } },
      { groups: ['noc', 'ops'] },
      { platform: true },
    ]);
  });

  describe('loops', () => {
    const loop = (list: Json, more: Json = {}) => ours('forEach', { data_array: list }, more);
    const edges = ['start -> f', 'f -loop-> a', 'a -> b', 'f -> end', 'f -error-> c', 'c -> end'];

    it('goes over the items one after the other', () => {
      const job = running({ f: loop(['x', 'y']), a: worker({ v: '$var.f.current_item' }), b, c }, edges);
      assert.deepEqual(taskIn(job.state(), 'f').outgoing, { current_item: 'x' });
      job.end('a');
      assert.deepEqual(job.open(), ['b']);
      job.end('b');
      assert.deepEqual([job.open(), taskIn(job.state(), 'f').outgoing], [['a'], { current_item: 'y' }]);
      job.end('a failure');
      assert.equal(job.state().status, 'complete', 'a failure without an edge ends this item only');
      const turns = job
        .events()
        .flatMap((event) => (event.topic === 'taskFinished' && event.data.task === 'f' ? [event.data] : []));
      assert.deepEqual(turns, [
        { task: 'f', run: 1, result: 'loop', outgoing: { current_item: 'x' } },
        { task: 'f', run: 1, result: 'loop', outgoing: { current_item: 'y' }, tasks: ['a', 'b'] },
        { task: 'f', run: 1, result: 'success', outgoing: {} },
      ]);
    });

    it('ends with the first error in the body that nothing takes up', () => {
      const job = running({ f: loop([1, 2, 3]), a, b, c }, edges);
      job.end('a');
      job.end('b');
      job.end('a error');
      assert.deepEqual(taskIn(job.state(), 'f').error, { index: 1, task: 'a', message: 'bad' });
      assert.deepEqual(job.open(), ['c']);
      job.end('c');
      assert.equal(job.state().status, 'complete', 'what is taken up does not block');
    });

    it('has success for an empty list at once, and an error for none', () => {
      assert.equal(running({ f: loop([]), a, b, c }, edges).state().status, 'complete');
      const job = running({ f: loop('$var.job.x'), a, b, c }, edges, { variables: { x: 'text' } });
      assert.deepEqual([job.open(), taskIn(job.state(), 'f').error], [['c'], 'data_array must be a list']);
    });

    it('goes over the list as it was when the loop began', () => {
      const push = ours('push', { job_variable: 'list', item_to_push: 'more' });
      const job = running({ f: loop('$var.job.list'), p: push }, ['start -> f', 'f -loop-> p', 'f -> end'], {
        variables: { list: [1, 2] },
      });
      assert.deepEqual([job.state().status, job.variable('list')], ['complete', [1, 2, 'more', 'more']]);
    });

    it('shows both items in a loop within a loop', () => {
      const merged = ours('merge', {
        data_to_merge: [
          { key: '', value: { task: 'f', variable: 'current_item' } },
          { key: '', value: { task: 'g', variable: 'current_item' } },
        ],
      });
      const push = ours('push', { job_variable: 'all', item_to_push: '$var.m.merged_object' });
      const inner = ['start -> f', 'f -loop-> g', 'g -loop-> m', 'm -> p', 'f -> end'];
      const job = running({ f: loop([1, 2]), g: loop(['x', 'y']), m: merged, p: push }, inner);
      assert.deepEqual(job.variable('all'), [
        [1, 'x'],
        [1, 'y'],
        [2, 'x'],
        [2, 'y'],
      ]);
      assert.equal(taskIn(job.state(), 'p').run, 4, 'runs are counted on');
    });
  });

  describe('time', () => {
    it('begins the next run by itself, as often as it may', () => {
      const settings = { autoRetry: true, limit: 2, delay: 3000, state: ['error'] };
      const job = running({ a: { ...a, retrySettings: settings } }, ['start -> a', 'a -> end']);
      for (const run of [1, 2]) {
        job.end('a error');
        const view = job.views().tasks.a;
        assert.deepEqual([view?.status, view?.run, view?.until], ['retrying', run, job.work().now + 3000]);
        job.at(job.work().now + 2999);
        assert.equal(job.views().tasks.a?.status, 'retrying');
        job.at(job.work().now + 1);
        assert.deepEqual(job.open(), ['a']);
      }
      job.end('a error');
      assert.equal(job.state().status, 'error');
    });

    it('waits, and counts attempts', () => {
      const reattempt = ours('reattempt', { attemptID: 'x', minutes: 1, attempts: 1 });
      const job = running({ r: reattempt, a }, [
        'start -> a',
        'a -> end',
        'a -failure-> r',
        'a <-success- r',
        'r -error-> end',
      ]);
      job.end('a failure');
      assert.equal(job.views().tasks.r?.status, 'running');
      job.at(job.work().now + 60_000);
      assert.deepEqual(job.open(), ['a']);
      job.end('a failure');
      assert.equal(job.state().status, 'complete', 'the second attempt is an error at once');
      assert.deepEqual(job.state().attempts, { x: 2 });
    });

    it('breaks off at a time limit', () => {
      const limited = (more: Json) => ({ ...more, timeLimit: { seconds: 10, result: 'failure' } });
      const tasks = {
        a: limited(a),
        f: limited(ours('forEach', { data_array: [1] })),
        b,
        d: limited(ours('delay', { time: 60 })),
      };
      const job = running(tasks, ['start -> a', 'start -> f', 'f -loop-> b', 'start -> d', 'd -> end']);
      job.at(job.work().now + 10_000);
      const { a: limit, f, b: inBody, d: delay } = job.views().tasks;
      assert.deepEqual(
        [limit?.result, f?.result, delay?.result, inBody?.status],
        ['failure', 'failure', 'failure', 'idle'],
      );
      assert.equal(limit?.error, 'The time limit of 10 seconds is over');
      assert.equal(job.state().status, 'error');
    });

    it('does nothing while the job is paused, and what is due when it goes on', () => {
      const job = running({ d: ours('delay', { time: 5 }), a }, ['start -> d', 'start -> a', 'd -> end', 'a -> end']);
      job.act([{ topic: 'jobPaused', data: {} }]);
      assert.deepEqual(job.at(job.work().now + 60_000), []);
      job.end('a');
      assert.equal(job.state().status, 'paused');
      job.act([{ topic: 'jobResumed', data: {} }]);
      assert.equal(job.state().status, 'complete');
    });
  });

  describe('bounds', () => {
    const chain = (count: number): readonly [Json, readonly string[]] => {
      const ids = Array.from({ length: count }, (_, i) => `n${i}`);
      const set = ours('newVariable', { name: 'x', value: 1 });
      const edges = ids.map((id, i) => `${id} -> ${ids[i + 1] ?? 'end'}`);
      return [Object.fromEntries(ids.map((id) => [id, set])), ['start -> n0', ...edges]];
    };

    it('carries out 50 tasks at once, 10 in a request, or 256 KiB, and goes on', () => {
      const work = workOn(workflow(...chain(500)));
      const first = advance(work, foldTasks([{ topic: 'jobStarted', data: { variables: {} } }]));
      assert.deepEqual([first.events.length, first.more], [50, true]);
      const ofRequest = withFollowing(work, undefined, [{ topic: 'jobStarted', data: { variables: {} } }]);
      assert.equal(ofRequest.length, 1 + 10);
      const large = { x: 'x'.repeat(100_000) };
      const [tasks, edges] = chain(10);
      for (const id of Object.keys(tasks)) tasks[id] = ours('newVariable', { name: 'x', value: '$var.job.x' });
      const second = advance(
        workOn(workflow(tasks, edges)),
        foldTasks([{ topic: 'jobStarted', data: { variables: large } }]),
      );
      assert.deepEqual([second.events.length, second.more], [4, true]);
    });

    it('runs 10,000 tasks at most', () => {
      const job = running({ s: ours('stub', { type: 'success' }), t: ours('stub', { type: 'success' }) }, [
        'start -> s',
        's -> t',
        's <-success- t',
        't -failure-> end',
      ]);
      assert.deepEqual([job.state().status, job.state().error], ['error', 'A job runs 10000 tasks at most']);
      assert.equal(job.state().runs, 10_000);
    });

    it('has 1,000 runs under way at most, and enters others as these end', () => {
      const ids = Array.from({ length: 1200 }, (_, i) => `w${String(i).padStart(4, '0')}`);
      const tasks = Object.fromEntries(ids.map((id) => [id, a]));
      const job = running(
        tasks,
        ids.flatMap((id) => [`start -> ${id}`, `${id} -> end`]),
      );
      assert.equal(job.open().length, 1000);
      job.end(ids[0]!);
      assert.deepEqual([job.open().length, job.open().includes('w1000')], [1000, true]);
    });

    it('ends a run with an error whose outputs are too large', () => {
      const half = 'x'.repeat(5 * 1024 * 1024);
      const tasks = { a, b: worker({}, { variables: { outgoing: { o: '$var.job.o' } } }), c };
      const job = running(tasks, ['start -> a', 'start -> b', 'start -> c', 'c -> end']);
      job.end('a', { outgoing: { o: half + half } });
      job.end('b', { outgoing: { o: half } });
      job.end('c', { outgoing: { o: half, ['n'.repeat(65)]: 1 } });
      const { a: large, b, c: named } = job.views().tasks;
      assert.deepEqual([large?.result, b?.result, named?.result], ['error', 'success', 'error']);
      assert.match(String(large?.error), /8388608 bytes/);
      const other = running(tasks, ['start -> a', 'start -> b', 'start -> c', 'c -> end']);
      other.end('b', { outgoing: { o: half } });
      other.end('a', { outgoing: { o: half, p: 'x'.repeat(2 * 1024 * 1024) } });
      assert.match(String(other.views().tasks.a?.error), /16 MiB/);
    });
  });

  it('seals outputs by name, and what goes into variables that are secrets', () => {
    const tasks = {
      a: worker({}, { variables: { outgoing: { x: '$var.job.password', y: '$var.job.route' } } }),
      b: ours('newVariable', { name: 'apiKey', value: '$var.job.clear' }),
    };
    const decorators = [{ type: 'encryption', pointer: '/variables/route' }];
    const job = running(tasks, ['start -> a', 'a -> b', 'b -> end'], { variables: { clear: 'c' }, decorators });
    job.end('a', { outgoing: { x: 'p', y: 'r', token: 't', z: 'z' } });
    assert.doesNotMatch(JSON.stringify(job.events()).replaceAll(/sealed \w|"tag":"\w"/g, ''), /"[prt]"/);
    for (const name of ['password', 'route', 'apiKey']) assert.ok((job.variable(name) as Json).$sealed, name);
  });

  it('ends no wait early when the clock goes back, and all of a stopped week in small decisions', () => {
    const ids = Array.from({ length: 120 }, (_, i) => `w${i}`);
    const waits = Object.fromEntries(ids.map((id, i) => [id, ours('delay', { time: 3600 + i })]));
    const limited = person({ timeLimit: { seconds: 3600, result: 'success' } });
    const edges = [...ids, 'p'].flatMap((id) => [`start -> ${id}`, `${id} -> end`]);
    const job = running({ ...waits, p: limited }, edges);
    const { now } = job.work();
    const hour = 3_600_000;
    for (const at of [now - hour, now + hour - 1, now - hour]) assert.deepEqual(job.at(at), []);
    const work = { ...job.work(), now: now + 168 * hour };
    let [state, decisions] = [job.state(), 0];
    for (let more = true; more; decisions++) {
      const next = advance(work, state);
      assert.ok(next.events.length <= 52);
      state = foldTasks(next.events, state);
      more = next.more;
    }
    assert.deepEqual([state.status, decisions], ['complete', 3]);
    assert.match(String(taskIn(state, 'p').error), /limit of 3600 seconds/);
  });
});

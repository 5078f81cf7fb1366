import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventsOf, withLog } from '../../support/logged.ts';
import { copyOfLog, waysBack } from '../../support/movedLogs.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { temporaryFolder } from '../../support/process.ts';
import { sampled } from '../../support/sample.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ours, person, worker, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says

const om = '/operations-manager';

/** Requests about workflows, as an account. */
const asker = (ask: People['member']) => ({
  start: async (name: string, options: object = {}): Promise<Json> =>
    ok(await ask('POST', `${om}/jobs/start`, { workflow: name, options })).data,
  job: async (id: string): Promise<Json> => ok(await ask('GET', `${om}/jobs/${id}`)).data,
  tasks: async (query = ''): Promise<Json[]> => ok(await ask('GET', `${om}/tasks${query}`)).data,
  claim: async (body: object = {}, headers: Record<string, string> = {}): Promise<Json[]> =>
    ok(await ask('POST', `${om}/tasks/claim`, { apps: ['Lab'], worker: 'w1', ...body }, headers)).data,
  finish: (id: string, body: object) => ask('POST', `${om}/tasks/${id}/finish`, body),
  /** Waits for the task of a job to be offered, and gives the id of its run. */
  offered: async (job: string, task: string): Promise<string> => {
    let found: Json;
    await until(async () => {
      found = ok(await ask('GET', `${om}/tasks?job=${job}`)).data.find((one: Json) => one.task === task);
      return found !== undefined;
    }, `the task ${task}`);
    return found._id;
  },
});

const to = (variable: string, output = 'out') => ({ variables: { outgoing: { [output]: `$var.job.${variable}` } } });

describe('a job that runs a workflow', function () {
  this.timeout(60_000);
  let service: TestService;
  let who: People;
  let member: ReturnType<typeof asker>;
  const save = async (name: string, document: Json): Promise<string> =>
    ok(await service.ask('POST', `${om}/workflows`, { ...document, name })).data._id;
  const logged = (id: string) => withLog(join(service.folder, 'events.db'), (log) => eventsOf(log, `job-${id}`));
  before(async () => {
    service = await startService();
    who = await people(service);
    member = asker(who.member);
  });
  after(() => service.stop());

  it('runs its tasks from the start to the end, each append with all that follows', async () => {
    await save(
      'Whole',
      workflow(
        {
          make: ours('newVariable', { name: 'x', value: 5 }),
          say: ours('updateJobDescription', { description: 'Port 5 in Bonn' }),
          w: worker({ site: '$var.job.site', key: '$var.job.x' }, to('out')),
          wait: ours('delay', { time: 0.05 }),
          p: person({ groups: ['ops'] }),
        },
        ['start -> make', 'make -> say', 'say -> w', 'w -> wait', 'wait -> p', 'p -> end'],
      ),
    );
    const { _id: id, workflow: runs } = await member.start('Whole', { variables: { site: 'Bonn' } });
    assert.equal(runs.revision, 0);
    const [{ task, claim }] = (await member.claim()) as [Json];
    assert.deepEqual([task._id, task.incoming.site, claim], [`${id}.w.1`, 'Bonn', 1]);
    const beat = ok(await who.member('POST', `${om}/tasks/${task._id}/heartbeat`, { claim, progress: { percent: 5 } }));
    assert.deepEqual(beat.data.asked, null);
    assert.deepEqual((await member.tasks(`?job=${id}`))[0].progress, { percent: 5 });
    const tasks = async (): Promise<Json> => ok(await service.ask('GET', '/health/status')).tasks;
    assert.deepEqual(await tasks(), { waiting: 0, claimed: 1, people: 0 });
    refused(await member.finish(task._id, { result: 'success' }), 409, /claim/);
    const report = { claim, result: 'success', outgoing: { out: 7, token: 's3cret' } };
    ok(await member.finish(task._id, report));
    // Meanwhile the task after it may end.
    const stored = async () => (await logged(id)).filter(({ data }: Json) => data.task === 'w');
    const before = await stored();
    ok(await member.finish(task._id, report));
    assert.deepEqual(await stored(), before, 'the same report again changes nothing');
    const ofPerson = await member.offered(id, 'p');
    const metricsInList = async (query: string) => {
      const { data } = ok(await who.member('GET', `${om}/jobs?limit=1000${query}`));
      return data.find(({ _id }: Json) => _id === id).metrics;
    };
    const { progress } = (await member.job(id)).metrics;
    assert.ok(progress > 0 && progress < 1, progress);
    assert.equal((await metricsInList('&expand=progress')).progress, progress);
    assert.equal((await metricsInList('')).progress, undefined);
    ok(await who.member('POST', `${om}/tasks/${ofPerson}/claim`, {}));
    ok(await member.finish(ofPerson, { result: 'success', data: { a: 1 } }));
    const job = await member.job(id);
    assert.deepEqual(job.variables, { site: 'Bonn', x: 5, out: 7 });
    assert.deepEqual([job.status, job.metrics.progress, job.description], ['complete', 1, 'Port 5 in Bonn']);
    assert.ok(Object.values(job.tasks).every(({ status }: Json) => status === 'done'));
    const run = ok(await who.member('GET', `${om}/jobs/${id}/tasks/w`)).data;
    assert.deepEqual(run.outgoing, { out: 7, token: '********' });
    assert.deepEqual(
      (await logged(id)).map(({ topic, data }: Json) => [topic, data.task].filter(Boolean).join(' ')),
      [
        'jobStarted',
        'taskFinished workflow_start',
        'taskFinished make',
        'taskFinished say',
        'jobDescribed',
        'taskOffered w',
        'taskClaimed w',
        'taskFinished w',
        'taskStarted wait',
        'taskFinished wait',
        'taskOffered p',
        'taskClaimed p',
        'taskFinished p',
        'taskFinished workflow_end',
        'jobCompleted',
      ],
    );
    assert.deepEqual(await member.tasks(`?job=${id}`), []);
  });

  it('knows who started it, in its data tasks and those of its children', async () => {
    const name = ours(
      'merge',
      { data_to_merge: [{ key: 'by', value: { task: 'job', variable: 'initiator' } }] },
      to('by', 'merged_object'),
    );
    await save('Who, inner', workflow({ name }, ['start -> name', 'name -> end']));
    const children = ours('childJob', { workflow: 'Who, inner', variables: {} }, to('children', 'job_details'));
    const tasks = { first: name, w: worker({ who: '$var.job.initiator' }), children };
    await save('Who', workflow(tasks, ['start -> first', 'first -> w', 'w -> children', 'children -> end']));
    const { _id: id } = await member.start('Who');
    const [{ task }] = (await member.claim()) as [Json];
    assert.equal(task.incoming.who, 'member');
    // Whoever reports has started nothing.
    ok(await service.ask('POST', `${om}/tasks/${task._id}/release`, { claim: 1 }));
    ok(await asker(service.ask).finish(task._id, { result: 'success' }));
    await until(async () => (await member.job(id)).status === 'complete', 'the end');
    const { variables } = await member.job(id);
    assert.deepEqual([variables.by, variables.children.by], [{ by: 'member' }, { by: 'member' }]);
  });

  it('keeps the revision that it began with, also when the workflow is deleted', async () => {
    const workflowId = await save('Old', workflow({ w: worker() }, ['start -> w', 'w -> end']));
    const { _id: id } = await member.start('Old');
    const next = { ...workflow({ v: worker() }, ['start -> v', 'v -> end']), name: 'Old' };
    ok(await service.ask('PUT', `${om}/workflows/${workflowId}`, next));
    const { _id: second } = await member.start('Old');
    ok(await service.ask('DELETE', `${om}/workflows/${workflowId}`));
    ok(await member.finish(await member.offered(id, 'w'), { result: 'success' }));
    ok(await member.finish(await member.offered(second, 'v'), { result: 'success' }));
    assert.deepEqual([(await member.job(id)).status, (await member.job(second)).status], ['complete', 'complete']);
  });

  it('does not start with faults, by a name that means two, or with variables that its schema refuses', async () => {
    await save('Faulty', workflow({ w: worker() }, ['start -> w', 'w -> nowhere']));
    refused(await who.member('POST', `${om}/jobs/start`, { workflow: 'Faulty' }), 422, /nowhere/);
    for (const project of ['a', 'b'])
      await save(`@${project.repeat(24)}: Twin`, workflow({ w: worker() }, ['start -> w', 'w -> end']));
    refused(await who.member('POST', `${om}/jobs/start`, { workflow: 'Twin' }), 409, /Twin/);
    const inputSchema = { type: 'object', required: ['site', '_id'], properties: { site: { type: 'string' } } };
    await save('Strict', workflow({ w: worker() }, ['start -> w', 'w -> end'], { inputSchema }));
    const started = await who.member('POST', `${om}/jobs/start`, {
      workflow: 'Strict',
      options: { variables: { site: 1 } },
    });
    refused(started, 422, /variables\/site/);
    const { _id: id } = await member.start('Strict', { variables: { site: 'Bonn' } });
    ok(await who.member('POST', `${om}/jobs/cancel`, { jobIds: [id] }));
  });

  it('takes nothing as a whole, else nobody would need to finish its tasks', async () => {
    await save('Guarded', workflow({ p: person() }, ['start -> p', 'p -> end']));
    const { _id: id } = await member.start('Guarded');
    for (const [what, body] of [
      ['complete', {}],
      ['error', { error: 'x' }],
      ['heartbeat', { claim: 1 }],
      ['release', { claim: 1 }],
    ] as const)
      refused(await who.member('POST', `${om}/jobs/${id}/${what}`, body), 409, /workflow/);
    const given = await who.member('POST', `${om}/jobs/claim`, { components: ['Guarded'], worker: 'w' });
    assert.deepEqual(ok(given).data, []);
    assert.equal((await member.job(id)).status, 'running');
  });

  it('is paused, resumed and canceled; workers hear of it', async () => {
    const tasks = { w: worker(), v: worker(), p: person({ groups: ['ops'] }) };
    await save('Moved', workflow(tasks, ['start -> w', 'start -> p', 'p -> v', 'w -> v', 'v -> end']));
    const { _id: id } = await member.start('Moved');
    const [{ task, claim }] = (await member.claim()) as [Json];
    const beat = () => who.member('POST', `${om}/tasks/${task._id}/heartbeat`, { claim });
    ok(await who.member('POST', `${om}/jobs/pause`, { jobIds: [id] }));
    assert.equal(ok(await beat()).data.asked, 'pause');
    ok(await member.finish(task._id, { claim, result: 'success' }));
    refused(await member.finish(`${id}.p.1`, { result: 'error', error: 'no' }), 400, /result/);
    ok(await member.finish(`${id}.p.1`, { result: 'success' }));
    const { p, v } = (await member.job(id)).tasks;
    assert.deepEqual([p.status, v.status], ['done', 'idle'], 'people may end their tasks, and nothing is entered');
    ok(await who.member('POST', `${om}/jobs/resume`, { jobIds: [id] }));
    const [second] = (await member.claim()) as [Json];
    assert.equal(second.task.task, 'v');
    ok(await who.member('POST', `${om}/jobs/cancel`, { jobIds: [id] }));
    const last = await who.member('POST', `${om}/tasks/${second.task._id}/heartbeat`, { claim: second.claim });
    assert.equal(ok(last).data.asked, 'cancel');
    refused(await member.finish(second.task._id, { claim: 1, result: 'success' }), 409);
  });

  it('is retried where it is blocked, as a whole or one task, and goes on from a task', async () => {
    await save('Blocked', workflow({ a: worker(), b: worker({}, to('out')) }, ['start -> a', 'a -> b', 'b -> end']));
    const { _id: id } = await member.start('Blocked');
    const end = async (task: string, body: object) => ok(await member.finish(await member.offered(id, task), body));
    await end('a', { result: 'success' });
    const { position } = ok(await service.ask('GET', '/health/status')).eventStore;
    await end('b', { result: 'error', error: 'no answer' });
    const job = await member.job(id);
    assert.deepEqual([job.status, job.error.tasks[0].task, job.tasks.b.status], ['error', 'b', 'blocked']);
    ok(await who.member('POST', `${om}/jobs/retry`, { jobIds: [id] }));
    await end('b', { result: 'error', error: 'again' });
    ok(await who.member('POST', `${om}/jobs/${id}/continue`, { fromTask: 'a', variables: { x: 1 } }));
    await end('a', { result: 'success' });
    await end('b', { result: 'error', error: 'at last' });
    refused(await who.member('POST', `${om}/jobs/${id}/tasks/a/retry`, {}), 409);
    ok(await who.member('POST', `${om}/jobs/${id}/tasks/b/retry`, { result: 'success', outgoing: { out: 2 } }));
    const done = await member.job(id);
    assert.deepEqual([done.status, done.variables], ['complete', { x: 1, out: 2 }]);
    const first = ok(await who.member('GET', `${om}/jobs/${id}/tasks/b?run=1`)).data;
    assert.deepEqual([first.error, first.runs.length], ['no answer', 4]);
    refused(await who.member('GET', `${om}/jobs/${id}/tasks/b?run=5`), 404);
    const then = async (path: string): Promise<Json> =>
      ok(await who.member('GET', `${om}/jobs/${id}${path}?asOf=${position}`)).data;
    const [earlier, run] = [await then(''), await then('/tasks/b')];
    assert.deepEqual([earlier.status, earlier.tasks.b.status, run.runs.length], ['running', 'waiting', 1]);
    refused(await who.member('POST', `${om}/jobs/retry`, { jobIds: [id] }), 409);
  });

  it('gives out tasks to one worker each, by app, name and adapter, and again under a key', async () => {
    const of = (name: string, adapter?: string) => worker(adapter ? { adapter_id: adapter } : {}, { name });
    const tasks = { a: of('one'), b: of('two', 'east'), c: of('two', 'west') };
    await save('Many', workflow(tasks, ['start -> a', 'start -> b', 'start -> c', 'a -> end', 'b -> end', 'c -> end']));
    const { _id: id } = await member.start('Many');
    const claimed = async (body: object, headers?: Record<string, string>) =>
      (await member.claim({ max: 10, ...body }, headers)).map(({ task }) => task.task).sort();
    const key = { 'Idempotency-Key': 'one-of-many' };
    const east = { apps: undefined, names: ['Lab.two'], adapters: ['east'] };
    assert.deepEqual(await claimed(east, key), ['b']);
    assert.deepEqual(await claimed(east, key), ['b'], 'the same request again gets the same');
    assert.deepEqual(await claimed({ names: ['Lab.two'], apps: undefined }), ['c']);
    const waiting = [1, 2].map(() => claimed({ wait: 5 }));
    assert.deepEqual((await Promise.all([waiting[0], member.start('Many')]))[0]?.length ?? 0, 1);
    ok(await who.member('POST', `${om}/jobs/cancel`, { jobIds: [id] }));
    await Promise.all(waiting);
  });

  it('takes one report of many, and none of a run that is over or of another worker', async () => {
    const tasks = { a: worker({}, to('out')), b: worker(), c: worker() };
    const edges = ['start -> a', 'a -> b', 'a -> c', 'b -> end', 'c -> end', 'a <-failure- b'];
    await save('Reported', workflow(tasks, edges));
    const { _id: id } = await member.start('Reported');
    const run = await member.offered(id, 'a');
    const report = (i: number) => ({ result: 'success', outgoing: { out: i % 32 } });
    const answers = await Promise.all(Array.from({ length: 64 }, (_, i) => member.finish(run, report(i))));
    const taken = answers.flatMap(({ status }, i) => (status === 200 ? [i % 32] : []));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 409]);
    assert.equal(new Set(taken).size, 1, 'the same report twice is no other');
    const [out] = taken as [number];
    assert.deepEqual((await member.job(id)).variables, { out });
    const ends = (await logged(id)).filter(({ topic, data }: Json) => topic === 'taskFinished' && data.task === 'a');
    assert.equal(ends.length, 1);
    ok(await member.finish(run, report(out)));
    const [{ claim }] = ok(await service.ask('POST', `${om}/tasks/claim`, { apps: ['Lab'], worker: 'x' })).data;
    const claimed = `${id}.b.1`;
    refused(await member.finish(claimed, { claim, result: 'success' }), 409, /claim/);
    refused(await member.finish(claimed, { claim: claim + 1, result: 'success' }), 409, /claim/);
    ok(await service.ask('POST', `${om}/tasks/${claimed}/finish`, { claim, result: 'failure' }));
    refused(await member.finish(`${id}.c.1`, { result: 'success' }), 409);
    refused(await member.finish(`${id}.c.2`, { result: 'success' }), 409);
    refused(await member.finish(`${id}.none.1`, { result: 'success' }), 404);
    const next = await member.offered(id, 'a');
    assert.equal(next, `${id}.a.2`);
    ok(await who.member('POST', `${om}/jobs/cancel`, { jobIds: [id] }));
    refused(await member.finish(next, { result: 'success' }), 409);
    refused(await member.finish(next, { claim: 1, result: 'success' }), 409);
  });

  it('takes outputs of any size and form, or says why not', async () => {
    await save('Odd', workflow({ a: worker({}, to('out')) }, ['start -> a', 'a -> end']));
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    const text = (members: string) => `{"result":"success","outgoing":{${members}}}`;
    const many = (count: number, member: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => member(i)).join();
    /** Reports, and how the task ends; null: the report is refused. */
    const reports: readonly (readonly [words: string, body: string, ends: string | null])[] = [
      ['nearly 8 MiB', text(`"out":"${'x'.repeat(8 * 1024 * 1024 - 200)}"`), 'success'],
      ['a MiB of short lists', text(`"out":[${many(100_000, () => '[]')}]`), 'success'],
      ['9 MiB', text(`"out":"${'x'.repeat(9 * 1024 * 1024)}"`), 'error'],
      ['depth 1,000', text(`"out":${nested(1000)}`), null],
      ['depth 100,000', text(`"out":${nested(100_000)}`), null],
      ['half of a character', text('"out":"\\ud83d"'), null],
      ['half of a character as a name', text('"\\ud83d":1'), null],
      ['100,000 outputs', text(many(100_000, (i) => `"k${i}":${i}`)), 'success'],
      ['a long name', text(`"${'n'.repeat(65)}":1`), 'error'],
      ['a name of 64 kB', text(`"${'n'.repeat(65_536)}":1`), 'error'],
      ['__proto__', text('"__proto__":{"out":1}'), null],
      ['a sealed form', text('"out":{"$sealed":"x","tag":"y"}'), null],
      ['10,001 secrets', text(`"out":[${many(10_001, (i) => `{"password":"p${i}"}`)}]`), null],
      ['a number that is none', text('"out":1e999'), null],
      ['an error of 10,000 members', `{"result":"error","error":{${many(10_000, (i) => `"k${i}":${i}`)}}}`, 'error'],
    ];
    for (const [words, body, ends] of reports) {
      const { _id: id } = await member.start('Odd');
      const answer = await who.member('POST', `${om}/tasks/${id}.a.1/finish`, body);
      const { status, tasks } = await member.job(id);
      const said = `${words}: ${answer.status} ${answer.text.slice(0, 200)} ${status} ${tasks.a.status}`;
      if (ends !== null) assert.deepEqual([answer.status, tasks.a.result], [200, ends], said);
      else {
        assert.ok(answer.status >= 400 && answer.status < 500, said);
        assert.equal(tasks.a.status, 'waiting', said);
        ok(await who.member('POST', `${om}/jobs/cancel`, { jobIds: [id] }));
      }
    }
  });

  it('goes on after a restart, and in a log that was moved: timers that are past are due, claims lapse, tasks wait', async () => {
    const folder = temporaryFolder();
    const ways = sampled(Object.entries({ ...waysBack, 'log copy': copyOfLog }), 1);
    const [first, ...moved] = ['first', ...ways.map(([way]) => way)].map((name) => join(folder, name));
    assert.ok(first);
    for (const one of [first, ...moved]) mkdirSync(one);
    const before = await startService({}, first);
    const admin = asker(before.ask);
    const begin = async (name: string, document: Json): Promise<string> => {
      ok(await before.ask('POST', `${om}/workflows`, { ...document, name }));
      return (await admin.start(name))._id;
    };
    const edges = ['start -> wait', 'wait -> w', 'w -> end'];
    const id = await begin('Restarted', workflow({ wait: ours('delay', { time: 1 }), w: worker() }, edges));
    const claimedJob = await begin(
      'Claimed',
      workflow({ w: worker({}, { app: 'Moved' }) }, ['start -> w', 'w -> end']),
    );
    const [{ claim: lost }] = (await admin.claim({ apps: ['Moved'], lease: 10 })) as [Json];
    await before.stop();
    for (const [way, bring] of ways) {
      await bring(first, join(folder, way));
      copyFileSync(join(first, 'secret.key'), join(folder, way, 'secret.key'));
    }
    for (const one of [first, ...moved]) {
      const { ask, stop } = await startService({}, one);
      const again = asker(ask);
      ok(await again.finish(await again.offered(id, 'w'), { result: 'success' }));
      assert.equal((await again.job(id)).status, 'complete');
      const [{ task, claim }] = (await again.claim({ apps: ['Moved'], wait: 30 })) as [Json];
      assert.deepEqual([task.job, claim], [claimedJob, lost + 1]);
      refused(await again.finish(task._id, { claim: lost, result: 'success' }), 409, /claim/);
      ok(await again.finish(task._id, { claim, result: 'success' }));
      await stop();
    }
    rmSync(folder, { recursive: true, force: true });
  });

  it('of a thousand data tasks goes on by itself', async () => {
    const steps = Array.from({ length: 600 }, (_, i) => `s${i}`);
    const tasks = Object.fromEntries(steps.map((id) => [id, ours('newVariable', { name: 'last', value: id })]));
    const edges = steps.map((id, i) => `${steps[i - 1] ?? 'start'} -> ${id}`);
    await save('Chain', workflow(tasks, [...edges, `${steps.at(-1)} -> end`]));
    const again = asker(service.ask);
    const { _id: id } = await again.start('Chain');
    await until(async () => (await again.job(id)).status === 'complete', 'the end of the chain');
    assert.deepEqual((await again.job(id)).variables, { last: 's599' });
  });
});

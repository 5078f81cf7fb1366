import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { randomOf } from '@automation-platform/transformations';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';
import { step, transformation, wire } from '../../support/transformationSamples.ts';
import { until } from '../../support/until.ts';
import { ours, worker, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says

const om = '/operations-manager';
const child = (incoming: Json, more: Json = {}): Json => ours('childJob', { variables: {}, ...incoming }, more);
const keeps = { variables: { outgoing: { job_details: '$var.job.details' } } };

describe('a job whose task begins other jobs', function () {
  this.timeout(60_000);
  let service: TestService;
  let who: People;
  const admin = async (method: string, path: string, body?: unknown): Promise<Json> =>
    ok(await service.ask(method, `${om}/${path}`, body)).data;
  const save = (name: string, document: Json): Promise<Json> => admin('POST', 'workflows', { ...document, name });
  const job = (id: string): Promise<Json> => admin('GET', `jobs/${id}`);
  const start = async (name: string, options: object = {}): Promise<string> =>
    ok(await who.member('POST', `${om}/jobs/start`, { workflow: name, options })).data._id;
  const move = async (what: string, id: string): Promise<void> =>
    void ok(await who.member('POST', `${om}/jobs/${what}`, { jobIds: [id] }));
  const idOf = (parent: string, task: string, run: number, index: number): string =>
    hash('sha256', `job ${parent} ${task} ${run} ${index}`, 'hex').slice(0, 24);
  /** Waits for the job to be so, and gives it. */
  const once = async (id: string, is: (now: Json) => boolean, what: string): Promise<Json> => {
    let now: Json;
    await until(async () => {
      const answer = await service.ask('GET', `${om}/jobs/${id}`);
      now = answer.status === 200 ? answer.body.data : undefined;
      return now !== undefined && is(now);
    }, what);
    return now;
  };
  const hasStatus = (status: string) => (now: Json) => now.status === status;
  const finish = async (id: string, body: Json = { result: 'success' }): Promise<void> => {
    await once(id, (now) => now.tasks.w?.status === 'waiting', `the task of ${id}`);
    const [{ _id: task }] = await admin('GET', `tasks?job=${id}`);
    ok(await who.member('POST', `${om}/tasks/${task}/finish`, body));
  };
  const logged = (id: string) => withLog(join(service.folder, 'events.db'), (log) => eventsOf(log, `job-${id}`));

  before(async () => {
    service = await startService();
    who = await people(service);
    const inputSchema = { type: 'object', required: ['port'], properties: { port: { type: 'integer' } } };
    const to = { variables: { outgoing: { up: '$var.job.up' } } };
    await save(
      'Port',
      workflow({ w: worker({ port: '$var.job.port' }, to) }, ['start -> w', 'w -> end'], { inputSchema }),
    );
    const list = {
      workflow: 'Port',
      data_array: '$var.job.ports',
      variables: { token: { task: 'job', value: 'token' } },
    };
    const each = (loopType: string) => workflow({ c: child({ ...list, loopType }, keeps) }, ['start -> c', 'c -> end']);
    await save('All ports', each('parallel'));
    await save('Port by port', each('sequential'));
  });
  after(() => service.stop());

  it('begins one for each item; they are its own in all they have, and it ends with them', async () => {
    const variables = { ports: [{ port: 1 }, { port: 2 }], token: 's3cret' };
    const id = await start('All ports', { variables, groups: ['ops'] });
    const ids = [0, 1].map((index) => idOf(id, 'c', 1, index));
    for (const [index, one] of ids.entries()) {
      const now = await once(one, () => true, 'the child');
      assert.deepEqual(now.parent, { job: id, task: 'c', run: 1, index, level: 1 });
      const parent = await job(id);
      for (const same of ['groups', 'depth', 'created_by', 'watchers', 'automation'])
        assert.deepEqual(now[same], parent[same], same);
      assert.deepEqual([now.ancestors, now.variables], [[id], { token: '********', port: index + 1 }]);
      assert.equal((await who.stranger('GET', `${om}/jobs/${one}`)).status, 404, 'as its parent');
      ok(await who.member('GET', `${om}/jobs/${one}`));
    }
    await finish(ids[1]!, { result: 'success', outgoing: { up: true } });
    await once(id, (now) => now.tasks.c.children[1].status === 'complete', 'the note of the second');
    assert.deepEqual((await job(id)).tasks.c.children, [
      { job: ids[0], index: 0, status: 'running' },
      { job: ids[1], index: 1, status: 'complete' },
    ]);
    await finish(ids[0]!, { result: 'success', outgoing: { up: false } });
    const ended = await once(id, hasStatus('complete'), 'the end');
    const details = (index: number, up: boolean) => ({
      token: '********',
      port: index + 1,
      up,
      status: 'complete',
      childJobLoopIndex: index,
    });
    assert.deepEqual(ended.variables.details, { loop: [details(0, false), details(1, true)] });
    assert.doesNotMatch(JSON.stringify(await logged(id)), /s3cret/);
  });

  it('shows all of them below the task that began them, also those that began later', async () => {
    const id = await start('Port by port', { variables: { ports: [{ port: 1 }, { port: 2 }] } });
    for (const index of [0, 1]) await finish(idOf(id, 'c', 1, index));
    await once(id, hasStatus('complete'), 'the end');
    const [first] = await logged(id);
    const trace = ok(await service.ask('GET', `/audit/trace/${(first as Json).metadata.$correlationId}`));
    const all = (nodes: Json[]): Json[] => nodes.flatMap((node) => [node, ...all(node.children)]);
    const began = all(trace.results).find(({ topic, data }) => topic === 'taskStarted' && data.task === 'c');
    assert.deepEqual(
      began.children.filter(({ topic }: Json) => topic === 'jobStarted').map(({ data }: Json) => data.parent.index),
      [0, 1],
    );
  });

  it('begins each with what a transformation makes of its item and of the variables', async () => {
    const made = transformation('Port of an item', {
      incoming: ['currentValue', 'site', 'token'],
      outgoing: ['port', 'site', 'token', 'chance', 'at'],
      steps: [
        step(1, 'Number.parseInt'),
        step(2, 'Math.random'),
        step(3, 'Date.now'),
        wire('incoming currentValue', 'method 1 /args/0/value'),
        wire('method 1 /return', 'outgoing port'),
        wire('incoming site', 'outgoing site'),
        wire('incoming token', 'outgoing token'),
        wire('method 2 /return', 'outgoing chance'),
        wire('method 3 /return', 'outgoing at'),
      ],
    });
    ok(await service.ask('POST', '/template_builder/transformations', made));
    const list = {
      workflow: 'Port',
      loopType: 'parallel',
      data_array: '$var.job.ports',
      transformation: made.name,
      variables: { site: { task: 'static', value: 'Ulm' }, token: { task: 'job', value: 'token' } },
    };
    await save('Ports of texts', workflow({ c: child(list, keeps) }, ['start -> c', 'c -> end']));
    const id = await start('Ports of texts', { variables: { ports: ['4', '5', {}], token: 's3cret' } });
    for (const index of [0, 1]) {
      const { variables } = await once(idOf(id, 'c', 1, index), () => true, 'the child');
      const { chance, at, ...rest } = variables;
      assert.deepEqual(rest, { port: index + 4, site: 'Ulm', token: '********' });
      assert.equal(chance, randomOf(`${id}.c.1.${index}`)());
      assert.equal(new Date(at).toISOString(), (await job(id)).tasks.c.from);
    }
    for (const index of [0, 1]) await finish(idOf(id, 'c', 1, index));
    const { error } = await once(id, hasStatus('error'), 'the end');
    assert.match(error.message, /Child 2 could not begin: The transformation fails: Step 1 \(Number.parseInt\)/);
    assert.doesNotMatch(JSON.stringify(await logged(id)), /s3cret/);
  });

  it('has an error if one cannot begin, and retries what was in error alone', async () => {
    const id = await start('All ports', { variables: { ports: [{ port: 1 }, { port: 'two' }, { port: 3 }] } });
    await finish(idOf(id, 'c', 1, 0));
    await finish(idOf(id, 'c', 1, 2), { result: 'error', error: 'no link' });
    const failed = await once(id, hasStatus('error'), 'the error');
    assert.deepEqual(
      failed.tasks.c.children.map(({ job: of, status }: Json) => [of !== null, status]),
      [
        [true, 'complete'],
        [false, 'error'],
        [true, 'error'],
      ],
    );
    assert.match(failed.tasks.c.error, /^Child 1 could not begin: .*\/variables\/port/);
    await move('retry', id);
    const again = idOf(id, 'c', 1, 2);
    assert.deepEqual((await once(again, hasStatus('running'), 'the retry')).tasks.w.run, 2);
    await finish(again);
    assert.equal((await once(id, hasStatus('error'), 'the second end')).tasks.c.run, 2);
    for (const [name, error] of [
      ['Nowhere', /There is no workflow "Nowhere"/],
      ['Faulty', /has faults/],
    ] as const) {
      if (name === 'Faulty') await save(name, workflow({ w: worker() }, ['start -> w', 'w -> nowhere']));
      await save(`Calls ${name}`, workflow({ c: child({ workflow: name }) }, ['start -> c', 'c -> end']));
      assert.match((await once(await start(`Calls ${name}`), hasStatus('error'), name)).tasks.c.error, error);
    }
  });

  it('goes on if a child is retried by itself after all', async () => {
    const id = await start('All ports', { variables: { ports: [{ port: 1 }, { port: 2 }] } });
    const [first = '', second = ''] = [0, 1].map((index) => idOf(id, 'c', 1, index));
    await finish(first, { result: 'error', error: 'no link' });
    const status = (now: Json) => now.tasks.c.children[0].status;
    await once(id, (now) => status(now) === 'error', 'the note of the error');
    await move('retry', first);
    await once(id, (now) => status(now) === 'running', 'the note of the retry');
    await finish(second);
    await finish(first);
    await once(id, hasStatus('complete'), 'the end');
  });

  it('is paused, resumed and canceled with them, at any depth', async () => {
    await save('Outer', workflow({ c: child({ workflow: 'Inner' }) }, ['start -> c', 'c -> end']));
    await save(
      'Inner',
      workflow({ c: child({ workflow: 'Port', variables: { port: { task: 'static', value: 5 } } }) }, [
        'start -> c',
        'c -> end',
      ]),
    );
    const id = await start('Outer');
    const inner = idOf(id, 'c', 1, 0);
    const innermost = idOf(inner, 'c', 1, 0);
    const all = [id, inner, innermost];
    assert.deepEqual((await once(innermost, hasStatus('running'), 'the innermost')).ancestors, [inner, id]);
    for (const [what, status] of [
      ['pause', 'paused'],
      ['resume', 'running'],
      ['cancel', 'canceled'],
    ] as const) {
      await move(what, id);
      for (const one of all) await once(one, hasStatus(status), `${status}: ${one}`);
    }
    refused(await who.member('POST', `${om}/jobs/retry`, { jobIds: [inner] }), 409);
  });

  it('that calls itself ends, in words, at eight levels', async () => {
    await save('Self', workflow({ c: child({ workflow: 'Self' }) }, ['start -> c', 'c -> end']));
    const ended = await once(await start('Self'), hasStatus('error'), 'the end');
    assert.match(ended.tasks.c.error, /8 levels/);
  });

  it('breaks off a child whose time is over', async () => {
    const limited = {
      ...child({ workflow: 'Port', variables: { port: { task: 'static', value: 5 } } }),
      timeLimit: { seconds: 1 },
    };
    await save('Limited', workflow({ c: limited }, ['start -> c', 'c -> end']));
    const id = await start('Limited');
    assert.match((await once(id, hasStatus('error'), 'the limit')).tasks.c.error, /time limit/);
    await once(idOf(id, 'c', 1, 0), hasStatus('canceled'), 'the child');
  });

  it('goes on after a restart', async () => {
    const id = await start('Port by port', { variables: { ports: [{ port: 1 }, { port: 2 }] } });
    await once(idOf(id, 'c', 1, 0), hasStatus('running'), 'the first');
    service = await service.restart();
    const finished = async (index: number): Promise<void> => {
      const one = idOf(id, 'c', 1, index);
      await once(one, (now) => now.tasks.w?.status === 'waiting', 'its task');
      const [{ _id: task }] = await admin('GET', `tasks?job=${one}`);
      await admin('POST', `tasks/${task}/finish`, { result: 'success' });
    };
    for (const index of [0, 1]) await finished(index);
    await once(id, hasStatus('complete'), 'the end');
  });
});

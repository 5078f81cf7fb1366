import assert from 'node:assert/strict';
import { randomOf } from '@automation-platform/transformations';
import { ok, refused } from '../../support/people.ts';
import { step, transformation, wire } from '../../support/transformationSamples.ts';
import { until } from '../../support/until.ts';
import { usePeople, useService } from '../../support/useService.ts';
import { ours, person, worker, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says

const om = '/operations-manager';

describe('The simulation of a workflow', function () {
  this.timeout(60_000);
  const service = useService();
  const some = usePeople(service);

  const save = async (name: string, tasks: Json, edges: readonly string[], more: Json = {}): Promise<string> =>
    ok(await service.ask('POST', `${om}/workflows`, { ...workflow(tasks, edges), name, ...more })).data._id;
  const simulate = (id: string, body: Json = {}, ask = service.ask) =>
    ask('POST', `${om}/workflows/${encodeURIComponent(id)}/simulate`, body);

  it('shows the end, the tasks and the events, and stores nothing', async () => {
    const tasks = {
      check: ours('validateJsonSchema', { jsonData: '$var.job.data', schema: { type: 'number' } }),
      wait: ours('delay', { time: 86_400 }),
      work: worker({}, { variables: { outgoing: { token: '$var.job.token', out: '$var.job.out' } } }),
      ask: person(),
      child: ours('childJob', { workflow: 'Other', variables: {}, loopType: '' }),
    };
    const edges = ['start -> check', 'check -> wait', 'wait -> work', 'work -> ask', 'ask -> child', 'child -> end'];
    const inputSchema = { type: 'object', required: ['data'], properties: { data: { type: 'number' } } };
    await save('Whole', tasks, edges, { inputSchema });
    const answers = {
      work: [{ result: 'success', outgoing: { token: 'hush-hush', out: [1] } }],
      child: [{ result: 'success', outgoing: { job_details: { status: 'complete' } } }],
    };
    const body = { variables: { data: 5, password: 'open sesame' }, answers };
    const answer = await simulate('Whole', body, some.reader);
    const { status, error, variables, tasks: ended, events } = ok(answer).data;
    assert.deepEqual([status, error], ['complete', null]);
    assert.deepEqual(variables, { data: 5, password: '********', token: '********', out: [1] });
    assert.doesNotMatch(answer.text, /hush-hush|open sesame/);
    const { from, to, claim, ...work } = ended.work;
    assert.deepEqual([work.status, work.run, from, to, claim], ['done', 1, null, null, null]);
    assert.deepEqual(
      events.map(({ topic, data }: Json) => [topic, data.task].filter(Boolean).join(' ')),
      [
        'jobStarted',
        'taskFinished workflow_start',
        'taskFinished check',
        'taskStarted wait',
        'taskFinished wait',
        'taskOffered work',
        'taskFinished work',
        'taskOffered ask',
        'taskFinished ask',
        'taskStarted child',
        'childrenBegun child',
        'taskFinished child',
        'taskFinished workflow_end',
        'jobCompleted',
      ],
    );
    assert.deepEqual(ok(await service.ask('GET', `${om}/jobs`)).data, []);
  });

  it('carries out transformations as a job does', async () => {
    const named = transformation('Chances', {
      incoming: ['site', 'token'],
      outgoing: ['site', 'chance', 'token'],
      steps: [
        step(1, 'String.toUpperCase'),
        step(2, 'Math.random'),
        wire('incoming site', 'method 1 /args/0/value'),
        wire('method 1 /return', 'outgoing site'),
        wire('method 2 /return', 'outgoing chance'),
        wire('incoming token', 'outgoing token'),
      ],
    });
    ok(
      await service.ask('POST', '/template_builder/transformations', {
        ...named,
        incoming: [{ $id: 'site', type: 'string' }, { $id: 'token' }],
      }),
    );
    const map = (site: string) => ({ site, token: '$var.job.token' });
    const by = (variableMap: Json, more: Json = {}) =>
      ours('transformation', { tr_id: 'Chances', variableMap, options: { validateIncoming: true }, ...more });
    const tasks = {
      a: by(map('$var.job.site')),
      b: by(map('$var.job.n')),
      c: by({ site: 'x' }, { tr_id: '$var.job.site' }),
      d: by({ site: 'x' }, { tr_id: '$var.job.other' }),
    };
    ok(await service.ask('POST', '/template_builder/transformations', { ...named, name: 'Named by a value' }));
    const edges = ['start -> d', 'd -> a', 'a -> b', 'a -> c', 'b -> end', 'c -> end'];
    await save('Transforming', tasks, edges);
    const other = { other: 'Named by a value' };
    const { events } = ok(
      await simulate('Transforming', { variables: { site: 'Ulm', n: 7, token: 'hush-hush', ...other } }),
    ).data;
    const ends = (task: string) =>
      events.find(({ topic, data }: Json) => topic === 'taskFinished' && data.task === task).data;
    assert.deepEqual(ends('a').outgoing, {
      site: 'ULM',
      chance: randomOf(`${'0'.repeat(24)}.a.1`)(),
      token: '********',
    });
    assert.equal(ends('b').error, 'The inputs do not fit the transformation: /incoming/site must be string');
    assert.equal(ends('c').error, 'There is no transformation "Ulm"');
    const id = ok(
      await service.ask('POST', `${om}/jobs/start`, {
        workflow: 'Transforming',
        options: { variables: { site: 'Ulm', n: 7, ...other } },
      }),
    ).data._id;
    await until(
      async () => ok(await service.ask('GET', `${om}/jobs/${id}`)).data.status === 'error',
      'the end of the job',
    );
    const shown = ok(await service.ask('GET', `${om}/jobs/${id}/tasks/d`)).data;
    assert.deepEqual([shown.outgoing.site, ends('d').outgoing.site], ['X', 'X']);
    for (const task of ['b', 'c'])
      assert.equal(ok(await service.ask('GET', `${om}/jobs/${id}/tasks/${task}`)).data.error, ends(task).error);
  });

  it('is refused for faults, variables and answers that do not fit, and past its bounds', async () => {
    const loop = {
      again: ours('newVariable', { name: 'n', value: 1 }),
      more: worker({}, {}),
    };
    await save('Endless', loop, ['start -> again', 'again -> more', 'more -> end', 'again <-failure- more']);
    await save('Faulty', { a: ours('decision', { decisionArray: 'x' }) }, ['start -> a', 'a -> end']);
    refused(await simulate('Faulty'), 422, /faults/);
    refused(await simulate('none'), 404);
    refused(await simulate('Whole'), 422, /data/);
    refused(await simulate('Endless', { answers: { none: [] } }), 400, /"\/answers\/none"/);
    refused(
      await simulate('Endless', { answers: { more: [{ result: 'error' }] } }),
      400,
      /"\/answers\/more\/0\/error"/,
    );
    refused(await simulate('Endless', { answers: { more: [{ result: 'no' }] } }), 400, /"\/answers\/more\/0\/result"/);
    refused(await simulate('Endless', {}, some.outsider), 403);
    const endless = await simulate('Endless', { answers: { more: [{ result: 'failure' }] } });
    const { status, error } = ok(endless).data;
    assert.deepEqual([status, error], ['error', 'A job runs 10000 tasks at most']);
    const grows = { more: [{ result: 'failure', outgoing: { out: 'x'.repeat(100_000) } }] };
    refused(await simulate('Endless', { answers: grows }), 422, /The simulation fails: It/);
  });

  it('leaves out no fault of a workflow that is kept', async () => {
    const { faults, warnings } = ok(await service.ask('POST', `${om}/workflows/Faulty/validate`)).data;
    assert.deepEqual([faults.map(({ code }: Json) => code), warnings], [['input'], []]);
    refused(await service.ask('POST', `${om}/workflows/none/validate`), 404);
  });
});

import assert from 'node:assert/strict';
import { runAction } from '../src/commands/lifecycle-manager/actionExecutions.ts';
import { createResourceModel } from '../src/commands/lifecycle-manager/resourceModels.ts';
import { claimJob, lapseClaim } from '../src/commands/operations-manager/jobClaims.ts';
import { fold } from '../src/domain/engine/core.ts';
import {
  type ActionStarted,
  actionExecution,
  cancel,
  type ExecutionEvent,
  note,
  type RunRefs,
  run,
} from '../src/domain/lifecycle-manager/actionExecutions.ts';
import { clear, type LastAction, lastAction, record } from '../src/domain/lifecycle-manager/lastActions.ts';
import { resourceModel } from '../src/domain/lifecycle-manager/resourceModels.ts';
import { job } from '../src/domain/operations-manager/jobs.ts';
import { context, specification } from './given.ts';
import { fixedClock, nodesOnLog } from './node.ts';
import { ok, type People, people, refused } from './people.ts';
import { startService, type TestService } from './service.ts';

const given = specification(actionExecution);
const update = { _id: '00af', name: 'Resize', type: 'update', workflow: 'Resize circuit', description: '' } as const;
const started: ActionStarted = {
  modelId: 'm',
  action: update,
  automation: 'an automation',
  target: { type: 'group', _id: 'g', name: 'Edge' },
  instanceDescription: '',
  inputs: { mtu: 9000 },
  tasks: [
    { _id: 'id of task a', instanceId: 'a', instanceName: 'one' },
    { _id: 'id of task b', instanceId: 'b', instanceName: 'two' },
  ],
  started: context.now,
};
const begun: ExecutionEvent = { topic: 'actionStarted', data: started };
const refs: RunRefs = {
  modelExists: true,
  action: update,
  target: started.target,
  size: 2,
  instances: [
    { id: 'a', name: 'one' },
    { id: 'b', name: 'two' },
  ],
  automation: 'an automation',
  faults: [],
  inputs: { mtu: 9000 },
};
const input = { modelId: 'm', actionId: '00AF', group: 'Edge', inputs: { mtu: 9000 } };
const changed = (
  task: string,
  status: 'complete' | 'error' | 'paused' | 'running' | 'canceled',
  more: object = {},
): ExecutionEvent => ({ topic: 'actionTaskChanged', data: { task: `id of task ${task}`, status, ...more } });
const empty = (
  topic: 'actionCompleted' | 'actionPaused' | 'actionResumed' | 'actionCanceled' | 'actionCancelRequested',
): ExecutionEvent => ({ topic, data: {} });

describe('An execution of an action', () => {
  it('has a task for every instance of its target', () => {
    given().when(run, input, refs).then(begun);
  });

  it('is complete at once without a workflow', () => {
    const action = { ...update, workflow: null };
    given()
      .when(run, input, { ...refs, action })
      .then({ topic: 'actionStarted', data: { ...started, action } }, empty('actionCompleted'));
  });

  it('makes an instance that has an id and a name from the start', () => {
    const action = { ...update, type: 'create' } as const;
    const one = { modelId: 'm', actionId: '00af', instanceName: 'new', instanceDescription: 'Fresh' };
    const { target: _, ...without } = refs;
    const making: ExecutionEvent = {
      topic: 'actionStarted',
      data: {
        ...started,
        action,
        instanceDescription: 'Fresh',
        target: { type: 'instance', _id: 'id of instance', name: 'new' },
        tasks: [{ _id: 'id of task id of instance', instanceId: 'id of instance', instanceName: 'new' }],
      },
    };
    given()
      .when(run, one, { ...without, action, size: 0, instances: [] })
      .then(making);
    const promised = [
      { owner: 'resourceInstance-id of instance', name: { kind: 'resourceInstance', parent: 'm', name: 'new' } },
    ];
    assert.deepEqual(actionExecution.reservations!(fold(actionExecution, [making])), promised);
    assert.deepEqual(
      actionExecution.reservations!(fold(actionExecution, [making, { topic: 'actionErrored', data: { error: 'no' } }])),
      [],
    );
    given()
      .when(run, { modelId: 'm', actionId: '00af' }, { ...refs, action })
      .thenRefused('invalid', /\/instanceName/);
    given()
      .when(run, { ...one, instance: 'x' }, { ...refs, action })
      .thenRefused('invalid', /\/instance"/);
  });

  it('is refused without action or target, or on what it cannot reach', () => {
    const { action: _, ...noAction } = refs;
    const { target: __, ...noTarget } = refs;
    given()
      .when(run, input, { ...refs, modelExists: false })
      .thenRefused('not_found');
    given()
      .when(run, input, noAction)
      .thenRefused('not_found', /\/actionId/);
    given()
      .when(run, input, noTarget)
      .thenRefused('not_found', /\/group/);
    given()
      .when(run, { modelId: 'm', actionId: '00af' }, refs)
      .thenRefused('invalid', /\/instance/);
    given()
      .when(run, { ...input, instance: 'one' }, refs)
      .thenRefused('invalid', /\/group/);
    given()
      .when(run, { ...input, instanceName: 'x' }, refs)
      .thenRefused('invalid', /\/instanceName/);
    given()
      .when(run, input, { ...refs, size: 0, instances: [] })
      .thenRefused('unprocessable', /\/group/);
    given()
      .when(run, input, { ...refs, size: 1001, instances: [] })
      .thenRefused('unprocessable', /1001/);
    given()
      .when(run, input, { ...refs, faults: [{ message: 'must be integer', path: '/inputs/mtu' }] })
      .thenRefused('unprocessable', /\/inputs\/mtu/);
  });

  it('takes over what its jobs say, and is complete when all are', () => {
    const done = { status: 'complete', error: null, instanceData: { mtu: 9000 } } as const;
    const first = changed('a', 'complete', { instanceData: { mtu: 9000 } });
    given(begun).when(note, { task: 'id of task a' }, done).then(first);
    given(begun, first).when(note, { task: 'id of task a' }, done).thenNothing();
    given(begun, first)
      .when(note, { task: 'id of task b' }, { status: 'complete', error: null })
      .then(changed('b', 'complete'), empty('actionCompleted'));
    given(begun, first, changed('b', 'complete'), empty('actionCompleted'))
      .when(note, { task: 'id of task b' }, { status: 'error', error: 'late' })
      .thenNothing();
    given(begun).when(note, { task: 'of nobody' }, done).thenNothing();
    given().when(note, { task: 'id of task a' }, done).thenNothing();
  });

  it('fails if a job does, or leaves what does not fit, once the others have ended', () => {
    given(begun)
      .when(note, { task: 'id of task a' }, { status: 'error', error: 'no route' })
      .then(changed('a', 'error', { error: 'no route' }));
    given(begun, changed('a', 'error', { error: 'no route' }))
      .when(note, { task: 'id of task b' }, { status: 'complete', error: null })
      .then(changed('b', 'complete'), { topic: 'actionErrored', data: { error: 'no route' } });
    given(begun, changed('b', 'complete'))
      .when(note, { task: 'id of task a' }, { status: 'complete', error: null, fault: 'does not fit' })
      .then(changed('a', 'error', { error: 'does not fit' }), {
        topic: 'actionErrored',
        data: { error: 'does not fit' },
      });
  });

  it('pauses when nothing runs any more, and goes on', () => {
    const both = [begun, changed('a', 'paused'), changed('b', 'paused'), empty('actionPaused')] as const;
    given(begun).when(note, { task: 'id of task a' }, { status: 'paused', error: null }).then(changed('a', 'paused'));
    given(begun, changed('a', 'paused'))
      .when(note, { task: 'id of task b' }, { status: 'paused', error: null })
      .then(changed('b', 'paused'), empty('actionPaused'));
    given(...both)
      .when(note, { task: 'id of task a' }, { status: 'running', error: null })
      .then(changed('a', 'running'), empty('actionResumed'));
  });

  it('is canceled once its jobs are; what was complete stays so', () => {
    given(begun).when(cancel, {}).then(empty('actionCancelRequested'));
    given(begun, empty('actionCancelRequested')).when(cancel, {}).thenNothing();
    given(begun, changed('a', 'complete'), empty('actionCancelRequested'))
      .when(note, { task: 'id of task b' }, { status: 'canceled', error: null })
      .then(changed('b', 'canceled'), empty('actionCanceled'));
    given(begun, changed('a', 'complete'), changed('b', 'canceled'), empty('actionCanceled'))
      .when(cancel, {})
      .thenNothing();
    given(begun, changed('a', 'complete'), changed('b', 'complete'), empty('actionCompleted'))
      .when(cancel, {})
      .thenRefused('conflict', /complete/);
  });
});

describe('The last action', () => {
  const last: LastAction = {
    _id: '00af',
    executionId: 'e2',
    name: 'Resize',
    type: 'update',
    status: 'running',
    started: '2026-01-02T00:00:00.000Z',
  };
  const givenLast = specification(lastAction);
  it('is the one that started last, as it stands now', () => {
    givenLast().when(record, {}, last).then({ topic: 'lastActionSet', data: last });
    givenLast({ topic: 'lastActionSet', data: last }).when(record, {}, last).thenNothing();
    givenLast({ topic: 'lastActionSet', data: last })
      .when(record, {}, { ...last, status: 'complete' })
      .then({ topic: 'lastActionSet', data: { ...last, status: 'complete' } });
    givenLast({ topic: 'lastActionSet', data: last })
      .when(record, {}, { ...last, executionId: 'e1', started: '2026-01-01T00:00:00.000Z', status: 'complete' })
      .thenNothing();
    givenLast().when(record, {}, undefined).thenNothing();
  });
  it('is forgotten with what it was about', () => {
    givenLast({ topic: 'lastActionSet', data: last }).when(clear, {}).then({ topic: 'lastActionCleared', data: {} });
    givenLast({ topic: 'lastActionSet', data: last }, { topic: 'lastActionCleared', data: {} })
      .when(clear, {})
      .thenNothing();
  });
});

describe('An execution whose workers are lost', () => {
  const clock = fixedClock();
  const { node } = nodesOnLog({ reacting: true, now: clock.now });

  it('ends in error once its job is given up', async () => {
    const one = await node();
    const [model, execution] = ['d', 'e'].map((letter) => letter.repeat(24)) as [string, string];
    const actions = [{ name: 'Deploy', type: 'create', workflow: 'Deploy VLAN' }];
    await one.command(createResourceModel, model, { name: 'VLAN', schema: {}, actions });
    const [made] = (await one.tools.state(resourceModel, model)).content.actions;
    const stateNow = () => one.tools.state(actionExecution, execution);
    await one.command(runAction, execution, { modelId: model, actionId: made?._id, instanceName: 'new', inputs: {} });
    const { _id: id } = (await stateNow()).tasks[0]!;
    for (const claim of [1, 2, 3]) {
      assert.equal((await stateNow()).status, 'running');
      await one.command(claimJob, id, { worker: 'w', lease: 10 });
      clock.pass(10_000);
      await one.command(lapseClaim, id, { claim, until: clock.now() });
    }
    assert.equal((await one.tools.state(job, id)).status, 'incomplete');
    const { status, tasks } = await stateNow();
    assert.deepEqual([status, tasks[0]?.status], ['error', 'error']);
  });
});

describe('Actions over HTTP', () => {
  const models = '/lifecycle-manager/resources';
  const executions = '/lifecycle-manager/action-executions';
  let service: TestService;
  let some: People;
  let ids: Record<string, string>;
  before(async () => {
    service = await startService();
    some = await people(service);
    const schema = { type: 'object', required: ['vlan'], properties: { vlan: { type: 'integer' } } };
    const { data } = ok(
      await service.ask('POST', models, {
        name: 'VLAN',
        schema,
        actions: [
          { name: 'Deploy', type: 'create', workflow: 'Deploy VLAN' },
          { name: 'Resize', type: 'update', workflow: 'Resize VLAN' },
          { name: 'Withdraw', type: 'delete', workflow: 'Withdraw VLAN' },
          { name: 'Take in', type: 'import' },
          { name: 'Set', type: 'update' },
          { name: 'Forget', type: 'delete' },
          { name: 'Guarded', type: 'update', workflow: 'Guarded' },
        ],
      }),
    );
    ids = Object.fromEntries(data.actions.map(({ name, _id }: { name: string; _id: string }) => [name, _id]));
    for (const [i, name] of ['a', 'b', 'c'].entries()) await instance(name, i + 1);
    ok(await service.ask('POST', `${models}/VLAN/groups`, { name: 'All', instances: ['a', 'b'] }));
    ok(
      await service.ask('POST', '/operations-manager/automations', {
        name: 'Guarded',
        gbac: { read: [], write: ['ops'] },
      }),
    );
  });
  after(() => service.stop());
  afterEach(() => assert.deepEqual(service.lines, []));
  const instance = async (name: string, vlan: number) =>
    ok(await service.ask('POST', `${models}/VLAN/instances`, { name, instanceData: { vlan } })).data;
  const act = (action: string, body: object, as = service.ask) =>
    as('POST', `${models}/VLAN/run-action`, { actionId: ids[action], ...body });
  const started = async (action: string, body: object) => ok(await act(action, body)).data;
  const get = async (id: string) => ok(await service.ask('GET', `${executions}/${id}`)).data;
  const found = async (name: string) => ok(await service.ask('GET', `${models}/VLAN/instances/${name}`)).data;
  const jobsOf = (execution: { tasks: { job: string }[] }) => execution.tasks.map(({ job }) => job);
  const report = async (job: string | undefined, what: string, body: object) =>
    ok(await service.ask('POST', `/operations-manager/jobs/${job}/${what}`, body));

  it('create: the instance is there once its job is complete, with what the job leaves', async () => {
    const execution = await started('Deploy', {
      instanceName: 'new',
      instanceDescription: 'Fresh',
      inputs: { vlan: 30, password: 'tacacs+' },
    });
    assert.deepEqual(
      { status: execution.status, inputs: execution.inputs, by: execution.createdBy.username },
      { status: 'running', inputs: { vlan: 30, password: '********' }, by: 'admin' },
    );
    refused(await service.ask('GET', `${models}/VLAN/instances/new`), 404);
    refused(await act('Deploy', { instanceName: 'new', inputs: { vlan: 31 } }), 409, /name/);
    refused(
      await service.ask('POST', `${models}/VLAN/instances`, { name: 'new', instanceData: { vlan: 31 } }),
      409,
      /name/,
    );
    const [job] = jobsOf(execution);
    const { data } = ok(await service.ask('GET', `/operations-manager/jobs/${job}`));
    assert.deepEqual(
      [data.name, data.description, data.variables.instance],
      ['Deploy VLAN', 'Deploy: new', { vlan: 30, password: '********' }],
    );
    await report(job, 'complete', { variables: { instance: { vlan: 30, port: 'Gi0/1' } } });
    const made = await found('new');
    assert.deepEqual(
      [made.instanceData, made.description, made._id],
      [{ vlan: 30, port: 'Gi0/1' }, 'Fresh', execution.target._id],
    );
    assert.deepEqual(made.lastAction, {
      _id: ids.Deploy,
      executionId: execution._id,
      name: 'Deploy',
      type: 'create',
      status: 'complete',
    });
    assert.equal((await get(execution._id)).status, 'complete');
    const etag = (await service.ask('GET', `${models}/VLAN/instances/new`)).headers.get('etag');
    assert.match(etag!, /^"0-/, 'runs never make editors stale');
  });

  it('create: nothing comes of a job that fails or leaves what does not fit, and the name is free again', async () => {
    for (const [what, body, error] of [
      ['error', { error: 'no port' }, /no port/],
      ['complete', { variables: { instance: { vlan: 'x' } } }, /variables\/instance\/vlan/],
      ['complete', { variables: { instance: 7 } }, /no object/],
    ] as const) {
      const execution = await started('Deploy', { instanceName: 'never', inputs: { vlan: 40 } });
      await report(jobsOf(execution)[0], what, body);
      const ended = await get(execution._id);
      assert.equal(ended.status, 'error');
      assert.match(ended.error, error);
      refused(await service.ask('GET', `${models}/VLAN/instances/never`), 404);
    }
  });

  it('update: an instance gets what its job leaves, and keeps what others have edited if that is nothing', async () => {
    const execution = await started('Resize', { instance: 'c', inputs: { size: 2 } });
    assert.equal((await found('c')).lastAction.status, 'running');
    ok(await service.ask('PUT', `${models}/VLAN/instances/c`, { name: 'c', instanceData: { vlan: 33 } }));
    await report(jobsOf(execution)[0], 'complete', { variables: { log: 'ok' } });
    assert.deepEqual(
      [(await found('c')).instanceData, (await found('c')).lastAction.status],
      [{ vlan: 33 }, 'complete'],
    );
    await report(jobsOf(await started('Resize', { instance: 'c' }))[0], 'complete', {
      variables: { instance: { vlan: 34 } },
    });
    assert.deepEqual((await found('c')).instanceData, { vlan: 34 });
  });

  it('on a group: a job for each member, complete when all are', async () => {
    const execution = await started('Resize', { group: 'All' });
    const group = async () => ok(await service.ask('GET', `${models}/VLAN/groups/All`)).data.lastAction;
    const [one, two] = jobsOf(execution);
    await report(one, 'complete', { variables: { instance: { vlan: 101 } } });
    assert.deepEqual(
      [await group(), (await get(execution._id)).tasks.map(({ status }: { status: string }) => status)],
      [
        { _id: ids.Resize, executionId: execution._id, name: 'Resize', type: 'update', status: 'running' },
        ['complete', 'running'],
      ],
    );
    ok(await service.ask('POST', '/operations-manager/jobs/pause', { jobIds: [two] }));
    assert.deepEqual([(await group()).status, (await get(execution._id)).status], ['paused', 'paused']);
    ok(await service.ask('POST', '/operations-manager/jobs/resume', { jobIds: [two] }));
    assert.equal((await group()).status, 'running');
    await report(two, 'complete', {});
    assert.equal((await group()).status, 'complete');
    const { instanceName } = execution.tasks[0];
    assert.deepEqual((await found(instanceName)).instanceData, { vlan: 101 });
  });

  it('are canceled with their jobs; an execution that has ended cannot be', async () => {
    const execution = await started('Resize', { group: 'All' });
    await report(jobsOf(execution)[0], 'complete', {});
    const canceled = ok(await service.ask('POST', `${executions}/${execution._id}/cancel`)).data;
    assert.deepEqual(
      [canceled.status, canceled.tasks.map(({ status }: { status: string }) => status)],
      ['canceled', ['complete', 'canceled']],
    );
    assert.equal(
      ok(await service.ask('GET', `/operations-manager/jobs/${jobsOf(execution)[1]}`)).data.status,
      'canceled',
    );
    ok(await service.ask('POST', `${executions}/${execution._id}/cancel`));
    const complete = await started('Set', { instance: 'a', inputs: { vlan: 1 } });
    refused(await service.ask('POST', `${executions}/${complete._id}/cancel`), 409, /complete/);
    refused(await service.ask('POST', `${executions}/nothing/cancel`), 404);
  });

  it('delete: the instance goes when the job is complete', async () => {
    await instance('old', 9);
    ok(await service.ask('PATCH', `${models}/VLAN/groups/All`, { instancesToAdd: ['old'] }));
    const execution = await started('Withdraw', { instance: 'old' });
    assert.equal((await found('old')).lastAction.status, 'running');
    await report(jobsOf(execution)[0], 'complete', {});
    refused(await service.ask('GET', `${models}/VLAN/instances/old`), 404);
    assert.deepEqual(ok(await service.ask('PATCH', `${models}/VLAN/groups/All`, {})).metadata.total, 2);
  });

  it('without a workflow take effect at once', async () => {
    const execution = await started('Take in', { instanceName: 'found', inputs: { vlan: 50 } });
    assert.deepEqual(
      [execution.status, execution.tasks[0].job, (await found('found')).instanceData],
      ['complete', null, { vlan: 50 }],
    );
    refused(await act('Take in', { instanceName: 'found', inputs: { vlan: 50 } }), 409, /name/);
    refused(await act('Take in', { instanceName: 'bad', inputs: {} }), 422, /\/inputs\/vlan/);
    await started('Set', { group: 'All', inputs: { mtu: 9000 } });
    for (const name of ['a', 'b']) assert.equal((await found(name)).instanceData.mtu, 9000);
    refused(await act('Set', { group: 'All', inputs: { vlan: 'x' } }), 422, /\/inputs\/vlan/);
    await started('Forget', { instance: 'found' });
    refused(await service.ask('GET', `${models}/VLAN/instances/found`), 404);
    await started('Take in', { instanceName: 'found', inputs: { vlan: 51 } });
  });

  it('are refused where something is missing or not allowed', async () => {
    refused(await act('Resize', { instance: 'nothing' }), 404, /\/instance/);
    refused(await act('Resize', { group: 'nothing' }), 404, /\/group/);
    refused(await act('Resize', {}), 400, /\/instance/);
    refused(
      await service.ask('POST', `${models}/VLAN/run-action`, { actionId: 'fffg', instance: 'a' }),
      404,
      /\/actionId/,
    );
    refused(await service.ask('POST', `${models}/nothing/run-action`, { actionId: ids.Resize, instance: 'a' }), 404);
    refused(await act('Resize', { instance: 'a' }, some.reader), 403);
  });

  it('run an automation for those who may see it; for others its name is that of no automation', async () => {
    const started = [];
    for (const ask of [some.member, some.stranger]) {
      const [id] = jobsOf(ok(await act('Guarded', { instance: 'a' }, ask)).data);
      const path = `/operations-manager/jobs/${id}`;
      const { type, component, automation } = ok(await service.ask('GET', path)).data;
      started.push([type, component, automation !== null]);
      ok(await ask('POST', `${path}/complete`, {}));
    }
    const component = { name: 'Guarded', type: null };
    assert.deepEqual(started, [
      ['automation', component, true],
      ['workflow', { ...component, type: 'workflows' }, false],
    ]);
  });

  it('are listed, the latest first, by status', async () => {
    const all = ok(await some.reader('GET', `${executions}?limit=1000`)).data;
    assert.deepEqual(
      all.map(({ created }: { created: string }) => created),
      all
        .map(({ created }: { created: string }) => created)
        .toSorted()
        .reverse(),
    );
    const errors = ok(await some.reader('GET', `${executions}?multiEquals[status]=error`));
    assert.equal(errors.metadata.total, 3);
    assert.ok(errors.data.every(({ status }: { status: string }) => status === 'error'));
  });
});

import assert from 'node:assert/strict';
import { ok, refused } from '../../support/people.ts';
import { usePeople, useService } from '../../support/useService.ts';

describe('Actions over HTTP', () => {
  const models = '/lifecycle-manager/resources';
  const executions = '/lifecycle-manager/action-executions';
  const service = useService();
  const some = usePeople(service);
  let ids: Record<string, string>;
  before(async () => {
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

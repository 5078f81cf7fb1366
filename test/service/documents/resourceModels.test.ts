import assert from 'node:assert/strict';
import { positionOf } from '../../support/hostile.ts';
import { ok, refused } from '../../support/people.ts';
import { until } from '../../support/until.ts';
import { usePeople, useService } from '../../support/useService.ts';

const schema = {
  type: 'object',
  required: ['vlan'],
  properties: { vlan: { type: 'integer', minimum: 1, maximum: 4094 } },
};

describe('Resource models over HTTP', () => {
  const path = '/lifecycle-manager/resources';
  const service = useService();
  const some = usePeople(service);
  afterEach(() => assert.deepEqual(service.lines, []));
  const make = async (name: string, more: object = {}) =>
    ok(await service.ask('POST', path, { name, schema, ...more })).data;
  const instance = async (model: string, name: string) =>
    ok(await service.ask('POST', `${path}/${model}/instances`, { name, instanceData: { vlan: 5 } })).data;

  it('are made, found by id and name, listed, replaced and deleted', async () => {
    const made = await make('Circuit', {
      description: 'Of a customer',
      actions: [{ name: 'Deploy', type: 'create', workflow: 'Deploy circuit' }],
    });
    assert.deepEqual(made.createdBy, {
      _id: made.createdBy._id,
      username: 'admin',
      firstname: '',
      provenance: 'local',
    });
    assert.match(made.actions[0]._id, /^[0-9a-f]{4}$/);
    assert.deepEqual(ok(await service.ask('GET', `${path}/Circuit`)).data, made);
    const { body } = await some.reader('GET', `${path}?multiEquals[name]=Circuit`);
    assert.deepEqual(
      { data: body.data, metadata: body.metadata },
      { data: [made], metadata: { skip: 0, limit: 25, total: 1 } },
    );
    const before = (await service.ask('GET', `${path}/Circuit`)).headers.get('etag')!;
    const replaced = ok(
      await some.member(
        'PUT',
        `${path}/Circuit`,
        { name: 'Line', schema, actions: made.actions },
        { 'If-Match': before },
      ),
    ).data;
    assert.deepEqual(replaced.actions, made.actions);
    assert.equal(replaced.lastUpdatedBy.username, 'member');
    refused(await service.ask('PUT', `${path}/Line`, { name: 'Other', schema }, { 'If-Match': before }), 412);
    assert.deepEqual(ok(await service.ask('DELETE', `${path}/Line`)), {
      message: 'Successfully deleted resource model',
      data: { _id: made._id, deletedInstances: 0 },
      metadata: {},
    });
    refused(await service.ask('GET', `${path}/Line`), 404);
    await make('Line');
  });

  it('are not deleted with instances, unless body or query say so', async () => {
    const { _id } = await make('Tunnel');
    for (const name of ['a', 'b', 'c']) await instance(_id, name);
    const group = ok(await service.ask('POST', `${path}/Tunnel/groups`, { name: 'all', instances: ['a', 'b'] })).data;
    const conflict = await service.ask('DELETE', `${path}/Tunnel`);
    refused(conflict, 409);
    assert.equal(conflict.body.metadata.errors[0].instances, 3);
    refused(
      await service.ask('DELETE', `${path}/Tunnel`, { queryParameters: { 'delete-associated-instances': 'false' } }),
      409,
    );
    refused(
      await service.ask('DELETE', `${path}/Tunnel`, { queryParameters: { 'delete-associated-instances': true } }),
      400,
      /delete-associated-instances/,
    );
    refused(await service.ask('DELETE', `${path}/Tunnel?delete-all=true`), 400, /delete-all/);
    const headers = { 'Idempotency-Key': 'delete tunnel'.replace(' ', '-') };
    const body = { queryParameters: { 'delete-associated-instances': 'true' } };
    assert.deepEqual(ok(await service.ask('DELETE', `${path}/${_id}`, body, headers)).data, {
      _id,
      deletedInstances: 3,
    });
    const again = await service.ask('DELETE', `${path}/${_id}`, body, headers);
    assert.deepEqual(
      [ok(again).data, again.headers.get('idempotency-replayed')],
      [{ _id, deletedInstances: 3 }, 'true'],
    );
    refused(await service.ask('GET', `${path}/${_id}/instances`), 404);
    refused(await service.ask('GET', `${path}/${_id}/groups/${group._id}`), 404);
    const { _id: second } = await make('Tunnel');
    await instance(second, 'a');
    assert.deepEqual(ok(await service.ask('DELETE', `${path}/Tunnel?delete-associated-instances=true`)).data, {
      _id: second,
      deletedInstances: 1,
    });
  });

  it('leave instances as they are when their schema changes; what is written then must fit', async () => {
    const { _id } = await make('Changing');
    const one = await instance(_id, 'one');
    ok(
      await service.ask('PUT', `${path}/Changing`, { name: 'Changing', schema: { type: 'object', required: ['mtu'] } }),
    );
    assert.deepEqual(ok(await service.ask('GET', `${path}/Changing/instances/one`)).data, one);
    refused(
      await service.ask('PUT', `${path}/Changing/instances/one`, { name: 'one', instanceData: { vlan: 5 } }),
      422,
      /\/instanceData\/mtu/,
    );
    ok(await service.ask('PUT', `${path}/Changing/instances/one`, { name: 'one', instanceData: { mtu: 9000 } }));
  });

  /** A model as other installations publish it. */
  const published = (digit: string, more: object = {}, action: object = {}) => ({
    _id: `64f1c2b8e4b012345678900${digit}`,
    name: `Port ${digit}`,
    description: '',
    schema: { type: 'object', properties: { port: { type: 'string' } } },
    actions: [
      {
        _id: '64f1c2b8e4b0123456789abd',
        name: 'Turn up',
        type: 'create',
        preWorkflowJst: null,
        workflow: null,
        postWorkflowJst: '64f1c2b8e4b0123456789abf',
        outputSchema: { properties: { password: { type: 'string' } } },
        ...action,
      },
    ],
    created: '2023-09-03T12:00:00.000Z',
    createdBy: { _id: '1', username: 'somebody' },
    lastUpdated: '2023-09-03T12:00:00.000Z',
    lastUpdatedBy: { _id: '1', username: 'somebody' },
    ...more,
  });
  const take = (model: unknown, more: object = {}) => service.ask('POST', `${path}/import`, { model, ...more });
  const given = async (id: string, query = '') => ok(await service.ask('GET', `${path}/${id}/export${query}`)).data;
  const asImported = (id: string) => given(id, '?as=imported');

  it('of other installations come in and go out as they were written', async () => {
    const model = published('1');
    const taken = await take(model);
    const { createdBy: _, lastUpdatedBy: __, ...known } = ok(taken).data;
    const { outputSchema, preWorkflowJst, postWorkflowJst, ...action } = model.actions[0]!;
    const { createdBy, lastUpdatedBy, ...rest } = model;
    assert.deepEqual(known, { ...rest, actions: [{ ...action, description: '' }] });
    assert.deepEqual(await asImported(model._id), model);
    const ours = await given('Port 1');
    assert.deepEqual([ours.createdBy, ours.actions[0].postWorkflowJst], ['somebody', postWorkflowJst]);
    const position = taken.headers.get('x-event-position');
    for (const [again, more] of [
      [model, {}],
      [ours, {}],
      [ours, { overwrite: true }],
      [await asImported('Port 1'), { options: { overwrite: true } }],
    ] as const)
      assert.equal((await take(again, more)).headers.get('x-event-position'), position);
    assert.deepEqual(ok(await service.ask('POST', `${path}/import`, ours)).data._id, model._id);
    refused(await some.reader('POST', `${path}/import`, { model }), 403);
    assert.equal((await some.reader('GET', `${path}/Port%201/export`)).status, 200);
  });

  it('keep what is there unless an import overwrites it; a later change keeps what the service does not know', async () => {
    const model = published('2');
    ok(await take(model));
    const other = published('2', { description: 'Other' });
    refused(await take(other), 409, /"\/model\/_id"/);
    refused(await take(published('3', { name: 'Port 2' })), 409, /"\/model\/name"/);
    refused(await take(published('2', { vendor: 'x' })), 409);
    const before = await positionOf(service);
    ok(await take(other, { overwrite: true }));
    assert.deepEqual(await asImported(model._id), other);
    assert.equal((await given(model._id, `?asOf=${before}`)).description, '');

    const { data } = ok(await service.ask('GET', `${path}/${model._id}`));
    const { name, schema, actions } = data;
    ok(await service.ask('PUT', `${path}/${model._id}`, { name, description: 'Ours', schema, actions }));
    const now = await asImported(model._id);
    assert.deepEqual(now, {
      ...other,
      description: 'Ours',
      lastUpdated: now.lastUpdated,
      lastUpdatedBy: 'admin',
    });
    ok(await take(now));
  });

  it('run their actions by the ids of other installations, and come back whole once they are deleted', async () => {
    const model = published('4', { apiKey: 'hunter2' });
    assert.equal(ok(await take(model)).missingSecrets, undefined);
    const run = { actionId: model.actions[0]!._id.toUpperCase(), instanceName: 'ge-0/0/1', inputs: { port: 'x' } };
    assert.equal(ok(await service.ask('POST', `${path}/${model._id}/run-action`, run)).data.status, 'complete');
    const position = await positionOf(service);
    ok(await service.ask('DELETE', `${path}/${model._id}?delete-associated-instances=true`));
    const restoring = { kind: 'resourceModel', id: model._id, position };
    await until(async () => (await service.ask('POST', '/audit/restore', restoring)).status === 200, 'the model');
    const back = await given(model._id);
    assert.deepEqual(
      [back.created, back.createdBy, back.apiKey, back.actions[0].outputSchema],
      [model.created, 'somebody', '********', model.actions[0]!.outputSchema],
    );
    assert.deepEqual(ok(await take(published('5', { apiKey: '********' }))).missingSecrets, ['/model/apiKey']);
  });

  it('may have what nobody may write here, but not two actions with one id', async () => {
    const { actions, ...rest } = published('6', { schema: { type: 'what' }, description: null, _id: 'mine' });
    const { _id: _, ...action } = actions[0]!;
    const model = { ...rest, actions: [{ ...action, workflow: '' }, action] };
    const { data } = ok(await take(model));
    assert.match(data._id, /^[0-9a-f]{24}$/);
    assert.deepEqual(await asImported(data._id), model);
    refused(
      await service.ask('POST', `${path}/${data._id}/instances`, { name: 'x', instanceData: {} }),
      422,
      /\/instanceData/,
    );
    const { name, schema, actions: ours } = data;
    ok(await service.ask('PUT', `${path}/${data._id}`, { name, schema, actions: ours, description: 'As it was' }));
    refused(await take({ ...rest, actions: [actions[0], actions[0]] }), 400, /"\/model\/actions\/1\/_id"/);
    refused(await take(published('7', {}, { type: 'explode' })), 400, /"\/model\/actions\/0\/type"/);
    refused(await service.ask('POST', `${path}/import`, {}), 400, /\/name/);
  });
});

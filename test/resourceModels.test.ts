import assert from 'node:assert/strict';
import {
  create,
  type ModelEvent,
  remove,
  replace,
  resourceModel,
} from '../src/domain/lifecycle-manager/resourceModels.ts';
import { context, specification } from './given.ts';
import { ok, type People, people, refused } from './people.ts';
import { startService, type TestService } from './service.ts';

const given = specification(resourceModel);
const schema = {
  type: 'object',
  required: ['vlan'],
  properties: { vlan: { type: 'integer', minimum: 1, maximum: 4094 } },
};
const deploy = { _id: '00af', name: 'Deploy', type: 'create', workflow: 'Deploy VLAN', description: '' } as const;
const created: ModelEvent = {
  topic: 'resourceModelCreated',
  data: { name: 'VLAN', description: '', schema, actions: [deploy] },
};

describe('A resource model', () => {
  it('is made with its actions, each with an id of four digits', () => {
    const newId = (word: string) => `${Buffer.from(word).toString('hex')}beef`;
    const [event] = create(
      resourceModel.initial,
      {
        name: 'VLAN',
        schema,
        actions: [
          { name: 'Deploy', type: 'create' },
          { name: 'Remove', type: 'delete', workflow: 'x' },
          { _id: '0A1F', name: 'Take in', type: 'import' },
        ],
      },
      { ...context, newId: (word) => newId(word).slice(-8, -4), refs: {} },
    );
    assert.ok(event?.topic === 'resourceModelCreated');
    assert.deepEqual(
      event.data.actions.map(({ name, workflow }) => ({ name, workflow })),
      [
        { name: 'Deploy', workflow: null },
        { name: 'Remove', workflow: 'x' },
        { name: 'Take in', workflow: null },
      ],
    );
    assert.equal(event.data.actions[2]!._id, '0a1f', 'given ids stay, in lower case');
    assert.equal(new Set(event.data.actions.map(({ _id }) => _id)).size, 3);
    for (const { _id } of event.data.actions) assert.match(_id, /^[0-9a-f]{4}$/);
  });

  it('refuses actions that cannot be told apart, an import with a workflow, and a schema that cannot be used', () => {
    const twice = [
      { name: 'a', type: 'update' },
      { name: 'a', type: 'delete' },
    ] as const;
    given()
      .when(create, { name: 'x', schema, actions: [...twice] }, {})
      .thenRefused('invalid', /\/actions\/1\/name/);
    given()
      .when(
        create,
        {
          name: 'x',
          schema,
          actions: [
            { _id: '00AF', name: 'a', type: 'update' },
            { _id: '00af', name: 'b', type: 'update' },
          ],
        },
        {},
      )
      .thenRefused('invalid', /\/actions\/1\/_id/);
    given()
      .when(create, { name: 'x', schema, actions: [{ name: 'a', type: 'import', workflow: 'w' }] }, {})
      .thenRefused('invalid', /\/actions\/0\/workflow/);
    given()
      .when(create, { name: 'x', schema }, { schemaFault: 'no' })
      .thenRefused('invalid', /\/schema/);
  });

  it('is replaced; actions keep their ids by name, and the same again is nothing', () => {
    const same = {
      name: 'VLAN',
      schema,
      actions: [{ name: 'Deploy', type: 'create' as const, workflow: 'Deploy VLAN' }],
    };
    given(created).when(replace, same, {}).thenNothing();
    given(created)
      .when(replace, { ...same, name: 'VLANs' }, {})
      .then({ topic: 'resourceModelChanged', data: { name: 'VLANs' } });
    given(created, { topic: 'resourceModelChanged', data: { name: 'VLANs' } })
      .when(replace, { ...same, name: 'VLANs' }, {})
      .thenNothing();
    given(created)
      .when(replace, { name: 'VLAN', schema, actions: [] }, {})
      .then({ topic: 'resourceModelChanged', data: { actions: [] } });
  });

  it('is deleted with its instances only when asked to', () => {
    given(created)
      .when(remove, { withInstances: false }, { instances: 2 })
      .thenRefused('conflict', /"instances":2/);
    given(created)
      .when(remove, { withInstances: true }, { instances: 2 })
      .then({ topic: 'resourceModelDeleted', data: { deletedInstances: 2 } });
    given(created)
      .when(remove, { withInstances: false }, { instances: 0 })
      .then({ topic: 'resourceModelDeleted', data: { deletedInstances: 0 } });
  });
});

describe('Resource models over HTTP', () => {
  const path = '/lifecycle-manager/resources';
  let service: TestService;
  let some: People;
  before(async () => {
    service = await startService();
    some = await people(service);
  });
  after(() => service.stop());
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

  it('refuse what is wrong, and name the field', async () => {
    refused(await service.ask('POST', path, { schema }), 400, /\/name/);
    refused(await service.ask('POST', path, { name: 'x', schema: { type: 'what' } }), 400, /\/schema/);
    refused(
      await service.ask('POST', path, { name: 'x', schema: { $ref: 'http://example.net/other.json' } }),
      400,
      /\/schema/,
    );
    refused(
      await service.ask('POST', path, { name: 'x', schema, actions: [{ name: 'a', type: 'explode' }] }),
      400,
      /\/actions\/0\/type/,
    );
    refused(await service.ask('POST', path, { name: 'Line', schema }), 409, /name/);
    refused(await some.reader('POST', path, { name: 'x', schema }), 403);
    refused(await service.ask('PUT', `${path}/nothing`, { name: 'x', schema }), 404);
    refused(await service.ask('DELETE', `${path}/nothing`), 404);
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
});

import assert from 'node:assert/strict';
import {
  create,
  type ModelEvent,
  remove,
  replace,
  resourceModel,
} from '../../../src/domain/lifecycle-manager/resourceModels.ts';
import { context, specification } from '../../support/given.ts';

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

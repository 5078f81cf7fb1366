import {
  admit,
  amend,
  create,
  type InstanceEvent,
  remove,
  removeIfThere,
  replace,
  resourceInstance,
} from '../../../src/domain/lifecycle-manager/resourceInstances.ts';
import { specification } from '../../support/given.ts';

const given = specification(resourceInstance);

const content = {
  modelId: 'm',
  name: 'edge-1',
  description: '',
  instanceData: { vlan: 5, community: { $sealed: 'x', tag: 't' } },
};

const created: InstanceEvent = { topic: 'resourceInstanceCreated', data: content };

const deleted: InstanceEvent = { topic: 'resourceInstanceDeleted', data: {} };

const refs = { modelExists: true, faults: [], instanceData: content.instanceData };

describe('An instance of a resource model', () => {
  it('is made with data that fit', () => {
    given()
      .when(create, { modelId: 'm', name: 'edge-1', instanceData: { vlan: 5 } }, refs)
      .then(created);
    given()
      .when(create, { modelId: 'm', name: 'edge-1', instanceData: {} }, { ...refs, modelExists: false })
      .thenRefused('not_found');
    given()
      .when(
        create,
        { modelId: 'm', name: 'edge-1', instanceData: {} },
        { ...refs, faults: [{ message: 'is required', path: '/instanceData/vlan' }] },
      )
      .thenRefused('unprocessable', /\/instanceData\/vlan/);
  });

  it('is replaced; the same again is nothing', () => {
    given(created).when(replace, { name: 'edge-1', instanceData: {} }, refs).thenNothing();
    given(created)
      .when(replace, { name: 'edge-2', instanceData: {} }, { ...refs, instanceData: { vlan: 6 } })
      .then({ topic: 'resourceInstanceChanged', data: { name: 'edge-2', instanceData: { vlan: 6 } } });
    given(created, { topic: 'resourceInstanceChanged', data: { name: 'edge-2' } })
      .when(replace, { name: 'edge-2', instanceData: {} }, refs)
      .thenNothing();
  });

  it('goes', () => {
    given(created).when(remove, {}).then(deleted);
    given(created).when(removeIfThere, {}).then(deleted);
    given(created, deleted).when(removeIfThere, {}).thenNothing();
  });

  it('comes as a part of an action, unless its model has gone', () => {
    given().when(admit, content, { modelExists: true }).then(created);
    given(created).when(admit, content, { modelExists: true }).thenNothing();
    given().when(admit, content, { modelExists: false }).thenNothing();
  });

  it('gets new data, or some members, as a part of an action, if it is there still; always with an event, so that it is carried out once', () => {
    const merged: InstanceEvent = {
      topic: 'resourceInstanceChanged',
      data: { instanceData: { ...content.instanceData, vlan: 6 } },
    };
    given(created)
      .when(amend, { merge: { vlan: 6 } })
      .then(merged);
    given(created, merged)
      .when(amend, { merge: { vlan: 6 } })
      .then(merged);
    given(created)
      .when(amend, { instanceData: { vlan: 7 } })
      .then({ topic: 'resourceInstanceChanged', data: { instanceData: { vlan: 7 } } });
    given(created, deleted)
      .when(amend, { instanceData: { vlan: 7 } })
      .thenNothing();
  });
});

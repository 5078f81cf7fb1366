import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hasId, idsIn, noIds, withIds, withoutIds } from '../../../src/domain/lifecycle-manager/idSets.ts';
import {
  changeMembers,
  create,
  drop,
  type GroupEvent,
  remove,
  removeIfThere,
  resourceGroup,
} from '../../../src/domain/lifecycle-manager/resourceGroups.ts';
import { specification } from '../../support/given.ts';

const given = specification(resourceGroup);

const created: GroupEvent = {
  topic: 'resourceGroupCreated',
  data: { modelId: 'm', name: 'Edge', description: '', instances: ['a', 'b'] },
};

const changed = (added: string[], removed: string[]): GroupEvent => ({
  topic: 'resourceGroupMembersChanged',
  data: { added, removed },
});

const deleted: GroupEvent = { topic: 'resourceGroupDeleted', data: {} };

describe('A group of instances', () => {
  it('begins with the instances that it is given, each once', () => {
    given()
      .when(
        create,
        { modelId: 'm', name: 'Edge', instances: ['one', 'two', 'a'] },
        { modelExists: true, found: ['a', 'b', 'a'] },
      )
      .then(created);
    given()
      .when(
        create,
        { modelId: 'm', name: 'Edge', instances: ['one', 'two'] },
        { modelExists: true, found: ['a', undefined] },
      )
      .thenRefused('not_found', /two.*\/instances\/1/);
    given().when(create, { modelId: 'm', name: 'Edge' }, { modelExists: false, found: [] }).thenRefused('not_found');
  });

  it('takes in and lets go; members that come again and strangers that go are nothing', () => {
    const input = { instancesToAdd: ['a', 'c'], instancesToRemove: ['b', 'd'] };
    const refs = { toAdd: ['a', 'c'], toRemove: ['b', 'd'] };
    given(created)
      .when(changeMembers, input, refs)
      .then(changed(['c'], ['b']));
    given(created, changed(['c'], ['b']))
      .when(changeMembers, input, refs)
      .thenNothing();
    given(created).when(changeMembers, {}, { toAdd: [], toRemove: [] }).thenNothing();
  });

  it('refuses who is not there, naming all, and who is to come and go', () => {
    given(created)
      .when(
        changeMembers,
        { instancesToAdd: ['a', 'x'], instancesToRemove: ['y'] },
        { toAdd: ['a', undefined], toRemove: [undefined] },
      )
      .thenRefused('not_found', /x, y.*\/instancesToAdd\/1.*\/instancesToRemove\/0/);
    given(created)
      .when(
        changeMembers,
        { instancesToAdd: ['x'], instancesToRemove: ['x'] },
        { toAdd: [undefined], toRemove: [undefined] },
      )
      .thenRefused('invalid', /\/instancesToRemove\/0/);
    given(created)
      .when(
        changeMembers,
        { instancesToAdd: ['name of c'], instancesToRemove: ['c'] },
        { toAdd: ['c'], toRemove: ['c'] },
      )
      .thenRefused('invalid', /\/instancesToRemove\/0/);
  });

  it('loses an instance that goes, and goes itself', () => {
    given(created)
      .when(drop, { instance: 'b' })
      .then(changed([], ['b']));
    given(created, changed([], ['b']))
      .when(drop, { instance: 'b' })
      .thenNothing();
    given(created).when(remove, {}).then(deleted);
    given(created).when(removeIfThere, {}).then(deleted);
    given(created, deleted).when(removeIfThere, {}).thenNothing();
    given(created, deleted).when(drop, { instance: 'a' }).thenNothing();
  });
});

describe('A set of ids', () => {
  it('is what a Set is, whatever comes and goes, and leaves the one before as it was', () => {
    const id = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b', '0'), maxLength: 4 }),
      fc.constantFrom('__proto__', 'constructor', ''),
    );
    fc.assert(
      fc.property(fc.array(fc.record({ comes: fc.boolean(), ids: fc.array(id, { maxLength: 5 }) })), (steps) => {
        let set = noIds;
        const model = new Set<string>();
        for (const { comes, ids } of steps) {
          const [before, text] = [set, JSON.stringify(set)];
          set = comes ? withIds(set, ids) : withoutIds(set, ids);
          for (const one of ids)
            if (comes) model.add(one);
            else model.delete(one);
          assert.equal(JSON.stringify(before), text);
          assert.equal(set.size, model.size);
          assert.deepEqual([...idsIn(set)].sort(), [...model].sort());
          for (const one of ids) assert.equal(hasId(set, one), model.has(one));
        }
        assert.deepEqual(withoutIds(set, [...model]), noIds, 'nothing is left behind');
      }),
    );
  });
});

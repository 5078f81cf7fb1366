import assert from 'node:assert/strict';
import {
  create,
  type GroupMappingEvent,
  groupMapping,
  groupMappingId,
  remove,
  update,
} from '../../../src/domain/group-mappings/groupMappings.ts';
import { specification } from '../../support/given.ts';

const given = specification(groupMapping);

const mapping = { provenance: 'ldap', externalGroup: 'net', platformGroups: ['a', 'b'] };

const created: GroupMappingEvent = { topic: 'groupMappingCreated', data: mapping };

const deleted: GroupMappingEvent = { topic: 'groupMappingDeleted', data: {} };

describe('group mappings: decisions', () => {
  it('creates, without duplicates and in order', () =>
    given()
      .when(create, { ...mapping, platformGroups: ['a', 'b', 'a'] })
      .then(created));
  it('creates by an update of what is missing', () => given().when(update, mapping).then(created));
  it('replaces the list', () =>
    given(created)
      .when(update, { ...mapping, platformGroups: ['b'] })
      .then({ topic: 'groupMappingUpdated', data: { platformGroups: ['b'] } }));
  it('takes another order for a change', () =>
    given(created)
      .when(update, { ...mapping, platformGroups: ['b', 'a'] })
      .then({ topic: 'groupMappingUpdated', data: { platformGroups: ['b', 'a'] } }));
  it('changes nothing when the list is the same', () =>
    given(created)
      .when(update, { ...mapping, platformGroups: ['a', 'b', 'b'] })
      .thenNothing());
  it('deletes', () => given(created).when(remove, {}).then(deleted));
  it('creates again after a delete', () => given(created, deleted).when(update, mapping).then(created));
  it('has a key of its own for every pair of names', () => {
    const pairs = [
      ['a', 'b c'],
      ['a b', 'c'],
      ['a%20b', 'c'],
      ['a', 'b%20c'],
      ['a/b', 'c'],
      ['a', 'b/c'],
    ] as const;
    assert.equal(new Set(pairs.map(([p, e]) => groupMappingId(p, e))).size, pairs.length);
  });
});

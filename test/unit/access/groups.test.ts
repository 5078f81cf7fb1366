import assert from 'node:assert/strict';
import {
  create,
  type GroupContent,
  type GroupInput,
  type GroupRefs,
  type GroupState,
  group,
  namesOf,
  provide,
  remove,
  update,
} from '../../../src/domain/authorization/groups.ts';
import type { Context } from '../../../src/domain/engine/core.ts';
import { specification } from '../../support/given.ts';

const refs: GroupRefs = { unknown: { groups: [], roles: [] }, referrers: [], adminRemains: true };
const noc: GroupContent = { name: 'noc', provenance: 'local', description: '', assignedRoles: [], memberOf: [] };
const given = specification(group);
const created = { topic: 'groupCreated', data: noc } as const;
const admins = { topic: 'groupCreated', data: { ...noc, name: 'admins' } } as const;
const referrers = [
  { kind: 'account', name: 'bob' },
  { kind: 'automation', name: 'night run' },
];

const asOperator = (state: GroupState, input: GroupInput, context: Context<GroupRefs>) =>
  update(state, input, { ...context, actor: { ...context.actor, groups: ['operators'], admin: false } });

describe('groups', () => {
  it('are local and empty unless said otherwise', () => given().when(create, { name: 'noc' }, refs).then(created));
  it('name all groups and roles that are not there', () =>
    given()
      .when(
        create,
        { name: 'noc', memberOf: ['a'], assignedRoles: ['b'] },
        { ...refs, unknown: { groups: ['a'], roles: ['b'] } },
      )
      .thenRefused('not_found', /"a".*"b"/));
  it('change only by what is said', () =>
    given(created)
      .when(update, { description: 'At night' }, refs)
      .then({ topic: 'groupUpdated', data: { description: 'At night' } }));
  it('that change to what they are do nothing', () =>
    given(created).when(update, { name: 'noc', memberOf: [] }, refs).thenNothing());
  it('can be renamed', () =>
    given(created)
      .when(update, { name: 'soc' }, refs)
      .then({ topic: 'groupUpdated', data: { name: 'soc' } }));
  it('that are referred to cannot be renamed', () =>
    given(created)
      .when(update, { name: 'soc' }, { ...refs, referrers })
      .thenRefused('conflict', /account .*bob.*automation .*night run/s));
  it('that are referred to cannot be deleted; the referrers are named', () =>
    given(created)
      .when(remove, {}, { ...refs, referrers })
      .thenRefused('conflict', /bob.*night run/s));
  it('can be deleted', () => given(created).when(remove, {}, refs).then({ topic: 'groupDeleted', data: {} }));
  it('that would leave no admin are refused', () =>
    given(created)
      .when(update, { memberOf: [] }, { ...refs, adminRemains: false })
      .thenRefused('conflict', /last admin/));

  describe('built in', () => {
    it('are made once', () => {
      given()
        .when(provide, { name: 'readers' } as const)
        .then({ topic: 'groupCreated', data: { ...noc, name: 'readers', description: 'May read everything' } });
      given(admins)
        .when(provide, { name: 'admins' } as const)
        .thenNothing();
    });
    it('cannot be deleted', () =>
      given(admins)
        .when(remove, {}, refs)
        .thenRefused('conflict', /built-in/));
    it('cannot be renamed', () =>
      given(admins)
        .when(update, { name: 'gods' }, refs)
        .thenRefused('conflict', /built-in/));
    it('can be described', () =>
      given(admins)
        .when(update, { description: 'Us' }, refs)
        .then({ topic: 'groupUpdated', data: { description: 'Us' } }));
  });

  describe('changed by others than admins', () => {
    it('can be described', () =>
      given(created)
        .when(asOperator, { description: 'x', memberOf: [], assignedRoles: [] }, refs)
        .then({ topic: 'groupUpdated', data: { description: 'x' } }));
    it('cannot give other groups', () =>
      given(created)
        .when(asOperator, { memberOf: ['admins'] }, refs)
        .thenRefused('forbidden'));
    it('cannot give other roles', () =>
      given(created)
        .when(asOperator, { assignedRoles: ['everything'] }, refs)
        .thenRefused('forbidden'));
  });

  it('are named by strings and objects, each once', () =>
    assert.deepEqual(namesOf(['a', { name: 'b' }, { name: 'a' }]), ['a', 'b']));
});

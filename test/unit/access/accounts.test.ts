import assert from 'node:assert/strict';
import {
  type AccountContent,
  type AccountRefs,
  account,
  create,
  provide,
  remove,
  setPassword,
  update,
} from '../../../src/domain/authorization/accounts.ts';
import type { Sealed } from '../../../src/domain/engine/sealed.ts';
import { accounts, credentials, formerAccounts } from '../../../src/projections/authorization/accounts.ts';
import { entryOf, project } from '../../../src/projections/engine/define.ts';
import type { Recorded } from '../../../src/store/event.ts';
import { specification } from '../../support/given.ts';

const password: Sealed = { $sealed: 'x', tag: 'y' };
const bob: AccountContent = {
  username: 'bob',
  provenance: 'local',
  firstname: '',
  email: '',
  inactive: false,
  memberOf: ['readers'],
  assignedRoles: [],
  externalGroups: [],
};
const refs: AccountRefs = { password: undefined, unknown: { groups: [], roles: [] }, adminRemains: true };
const given = specification(account);
const created = { topic: 'accountCreated', data: { ...bob, password } } as const;

describe('accounts', () => {
  describe('a new one', () => {
    it('has what was not said by default; the password is only there sealed', () =>
      given()
        .when(create, { username: 'bob', password: 'in clear', memberOf: ['readers'] }, { ...refs, password })
        .then(created));
    it('takes groups as names or objects, each once', () =>
      given()
        .when(
          create,
          { username: 'bob', password: 'in clear', memberOf: ['readers', { name: 'readers', provenance: 'local' }] },
          { ...refs, password },
        )
        .then(created));
    it('names all groups and roles that are not there', () =>
      given()
        .when(
          create,
          { username: 'bob', password: 'in clear', memberOf: ['a', 'b'], assignedRoles: ['c'] },
          { ...refs, unknown: { groups: ['a', 'b'], roles: ['c'] } },
        )
        .thenRefused('not_found', /"a".*"b".*"c"/));
  });

  describe('a change', () => {
    it('keeps what it does not mention', () =>
      given(created)
        .when(update, { firstname: 'Bob' }, refs)
        .then({ topic: 'accountUpdated', data: { firstname: 'Bob' } }));
    it('to what is so already is nothing', () =>
      given(created)
        .when(update, { username: 'bob', memberOf: [{ name: 'readers' }] }, refs)
        .thenNothing());
    it('of the password is an event of its own', () =>
      given(created)
        .when(update, { password: 'in clear' }, { ...refs, password })
        .then({ topic: 'accountPasswordSet', data: { password } }));
    it('to groups that are not there is refused', () =>
      given(created)
        .when(update, { memberOf: ['a'] }, { ...refs, unknown: { groups: ['a'], roles: [] } })
        .thenRefused('not_found', /"a"/));
    it('that leaves no admin is refused', () =>
      given(created)
        .when(update, { inactive: true }, { ...refs, adminRemains: false })
        .thenRefused('conflict', /last admin/));
  });

  describe('a delete', () => {
    it('frees the name', () => {
      assert.deepEqual(
        account.names?.(
          account.evolve.accountDeleted({ exists: true, deleted: false, isService: false, content: bob }, {}),
        ),
        [],
      );
      given(created).when(remove, {}, refs).then({ topic: 'accountDeleted', data: {} });
    });
    it('of the last admin is refused', () =>
      given(created)
        .when(remove, {}, { ...refs, adminRemains: false })
        .thenRefused('conflict', /last admin/));
  });

  it('get a password from their owner', () =>
    given(created).when(setPassword, {}, { password }).then({ topic: 'accountPasswordSet', data: { password } }));

  describe('the account of the first start', () => {
    it('is an admin', () =>
      given()
        .when(provide, { username: 'admin' }, { password })
        .then({ topic: 'accountCreated', data: { ...bob, username: 'admin', memberOf: ['admins'], password } }));
    it('is not made again', () =>
      given(created).when(provide, { username: 'admin' }, { password: undefined }).thenNothing());
    it('is not made again after a delete', () =>
      given(created, { topic: 'accountDeleted', data: {} })
        .when(provide, { username: 'admin' }, { password: undefined })
        .thenNothing());
  });

  describe('documents', () => {
    const event = (topic: string, data: unknown) =>
      ({
        id: '',
        stream: 'account-0123',
        revision: 0,
        position: 1,
        source: '@platform/authorization',
        topic,
        data,
        metadata: { at: '2026-01-01T00:00:00.000Z' },
      }) as Recorded;
    it('never hold the password, which is in the credentials only', () => {
      const doc = project(accounts, undefined, event('accountCreated', created.data));
      assert.doesNotMatch(entryOf(accounts, '0123', doc!, 0).text, /sealed|tag/);
      assert.deepEqual(project(credentials, undefined, event('accountCreated', created.data)), {
        username: 'bob',
        password,
      });
    });
    it('of credentials follow user name and password', () => {
      const renamed = project(credentials, { username: 'bob', password }, event('accountUpdated', { username: 'rob' }));
      const changed = project(
        credentials,
        renamed,
        event('accountPasswordSet', { password: { $sealed: 'z', tag: 't' } }),
      );
      assert.deepEqual(changed, { username: 'rob', password: { $sealed: 'z', tag: 't' } });
      assert.equal(project(credentials, changed, event('accountDeleted', {})), undefined);
    });
    it('of names stay when the account goes, unless it was forgotten', () => {
      const deleted = (username: string) => {
        const made = project(formerAccounts, undefined, event('accountCreated', { ...created.data, username }));
        return project(formerAccounts, made, event('accountDeleted', {}));
      };
      assert.deepEqual(deleted('bob'), { _id: '0123', username: 'bob', provenance: 'local', isDeleted: true });
      assert.equal(deleted('(forgotten)'), undefined);
    });
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createAccount, deleteAccount, updateAccount } from '../../../src/commands/authorization/accounts.ts';
import { deleteGroup, updateGroup } from '../../../src/commands/authorization/groups.ts';
import { createRole, deleteRole } from '../../../src/commands/authorization/roles.ts';
import { accounts } from '../../../src/projections/authorization/accounts.ts';
import { groups } from '../../../src/projections/authorization/groups.ts';
import { nodesOnLog, type TestNode } from '../../support/node.ts';
import { stopping } from '../../support/stopping.ts';
import { outcome } from '../../support/writer.ts';

describe('who belongs where', () => {
  const { log, node } = nodesOnLog();

  /**
   * Active accounts that are in admins: directly, or through `chiefs`, which is a member of `bosses`, which may be one
   * of `admins`.
   */
  const adminsOf = async (reader: TestNode): Promise<string[]> => {
    await reader.catchUp();
    const known = await reader.tools.query(groups);
    const within = (name: string, seen: readonly string[] = []): boolean =>
      name === 'admins' ||
      (!seen.includes(name) &&
        (known.find((group) => group.name === name)?.memberOf ?? []).some((above) => within(above, [...seen, name])));
    const active = await reader.tools.query(accounts, { field: 'inactive', op: 'equals', value: 'false' });
    return active.filter(({ memberOf }) => memberOf.some((name) => within(name))).map(({ username }) => username);
  };

  /** Accounts a and b are the admins: a directly, b through chiefs and bosses. */
  const twoAdmins = async (one: TestNode): Promise<void> => {
    await one.bootstrap();
    await one.group('bosses', { memberOf: ['admins'] });
    await one.group('chiefs', { memberOf: ['bosses'] });
    await one.account('a', { memberOf: ['admins'] });
    await one.account('b', { memberOf: ['chiefs'] });
    await one.command(deleteAccount, (await one.tools.find(accounts, 'admin')) ?? '');
    assert.deepEqual(await adminsOf(one), ['a', 'b']);
  };

  type Way = readonly [what: string, (n: TestNode) => Promise<unknown>];
  const ofA: readonly Way[] = [
    ['deactivating a', (n) => n.command(updateAccount, 'a', { inactive: true })],
    ['taking a out', (n) => n.command(updateAccount, 'a', { memberOf: [] })],
    ['deleting a', (n) => n.command(deleteAccount, 'a')],
  ];
  const ofB: readonly Way[] = [
    ['taking b out', (n) => n.command(updateAccount, 'b', { memberOf: ['readers'] })],
    ['deleting b', (n) => n.command(deleteAccount, 'b')],
    ['taking the group above b out', (n) => n.command(updateGroup, 'bosses', { memberOf: [] })],
    ['taking the group of b out', (n) => n.command(updateGroup, 'chiefs', { memberOf: ['readers'] })],
  ];

  for (const [what, way] of [...ofA, ...ofB]) {
    it(`${what} is fine while there is another admin, and refused when there is not`, async () => {
      const one = await node();
      await twoAdmins(one);
      const [, other] = (ofA.some(([own]) => own === what) ? ofB : ofA)[0]!;
      await way(one);
      assert.equal((await adminsOf(one)).length, 1);
      assert.equal(await outcome(other(one)), 'conflict');
      assert.equal((await adminsOf(one)).length, 1);
    });
  }

  it('groups in a circle are seen through', async () => {
    const one = await node();
    await one.bootstrap();
    await one.group('x', { memberOf: ['admins'] });
    await one.group('y', { memberOf: ['x'] });
    await one.command(updateGroup, 'x', { memberOf: ['admins', 'y'] });
    await one.account('a', { memberOf: ['y'] });
    await one.command(deleteAccount, (await one.tools.find(accounts, 'admin')) ?? '');
    assert.equal(await outcome(one.command(updateGroup, 'x', { memberOf: ['y'] })), 'conflict');
  });

  for (const moment of ['before', 'after'] as const) {
    for (const append of [1, 2]) {
      for (const [first, second] of [
        [ofA[0]!, ofB[3]!],
        [ofB[2]!, ofA[2]!],
      ]) {
        it(`two nodes at once, ${first![0]} and ${second![0]}: the first stops ${moment} append ${append}, one admin remains`, async () => {
          const held = stopping(log.store, append, moment);
          const one = await node(held.store);
          await twoAdmins(one);
          const two = await node();
          held.arm();
          const slow = outcome(first![1](one));
          await held.atStop;
          const quick = await outcome(second![1](two));
          held.resume();
          const outcomes = [await slow, quick];
          assert.deepEqual(outcomes.filter((result) => result === 'conflict').length, 1, JSON.stringify(outcomes));
          assert.equal((await adminsOf(two)).length, 1);
        });
      }
    }
  }

  it('many at once on two nodes: the last admin stays', async () => {
    const [one, two] = [await node(), await node()];
    await one.bootstrap();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const name of names) await one.account(name, { memberOf: ['admins'] });
    await two.catchUp();
    const all = [...names, (await one.tools.find(accounts, 'admin')) ?? ''];
    await Promise.all(
      all.flatMap((id) => [
        outcome(one.command(updateAccount, id, { memberOf: [] })),
        outcome(two.command(updateAccount, id, { inactive: true })),
      ]),
    );
    assert.equal((await adminsOf(one)).length, 1);
  });

  for (const moment of ['before', 'after'] as const) {
    for (const append of [1, 2]) {
      it(`a group is deleted on one node, which stops ${moment} append ${append}, and named by an account on another: one of the two is refused`, async () => {
        const held = stopping(log.store, append, moment);
        const one = await node(held.store);
        await one.bootstrap();
        await one.group('g');
        const two = await node();
        held.arm();
        const slow = outcome(one.command(deleteGroup, 'g'));
        await held.atStop;
        const quick = await outcome(two.account('a', { memberOf: ['g'] }));
        held.resume();
        const refused = [await slow, quick].filter((result) => result === 'conflict' || result === 'not_found');
        assert.equal(refused.length, 1, JSON.stringify([await slow, quick]));
      });
    }
  }

  it('a group or role that is referred to is not deleted, and is once it is not', async () => {
    const one = await node();
    await one.bootstrap();
    await one.command(createRole, 'r', { name: 'r', allowedMethods: [] });
    await one.group('g', { assignedRoles: ['r'] });
    await one.account('a', { memberOf: ['g'], assignedRoles: ['r'] });
    await one.group('h', { memberOf: ['g'] });
    await assert.rejects(one.command(deleteGroup, 'g'), /the account "a", the group "h" refer to it/);
    await assert.rejects(one.command(deleteRole, 'r'), /the account "a", the group "g" refer to it/);
    await one.command(deleteGroup, 'h');
    await one.command(deleteAccount, 'a');
    await one.command(deleteGroup, 'g');
    await one.command(deleteRole, 'r');
  });

  it('a group may belong to itself and go all the same', async () => {
    const one = await node();
    await one.bootstrap();
    await one.group('g');
    await one.command(updateGroup, 'g', { memberOf: ['g'] });
    await one.command(deleteGroup, 'g');
  });

  it('a change that names nobody else leaves no turn behind', async () => {
    const one = await node();
    await one.bootstrap();
    await one.account('a');
    await one.account('b');
    const before = await log.store.head();
    await one.command(updateAccount, 'a', { firstname: 'A' });
    assert.equal(await log.store.head(), before + 1);
  });

  it('the turns of others do not change the revision of an account', async () => {
    const one = await node();
    await one.bootstrap();
    const { revision } = await one.account('a', { memberOf: ['readers'] });
    await one.account('b', { memberOf: ['readers'] });
    await one.command(updateAccount, 'b', { memberOf: [] });
    const changed = await one.command(updateAccount, 'a', { firstname: 'A' }, { ifRevision: revision });
    assert.equal(changed.revision, revision + 1);
  });

  it('the turn of an account whose stream cannot be read any more is over: others decide', async () => {
    const one = await node();
    await one.bootstrap();
    await one.account('a');
    await one.account('b');
    const { revision } = await one.command(updateAccount, 'a', { memberOf: ['readers'] });
    const type = '@platform/authorization:accountUpdated';
    await log.store.append('account-a', revision, [{ id: randomUUID(), type, data: 'spoilt', metadata: '{}' }]);
    const other = await node();
    await other.command(updateAccount, 'b', { memberOf: ['readers'] });
  });

  it('the same create again under its key is the same account', async () => {
    const one = await node();
    await one.bootstrap();
    const idempotency = { key: 'k', request: 'd' };
    const input = { username: 'a', password: 'password', memberOf: ['readers'] };
    const first = await one.command(createAccount, 'a', input, { idempotency });
    const again = await one.command(createAccount, 'a', input, { idempotency });
    assert.ok(again.replayed);
    assert.deepEqual(again.doc, first.doc);
  });
});

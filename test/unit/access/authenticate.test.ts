import assert from 'node:assert/strict';
import { deleteAccount, setPassword, updateAccount } from '../../../src/commands/authorization/accounts.ts';
import { deleteGroup, updateGroup } from '../../../src/commands/authorization/groups.ts';
import { createRole, updateRole } from '../../../src/commands/authorization/roles.ts';
import { createGroupMapping, updateGroupMapping } from '../../../src/commands/group-mappings/groupMappings.ts';
import { type Code, RequestError } from '../../../src/domain/engine/requestError.ts';
import { groupMappingId } from '../../../src/domain/group-mappings/groupMappings.ts';
import { cookieText, cookieValue } from '../../../src/http/authentication/cookies.ts';
import type { Access, Principal } from '../../../src/http/authentication/principal.ts';
import { logins } from '../../../src/projections/authorization/logins.ts';
import { defaults, fixedClock, nodesOnLog, type TestNode } from '../../support/node.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const minute = 60_000;

describe('authentication', () => {
  let clock: ReturnType<typeof fixedClock>;
  let settings = defaults;
  let one: TestNode;
  const { log, node } = nodesOnLog({ now: () => clock.now(), settings: () => settings });
  beforeEach(async () => {
    clock = fixedClock();
    settings = defaults;
    one = await node();
    await one.bootstrap();
  });

  const call = (
    authorization: string,
    { on = one, cookie = undefined as string | undefined, address = '10.0.0.1' } = {},
  ) => on.auth.authenticate({ authorization, cookie, address });
  const bob = basic('bob:password of bob');
  const refused = async (work: Promise<unknown> | unknown, code: Code = 'unauthenticated', what?: string) =>
    assert.rejects(
      async () => work,
      (error) => error instanceof RequestError && error.code === code,
      what,
    );
  const tokenOf = async (on = one, username = 'bob') =>
    on.auth.logIn(await on.auth.verify({ username, password: `password of ${username}` }, '10.0.0.1'), 'r');
  /** Called again, nothing has to be waited for and no password is hashed. */
  const atOnce = (authorization: string, on = one): Principal => {
    const answer = call(authorization, { on });
    assert.ok(!(answer instanceof Promise), 'it has to be waited for');
    return answer;
  };

  const uses = async () => {
    let count = 0;
    for await (const { events } of log.store.readAll(0, ['@platform/authorization:loginUsed'])) count += events.length;
    return count;
  };
  /** Waits until so many uses are written down, which nobody who calls waits for. */
  const written = async (times: number) => {
    while ((await uses()) < times)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
  };

  describe('with HTTP Basic', () => {
    it('knows who calls', async () => {
      await one.account('bob', { firstname: 'Bob', email: 'b@example.com', provenance: 'LDAP' });
      const { actor, firstname, email } = await call(bob);
      const bobs = { id: 'bob', username: 'bob', provenance: 'LDAP', groups: [], admin: false, via: 'password' };
      assert.deepEqual(actor, bobs);
      assert.deepEqual([firstname, email], ['Bob', 'b@example.com']);
    });
    it('takes colons and any Unicode in passwords', async () => {
      await one.account('jörg', { password: 'ключ:🔑:ok' });
      assert.equal((await call(basic('jörg:ключ:🔑:ok'))).actor.username, 'jörg');
    });
    it('refuses all else', async () => {
      await one.account('bob');
      for (const [what, header] of Object.entries({
        nothing: '',
        'no colon': basic('bob'),
        'no password': basic('bob:'),
        'no user name': basic(':password'),
        'no base64': 'Basic b%b',
        'no UTF-8': `Basic ${Buffer.from([0x62, 0x3a, 0xff, 0xfe]).toString('base64')}`,
        'another scheme': 'Digest username="bob"',
        'a wrong password': basic('bob:password of eve'),
        'an unknown user': basic('eve:password of eve'),
        'a password cut short': basic('bob:password of bo'),
      }))
        await refused(call(header), 'unauthenticated', what);
    });
    it('hashes for an unknown user as for a known one', async () => {
      await refused(call(basic('eve:password')));
      assert.equal(one.hashing.checked, 1);
    });
    it('refuses an inactive account, after hashing', async () => {
      await one.account('bob', { inactive: true });
      await refused(call(bob));
      assert.equal(one.hashing.checked, 1);
    });
    it('hashes once for all who wait, and then not again', async () => {
      await one.account('bob');
      await Promise.all(Array.from({ length: 50 }, (_, i) => call(bob, { address: `10.0.0.${i}` })));
      assert.equal(one.hashing.checked, 1);
      for (let i = 0; i < 10; i++) atOnce(bob);
      assert.equal(one.hashing.checked, 1);
    });
    it('asks a wrong password once for all who wait, and then again each time', async () => {
      await one.account('bob');
      await Promise.all(Array.from({ length: 50 }, () => refused(call(basic('bob:wrong')))));
      assert.equal(one.hashing.checked, 1);
      await refused(call(basic('bob:wrong')));
      assert.equal(one.hashing.checked, 2);
    });
    it('hashes again after principalTimeout without use', async () => {
      await one.account('bob');
      await call(bob);
      clock.pass(minute - 1);
      await call(bob);
      assert.equal(one.hashing.checked, 1);
      clock.pass(minute);
      await call(bob);
      assert.equal(one.hashing.checked, 2);
    });
    it('never hashes again, and nobody waits, while in use', async () => {
      await one.account('bob');
      await call(bob);
      for (let i = 0; i < 20; i++) {
        clock.pass(0.4 * minute);
        atOnce(bob);
        // What is renewed in the background is read from memory here.
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
      assert.equal(one.hashing.checked, 1);
    });
    it('remembers for monitoring who has called since the start, until anything changes the account', async () => {
      await one.account('bob');
      const lastKnown = (authorization: string) =>
        one.auth.lastKnown({ authorization, cookie: undefined, address: '10.0.0.1' })?.actor.username;
      assert.equal(lastKnown(bob), undefined);
      await call(bob);
      clock.pass(1000 * minute);
      assert.deepEqual([lastKnown(bob), lastKnown(basic('bob:guessed')), lastKnown('')], ['bob', undefined, undefined]);
      // What it remembers is good for nothing else.
      assert.ok(call(bob) instanceof Promise);
      await one.command(setPassword, 'bob', { password: 'another password' });
      assert.equal(lastKnown(bob), undefined);
      await one.catchUp();
      assert.equal(lastKnown(bob), undefined);
    });
    it('counts failures', async () => {
      await one.account('bob');
      await call(bob);
      for (const password of ['wrong', 'wrong', 'wrong too']) await refused(call(basic(`bob:${password}`)));
      assert.equal(one.auth.failedLogins(), 3);
    });
    it('takes a password with a NUL at its end for another', async () => {
      await one.account('bob');
      await call(bob);
      await refused(call(basic('bob:password of bob\0')));
    });
    it('is limited after too many failures, but not for who is known already', async () => {
      await one.account('bob');
      await call(bob);
      for (let i = 0; i < 10; i++) await refused(call(basic(`bob:wrong ${i}`)));
      await refused(call(basic('bob:wrong')), 'limited');
      assert.equal(one.hashing.checked, 11);
      atOnce(bob);
    });
  });

  describe('acts at the next request on', () => {
    const setUp = async () => {
      await one.command(createRole, 'r', {
        name: 'r',
        allowedMethods: [{ provenance: 'mop', name: 'exportTemplate' }],
      });
      await one.group('above', { assignedRoles: ['r'] });
      await one.group('g', { memberOf: ['above'] });
      await one.account('bob', { memberOf: ['g'], externalGroups: ['staff', 'night/shift'] });
      await one.account('eve');
      await call(bob);
      await call(basic('eve:password of eve'));
    };
    const mayExport = async (on = one) => (await call(bob, { on })).may('mop', { name: 'exportTemplate', access: [] });

    it('a change of password', async () => {
      await setUp();
      await one.command(setPassword, 'bob', { password: 'another one' });
      await refused(call(bob));
      assert.equal((await call(basic('bob:another one'))).actor.id, 'bob');
    });
    it('a change of user name', async () => {
      await setUp();
      await one.command(updateAccount, 'bob', { username: 'rob' });
      await refused(call(bob));
      await refused(call(basic('bob:password of rob')));
      assert.equal((await call(basic('rob:password of bob'))).actor.username, 'rob');
    });
    it('inactive, there and back', async () => {
      await setUp();
      await one.command(updateAccount, 'bob', { inactive: true });
      await refused(call(bob));
      await one.command(updateAccount, 'bob', { inactive: false });
      await call(bob);
    });
    it('a delete', async () => {
      await setUp();
      await one.command(deleteAccount, 'bob');
      await refused(call(bob));
    });
    it('a change of role', async () => {
      await setUp();
      assert.equal(await mayExport(), true);
      await one.command(updateRole, 'r', { allowedMethods: [] });
      assert.equal(await mayExport(), false);
    });
    it("a change of the account's groups, and of a group above", async () => {
      await setUp();
      await one.command(updateGroup, 'above', { assignedRoles: [] });
      assert.equal(await mayExport(), false);
      await one.command(updateAccount, 'bob', { memberOf: ['admins'] });
      assert.equal(await mayExport(), true);
    });
    it('a group mapping of its provenance', async () => {
      await setUp();
      await one.command(updateGroup, 'above', { assignedRoles: [] });
      await one.group('mapped', { assignedRoles: ['r'] });
      await one.command(createGroupMapping, groupMappingId('elsewhere', 'staff'), {
        provenance: 'elsewhere',
        externalGroup: 'staff',
        platformGroups: ['mapped'],
      });
      assert.equal(await mayExport(), false);
      const id = groupMappingId('local', 'night/shift');
      await one.command(createGroupMapping, id, {
        provenance: 'local',
        externalGroup: 'night/shift',
        platformGroups: ['not yet there', 'mapped'],
      });
      assert.equal(await mayExport(), true);
      assert.deepEqual(
        (await call(bob)).groups.map(({ name }) => name),
        ['g', 'mapped', 'above'],
      );
      await one.command(updateGroupMapping, id, {
        provenance: 'local',
        externalGroup: 'night/shift',
        platformGroups: [],
      });
      assert.equal(await mayExport(), false);
    });
    it("the settings' admins", async () => {
      await setUp();
      assert.equal((await call(bob)).actor.admin, false);
      settings = { ...defaults, admins: [{ group: 'above', provenance: 'local' }] };
      assert.equal((await call(bob)).actor.admin, true);
      settings = { ...defaults, admins: [{ group: 'above', provenance: 'LDAP' }, 'other'] };
      assert.equal((await call(bob)).actor.admin, false);
    });
    it('all that on the other nodes as soon as they see it, without hashing for what did not change', async () => {
      await setUp();
      const two = await node();
      assert.equal(await mayExport(two), true);
      await one.command(updateRole, 'r', { allowedMethods: [] });
      await two.catchUp();
      assert.equal(await mayExport(two), false);
      assert.equal(two.hashing.checked, 1);
      await one.command(setPassword, 'bob', { password: 'another one' });
      await two.catchUp();
      await refused(call(bob, { on: two }));
    });

    it('nothing of that makes others wait: not their logins, not mappings that do not concern them', async () => {
      await setUp();
      const eve = basic('eve:password of eve');
      await tokenOf();
      await one.command(createGroupMapping, groupMappingId('local', 'x'), {
        provenance: 'local',
        externalGroup: 'x',
        platformGroups: [],
      });
      await one.catchUp();
      atOnce(eve);
      await one.command(updateAccount, 'bob', { firstname: 'B' });
      await one.catchUp();
      atOnce(eve);
      assert.equal(one.hashing.checked, 2);
    });
  });

  describe('with the token of a login', () => {
    it('knows who calls, by header and by cookie', async () => {
      await one.account('bob');
      const token = await tokenOf();
      assert.match(token, /^[\w-]{43}$/);
      assert.equal((await call(`Bearer ${token}`)).actor.id, 'bob');
      assert.equal((await call('', { cookie: token })).actor.id, 'bob');
      assert.equal(atOnce(`bearer ${token}`).actor.id, 'bob');
    });
    it('keeps the token nowhere', async () => {
      await one.account('bob');
      const token = await tokenOf();
      for await (const { events } of log.store.readAll(0))
        for (const event of events) assert.ok(!JSON.stringify(event).includes(token));
    });
    it('refuses other tokens', async () => {
      await one.account('bob');
      const token = await tokenOf();
      for (const wrong of ['', 'x', `${token}x`, `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`])
        await refused(call(`Bearer ${wrong}`));
    });
    it('ends it with logout, and only it', async () => {
      await one.account('bob');
      const [a, b] = [await tokenOf(), await tokenOf()];
      await call(`Bearer ${a}`);
      await one.auth.logOut(a, 'r');
      await refused(call(`Bearer ${a}`));
      await call(`Bearer ${b}`);
      await one.auth.logOut(a, 'r');
    });
    it('ends it after logoutTime without use, on a node that has seen the uses to the moment', async () => {
      await one.account('bob');
      const token = await tokenOf();
      await call(`Bearer ${token}`);
      for (let i = 0; i < 3; i++) {
        clock.pass(30 * minute);
        await call(`Bearer ${token}`);
      }
      clock.pass(30 * minute + 1);
      await refused(call(`Bearer ${token}`));
      settings = { ...defaults, logoutTime: 60 };
      await refused(call(`Bearer ${token}`));
    });
    it('ends it after twelve hours however much it is used', async () => {
      await one.account('bob');
      const token = await tokenOf();
      for (let i = 0; i < 71; i++) {
        clock.pass(10 * minute);
        await call(`Bearer ${token}`);
      }
      clock.pass(10 * minute);
      await refused(call(`Bearer ${token}`));
    });
    it('knows it after a restart, with what was written about its use', async () => {
      await one.account('bob');
      const token = await tokenOf();
      clock.pass(20 * minute);
      await call(`Bearer ${token}`);
      await written(1);
      const again = await node();
      clock.pass(25 * minute);
      assert.equal((await call(`Bearer ${token}`, { on: again })).actor.id, 'bob');
      clock.pass(31 * minute);
      await refused(call(`Bearer ${token}`, { on: again }));
    });
    it('takes uses of another node for uses', async () => {
      await one.account('bob');
      const token = await tokenOf();
      await call(`Bearer ${token}`);
      const two = await node();
      clock.pass(20 * minute);
      await call(`Bearer ${token}`, { on: two });
      await written(1);
      await one.catchUp();
      clock.pass(25 * minute);
      await call(`Bearer ${token}`);
      await written(2);
      await two.catchUp();
      clock.pass(20 * minute);
      await call(`Bearer ${token}`, { on: two });
    });
    it('writes its use down once in a tenth of logoutTime at most', async () => {
      await one.account('bob');
      const token = await tokenOf();
      await call(`Bearer ${token}`);
      for (const times of [1, 2, 3]) {
        for (let i = 0; i < 30; i++) {
          clock.pass(minute / 10);
          await call(`Bearer ${token}`);
        }
        await written(times);
      }
      assert.equal(await uses(), 3);
    });
    it('ends all of an account with its password', async () => {
      await one.account('bob');
      const token = await tokenOf();
      await call(`Bearer ${token}`);
      await one.command(setPassword, 'bob', { password: 'another one' });
      await refused(call(`Bearer ${token}`));
      await refused(call(`Bearer ${token}`, { on: await node() }));
    });
    it('ends all of an account that is deactivated, for good: also once it is active again, here, elsewhere and after a restart', async () => {
      await one.account('bob');
      const two = await node();
      const [used, unused] = [await tokenOf(), await tokenOf()];
      await call(`Bearer ${used}`);
      await call(`Bearer ${used}`, { on: two });
      await one.command(updateAccount, 'bob', { inactive: true });
      await refused(call(`Bearer ${used}`));
      await one.command(updateAccount, 'bob', { inactive: false });
      await two.catchUp();
      for (const on of [one, two, await node()])
        for (const token of [used, unused]) await refused(call(`Bearer ${token}`, { on }));
      await one.command(updateAccount, 'bob', { firstname: 'B' });
      const token = await tokenOf();
      for (const on of [one, await node()]) assert.equal((await call(`Bearer ${token}`, { on })).actor.id, 'bob');
      await one.command(updateAccount, 'bob', { inactive: true });
      await one.command(updateAccount, 'bob', { inactive: false });
      for (const on of [one, await node()]) await refused(call(`Bearer ${token}`, { on }));
    });
    it('does not begin one with a password that was checked before the account was deactivated', async () => {
      await one.account('bob');
      const known = await one.auth.verify({ username: 'bob', password: 'password of bob' }, '10.0.0.1');
      await one.command(updateAccount, 'bob', { inactive: true });
      await one.command(updateAccount, 'bob', { inactive: false });
      const token = await one.auth.logIn(known, 'r');
      await refused(call(`Bearer ${token}`));
    });
    it('with uniqueSession, ends the others of the account', async () => {
      await one.account('bob');
      await one.account('eve');
      const [eve, first] = [await tokenOf(one, 'eve'), await tokenOf()];
      settings = { ...defaults, uniqueSession: true };
      const [second, third] = await Promise.all([tokenOf(), tokenOf()]);
      await refused(call(`Bearer ${first}`));
      await refused(call(`Bearer ${second}`));
      await call(`Bearer ${third}`);
      await call(`Bearer ${eve}`);
    });
    it('hides its cookie from scripts and other sites, and from networks where there is TLS', () => {
      assert.equal(cookieText('token', 'x', true), 'token=x; Path=/; HttpOnly; SameSite=Strict; Secure');
      assert.equal(cookieText('sid', undefined, false), 'sid=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0');
      assert.deepEqual(
        ['token=x', 'a=1; token=x=;b', 'mytoken=x', ''].map((header) => cookieValue(header, 'token')),
        ['x', 'x=', undefined, undefined],
      );
    });
    it('prefers the header to the cookie', async () => {
      await one.account('bob');
      await refused(call(basic('bob:wrong'), { cookie: await tokenOf() }));
    });
    it('is limited like any login', async () => {
      await one.account('bob');
      for (let i = 0; i < 10; i++)
        await refused(one.auth.verify({ username: 'bob', password: `wrong ${i}` }, '10.0.0.1'));
      await refused(tokenOf(), 'limited');
    });
    it('does not take a user name with a colon for another', async () => {
      await one.account('bob', { password: 'b:password' });
      await call(basic('bob:b:password'));
      await refused(one.auth.verify({ username: 'bob:b', password: 'password' }, '10.0.0.1'));
    });
  });

  describe('permissions', () => {
    const of = async (memberOf: readonly string[], more: object = {}) => {
      await one.account('bob', { memberOf, ...more });
      const { may, actor } = await call(bob);
      return { actor, may: (area: string, name: string, access: Access = []) => may(area, { name, access }) };
    };
    it('are none at first', async () => {
      const { may } = await of([]);
      assert.equal(may('mop', 'exportTemplate', ['operators', 'readers']), false);
    });
    it('of admins are all', async () => {
      const { may, actor } = await of(['admins']);
      assert.ok(actor.admin && may('authorization', 'createAccount') && may('profiles', 'updateProfile'));
    });
    it('of admins that the settings do not name are all methods, but no gbac', async () => {
      settings = { ...defaults, admins: ['others'] };
      const { may, actor } = await of(['admins']);
      assert.ok(!actor.admin && may('profiles', 'updateProfile'));
    });
    it('of operators and readers are what rows say', async () => {
      for (const group of ['operators', 'readers'] as const) {
        await one.account(group, { memberOf: [group] });
        const { may, actor } = await call(basic(`${group}:password of ${group}`));
        assert.equal(actor.admin, false);
        for (const access of [[], ['operators'], ['readers'], ['operators', 'readers']] as const)
          assert.equal(
            may('mop', { name: 'exportTemplate', access }),
            access.some((one) => one === group),
            `${group} of ${access}`,
          );
      }
    });
    it('of roles are what they list, in that area', async () => {
      await one.command(createRole, 'r', {
        name: 'r',
        allowedMethods: [{ provenance: 'mop', name: 'exportTemplate' }],
      });
      const { may } = await of([], { assignedRoles: ['r'] });
      assert.deepEqual(
        [may('mop', 'exportTemplate'), may('prebuilts', 'exportTemplate'), may('mop', 'createTemplate')],
        [true, false, false],
      );
    });
    it('come through groups in circles', async () => {
      await one.group('x');
      await one.group('y', { memberOf: ['x'] });
      await one.command(updateGroup, 'x', { memberOf: ['y', 'readers'] });
      const { actor } = await of(['y']);
      assert.deepEqual([...actor.groups].sort(), ['readers', 'x', 'y']);
    });
    it('of a group that is gone do not come back with its name', async () => {
      await one.group('x');
      await one.account('bob', { memberOf: ['x'] });
      await one.command(updateAccount, 'bob', { memberOf: [] });
      await one.command(deleteGroup, 'x');
      assert.deepEqual((await call(bob)).actor.groups, []);
    });
  });

  it('keeps logins no longer than they can last', async () => {
    await one.account('bob');
    await tokenOf();
    clock.pass(12 * 60 * minute);
    const token = await tokenOf();
    await one.catchUp();
    await one.auth.sweep();
    await one.catchUp();
    assert.equal((await one.tools.query(logins)).length, 1);
    await call(`Bearer ${token}`);
  });
});

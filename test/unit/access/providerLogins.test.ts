import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { deleteAccount, updateAccount } from '../../../src/commands/authorization/accounts.ts';
import { createProvider, deleteProvider, updateProvider } from '../../../src/commands/authorization/providers.ts';
import { createToken } from '../../../src/commands/authorization/tokens.ts';
import { tokenText } from '../../../src/commands/authorization/tokenTexts.ts';
import { createGroupMapping, deleteGroupMapping } from '../../../src/commands/group-mappings/groupMappings.ts';
import { provider } from '../../../src/domain/authorization/providers.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { groupMappingId } from '../../../src/domain/group-mappings/groupMappings.ts';
import type { Principal } from '../../../src/http/authentication/principal.ts';
import { accounts } from '../../../src/projections/authorization/accounts.ts';
import { documentOf } from '../../../src/projections/engine/documents.ts';
import type { Directory } from '../../../src/southbound/port.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { defaults, fixedClock, nodesOnLog, type TestNode } from '../../support/node.ts';
import { until } from '../../support/until.ts';

const minute = 60_000;
const secret = 'S'.repeat(43);
const basic = (username: string, password = `password of ${username.replace(/^.*\\/, '')}`) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

type Known = { readonly groups?: readonly string[]; readonly externalId?: string; readonly password?: string };

describe('logins by authentication providers', () => {
  let clock: ReturnType<typeof fixedClock>;
  let settings = defaults;
  let one: TestNode;
  let people: Record<string, Record<string, Known>>;
  let silent: Set<string>;
  let asked: string[];
  const directory: Directory = async ({ name: provider }, { username: name, password, externalId: id }) => {
    asked.push(`${provider}/${name}`);
    if (silent.has(provider)) throw new Error('no answer');
    const idOf = (username: string, { externalId = `id of ${username}` }: Known) => externalId;
    const found = Object.entries(people[provider] ?? {}).find(([username, known]) =>
      id === undefined ? username === name.toLowerCase() : idOf(username, known) === id,
    );
    if (!found) return undefined;
    const [username, known] = found;
    const person = { dn: '', externalId: idOf(username, known), username, firstname: '', email: '', memberOf: [] };
    const authenticated = password === undefined ? null : password === (known.password ?? `password of ${username}`);
    return { person, authenticated, externalGroups: authenticated === false ? [] : (known.groups ?? []) };
  };
  const told = new Set<string>();
  const { log, node } = nodesOnLog({
    now: () => clock.now(),
    settings: () => settings,
    directory,
    onEvent: ({ stream }) => void told.add(stream),
  });

  const provide = (name: string, more: object = {}) =>
    one.command(createProvider, name, {
      name,
      type: 'ldap',
      properties: { urls: ['ldaps://directory.example.net'], userBase: 'dc=example' },
      ...more,
    });
  beforeEach(async () => {
    [clock, settings, people, silent, asked] = [fixedClock(), defaults, {}, new Set(), []];
    one = await node();
    await one.bootstrap();
    told.clear();
    await provide('corp');
    await until(() => told.has('provider-corp'), 'the provider is told');
    people.corp = { anna: { groups: ['noc'] }, admin: {}, bob: {} };
    // A login at the moment of a change counts as one before it.
    clock.pass(1);
  });

  const call = async (authorization: string, on = one): Promise<Principal> =>
    on.auth.authenticate({ authorization, cookie: undefined, address: '10.0.0.1' });
  const refused = (work: Promise<unknown>, code = 'unauthenticated', about = /./) =>
    assert.rejects(work, (error) => error instanceof RequestError && error.code === code && about.test(error.message));
  const topics = async () => {
    const found: string[] = [];
    for await (const { events } of log.store.readAll(0))
      for (const { type, stream } of events) if (stream.startsWith('account-')) found.push(type.split(':')[1] ?? '');
    return found;
  };

  it('make an account, whose groups come from the mappings of the provider alone', async () => {
    await one.command(createGroupMapping, groupMappingId('corp', 'noc'), {
      provenance: 'corp',
      externalGroup: 'noc',
      platformGroups: ['operators'],
    });
    const { actor } = await call(basic('anna'));
    assert.deepEqual(
      [actor.username, actor.provenance, actor.groups, actor.via],
      ['anna', 'corp', ['operators'], 'ldap'],
    );
    people.corp!.anna = { groups: ['other', 'noc2'] };
    clock.pass(2 * minute);
    assert.deepEqual((await call(basic('anna'))).actor.groups, []);
    clock.pass(2 * minute);
    await call(basic('anna'));
    assert.deepEqual((await topics()).slice(-2), ['accountProvisioned', 'externalGroupsChanged']);
  });

  it('give as many groups as an issuer or a directory says, 5,000 at most', async () => {
    const last = { provenance: 'corp', externalGroup: 'group 4999', platformGroups: ['operators'] };
    await one.command(createGroupMapping, groupMappingId('corp', last.externalGroup), last);
    people.corp!.anna = { groups: Array.from({ length: 5000 }, (_, n) => `group ${n}`) };
    const { actor } = await call(basic('anna'));
    assert.deepEqual(actor.groups, ['operators']);
    assert.equal((await documentOf(one.model, accounts, actor.id))?.externalGroups.length, 5000);
  });

  it('of many who come at once for the first time end in turns of their own', async () => {
    const newcomers = Array.from({ length: 60 }, (_, n) => `new ${n}`);
    people.corp = Object.fromEntries(newcomers.map((name) => [name, {}]));
    let [ended, endedBefore, isOver] = [0, 0, false];
    const perTurn: number[] = [];
    const look = (): void => {
      perTurn.push(ended - endedBefore);
      endedBefore = ended;
      if (!isOver) setImmediate(look);
    };
    setImmediate(look);
    const all = newcomers.map(async (name) => {
      await call(basic(name));
      ended++;
    });
    await Promise.all(all).finally(() => {
      isOver = true;
    });
    assert.ok(Math.max(...perTurn) <= 2, `${Math.max(...perTurn)} in one turn`);
  });

  it('never ask for the name of a local account, nor for one that is equal by NFKC', async () => {
    assert.equal((await call(basic('admin'))).actor.via, 'password');
    await refused(call(basic('admin', 'wrong')));
    await refused(call(basic('ａｄｍｉｎ', 'wrong')));
    await one.command(updateProvider, 'corp', { enabled: false });
    await refused(call(basic('anna')));
    assert.deepEqual(asked, []);
  });

  it('ask providers in their order: the first that knows the name decides', async () => {
    await provide('first', { order: 1 });
    people.first = { bob: { password: 'another' } };
    await refused(call(basic('bob')));
    assert.deepEqual(asked, ['first/bob']);
    await call(basic('anna'));
    assert.deepEqual(asked.slice(1), ['first/anna', 'corp/anna']);
    await call(basic('corp\\bob'));
    assert.deepEqual(asked.slice(3), ['corp/bob']);
  });

  it('pass over a provider that does not answer, and answer 503 only where nobody else knows the name', async () => {
    await provide('first', { order: 1 });
    silent.add('first');
    await call(basic('anna'));
    await call(basic('admin'));
    await refused(call(basic('carl')), 'unavailable', /"first"/);
    for (let i = 0; i < 200; i++) await refused(call(basic('carl')), 'unavailable');
    silent.clear();
    people.first = { carl: {} };
    await call(basic('carl'));
  });

  it('are remembered for principalTimeout, and for one more such time while the provider is silent', async () => {
    await call(basic('anna'));
    silent.add('corp');
    clock.pass(0.9 * minute);
    await call(basic('anna'));
    await call(basic('anna'));
    clock.pass(0.8 * minute);
    await call(basic('anna'));
    clock.pass(0.4 * minute);
    await refused(call(basic('anna')), 'unavailable', /corp/);
    silent.clear();
    await call(basic('anna'));
  });

  it('are asked for again ahead of time: another password ends what is remembered', async () => {
    await call(basic('anna'));
    people.corp!.anna = { password: 'a new one' };
    clock.pass(0.6 * minute);
    await call(basic('anna'));
    await until(async () => {
      const outcome = await call(basic('anna')).catch((error: unknown) => error);
      return outcome instanceof RequestError && outcome.code === 'unauthenticated';
    }, 'the end of what is remembered');
    assert.ok(await call(basic('anna', 'a new one')));
  });

  it('give a name that others have as provider\\name, and two nodes make one account', async () => {
    await one.account('bob');
    const two = await node();
    const both = await Promise.all([call(basic('corp\\bob')), call(basic('corp\\bob'), two)]);
    assert.deepEqual(
      both.map(({ actor }) => [actor.username, actor.id === both[0].actor.id]),
      [
        ['corp\\bob', true],
        ['corp\\bob', true],
      ],
    );
    assert.equal((await topics()).filter((topic) => topic === 'accountProvisioned').length, 1);
    assert.equal((await call(basic('bob'))).actor.via, 'password');
  });

  it('take over an account that was made for the provider, at the first login as provider\\name', async () => {
    await one.group('staff');
    await one.account('anna', { provenance: 'corp', memberOf: ['staff'], externalGroups: ['typed'] });
    people.corp!.anna = { groups: ['noc'], password: 'that of corp' };
    assert.equal((await call(basic('anna'))).actor.via, 'password');
    const { actor } = await call(basic('corp\\anna', 'that of corp'));
    assert.deepEqual([actor.id, actor.username, actor.groups], ['anna', 'anna', []]);
    await refused(call(basic('anna')));
    assert.equal((await call(basic('anna', 'that of corp'))).actor.via, 'ldap');
    const doc = await documentOf(one.model, accounts, 'anna');
    assert.deepEqual([doc?.memberOf, doc?.externalGroups, doc?.externalId], [[], ['noc'], 'id of anna']);
    for (const change of [{ password: 'another password' }, { memberOf: ['staff'] }, { externalGroups: [] }])
      await refused(one.command(updateAccount, 'anna', change), 'conflict');
    await refused(one.command(deleteProvider, 'corp'), 'conflict', /1 accounts/);
  });

  for (const late of ['account', 'provider'])
    it(`leave no account of a provider that is deleted meanwhile, if the event of the ${late} is stored last`, async () => {
      await provide('brief');
      people.brief = { anna: {} };
      let goOn = (): void => undefined;
      let isHeld = false;
      const hold = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      const slow: EventStore = {
        ...log.store,
        append: async (stream, ...rest) => {
          if (stream.startsWith(`${late}-`)) {
            isHeld = true;
            await hold;
          }
          return log.store.append(stream, ...rest);
        },
      };
      const [fast, slowed] = [await node(log.store, { reacting: true }), await node(slow, { reacting: true })];
      const logIn = (on: TestNode) => call(basic('brief\\anna'), on);
      const remove = (on: TestNode) => on.command(deleteProvider, 'brief');
      const [first, second] = late === 'account' ? [logIn, remove] : [remove, logIn];
      const slowOne = first(slowed);
      await until(() => isHeld, 'the event that is held');
      await second(fast);
      goOn();
      await (late === 'account' ? refused(slowOne) : slowOne);
      await fast.catchUp();
      assert.equal((await fast.tools.state(provider, 'brief')).content, undefined);
      const found = await fast.tools.query(accounts, { field: 'provenance', op: 'equals', value: 'brief' });
      assert.deepEqual(found, []);
    });

  it('make no account when the profile says so, and let no inactive one in', async () => {
    const { actor } = await call(basic('anna'));
    settings = { ...defaults, brokerPrincipal: false };
    await refused(call(basic('bob')));
    assert.ok(await call(basic('anna')));
    await one.command(updateAccount, actor.id, { inactive: true });
    await refused(call(basic('anna')));
  });

  it('are nobody else after a name has gone to another person, and have nothing of a deleted account', async () => {
    const before = await call(basic('anna'));
    const login = await one.auth.logIn(
      await one.auth.verify({ username: 'anna', password: 'password of anna' }, ''),
      'r',
    );
    people.corp!.anna = { externalId: 'another anna' };
    clock.pass(2 * minute);
    const other = await call(basic('anna'));
    assert.deepEqual([other.actor.username, other.actor.id === before.actor.id], ['corp\\anna', false]);
    people.corp!.anna = {};
    await one.command(deleteAccount, before.actor.id);
    clock.pass(2 * minute);
    assert.equal((await call(basic('anna'))).actor.id, before.actor.id);
    await refused(
      (async () => one.auth.authenticate({ authorization: `Bearer ${login}`, cookie: undefined, address: '' }))(),
    );
  });

  it('act on all nodes: a mapping that is removed, an account that is deactivated, a provider that is disabled', async () => {
    const [id, two] = [groupMappingId('corp', 'noc'), await node()];
    const mapping = { provenance: 'corp', externalGroup: 'noc', platformGroups: ['operators'] };
    await one.command(createGroupMapping, id, mapping);
    await two.catchUp();
    const { actor } = await call(basic('anna'), two);
    assert.deepEqual(actor.groups, ['operators']);
    await one.command(deleteGroupMapping, id);
    await two.catchUp();
    assert.deepEqual((await call(basic('anna'), two)).actor.groups, []);
    await one.command(updateProvider, 'corp', { enabled: false });
    await two.catchUp();
    await refused(call(basic('anna'), two));
  });

  describe('go on without a password', () => {
    const logIn = async (username: string): Promise<string> =>
      `Bearer ${await one.auth.logIn(await one.auth.verify({ username, password: `password of ${username}` }, ''), 'r')}`;
    const tokenOf = async ({ actor }: Principal): Promise<string> => {
      const id = randomBytes(12).toString('hex');
      await one.command(createToken, id, { name: 'ci', secret }, { actor });
      return `Bearer ${tokenText(id, secret)}`;
    };
    let ways: readonly string[];
    beforeEach(async () => {
      const mapping = { provenance: 'corp', externalGroup: 'noc', platformGroups: ['operators'] };
      await one.command(createGroupMapping, groupMappingId('corp', 'noc'), mapping);
      ways = [await logIn('anna'), await tokenOf(await call(basic('anna')))];
      asked = [];
    });
    const groups = async (way: string, on = one) => (await call(way, on)).actor.groups;

    it('by cookies and tokens, for which the directory is asked once in a while', async () => {
      const two = await node();
      for (let i = 0; i < 20; i++) for (const way of ways) assert.deepEqual(await groups(way), ['operators']);
      assert.deepEqual(asked, []);
      for (const way of ways) assert.deepEqual(await groups(way, two), ['operators']);
      assert.deepEqual(asked, ['corp/anna']);
      clock.pass(0.6 * minute);
      for (let i = 0; i < 20; i++) for (const way of ways) assert.deepEqual(await groups(way), ['operators']);
      await until(() => asked.length === 2, 'the directory is asked ahead of time');
    });

    it('as long as the directory has the person, and with the groups that it has', async () => {
      const two = await node();
      people.corp!.anna = { groups: [] };
      clock.pass(1.1 * minute);
      assert.deepEqual(await groups(ways[1]!), []);
      await two.catchUp();
      for (const on of [one, two]) for (const way of ways) assert.deepEqual(await groups(way, on), []);
      people.corp = { annette: { groups: ['noc'], externalId: 'id of anna' } };
      clock.pass(1.1 * minute);
      assert.deepEqual(await groups(ways[0]!), ['operators']);
      people.corp = { anna: { groups: ['noc'], externalId: 'another anna' } };
      clock.pass(1.1 * minute);
      for (const way of ways) await refused(call(way));
      const { id } = (await one.tools.query(accounts))
        .map(({ _id, username }) => ({ id: _id, username }))
        .find(({ username }) => username === 'anna')!;
      assert.equal(await one.auth.accountNow(id), undefined);
      const [, token = ''] = /apt_([0-9a-f]{24})/.exec(ways[1]!) ?? [];
      assert.equal(await one.auth.accountNow(`${id} ${token}`), undefined);
      assert.deepEqual((await two.auth.rightsOf(id))?.roles, []);
      people.corp = { anna: { groups: ['noc'] } };
      clock.pass(1.1 * minute);
      for (const way of ways) assert.deepEqual(await groups(way), ['operators']);
    });

    it('one more principalTimeout while the directory is silent, and then not; local accounts do', async () => {
      const [two, local] = [await node(), await logIn('admin')];
      silent.add('corp');
      for (const way of ways) await refused(call(way, two), 'unavailable', /"corp"/);
      clock.pass(0.9 * minute);
      for (const way of ways) await groups(way);
      clock.pass(0.2 * minute);
      for (const way of ways) assert.deepEqual(await groups(way), ['operators']);
      clock.pass(minute);
      for (const way of ways) await refused(call(way), 'unavailable', /"corp"/);
      assert.equal((await call(local)).actor.username, 'admin');
      silent.clear();
      for (const way of ways) assert.deepEqual(await groups(way), ['operators']);
    });

    it('by a token until its date, on each node', async () => {
      const [two, token] = [await node(), await tokenOf(await call(basic('admin')))];
      const id = token.slice('Bearer apt_'.length).slice(0, 24);
      clock.pass(90 * 24 * 60 * minute - 1);
      const { actor } = await call(token);
      const key = `${actor.id} ${id}`;
      for (const on of [one, two]) {
        await call(token, on);
        assert.ok(await on.auth.accountNow(key));
      }
      clock.pass(1);
      for (const on of [one, two, await node()]) {
        await refused(call(token, on));
        assert.equal(await on.auth.accountNow(key), undefined);
      }
    });

    it('while their provider is enabled', async () => {
      clock.pass(1);
      await one.command(updateProvider, 'corp', { enabled: false });
      for (const way of ways) await refused(call(way));
      clock.pass(1);
      await one.command(updateProvider, 'corp', { enabled: true });
      for (const way of ways) assert.deepEqual(await groups(way), ['operators']);
    });
  });
});

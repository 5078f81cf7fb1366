import assert from 'node:assert/strict';
import { tokenHash, tokenIdIn, tokenText } from '../../../src/commands/authorization/tokenTexts.ts';
import { create, remove, token, use } from '../../../src/domain/authorization/tokens.ts';
import { areas } from '../../../src/http/areas.ts';
import { limitedTo, principalOf } from '../../../src/http/authentication/principal.ts';
import { context, specification } from '../../support/given.ts';

const given = specification(token);
const secret = 'S'.repeat(43);
const text = tokenText(context.id, secret);
const bot = { id: 'bot', isService: true, deactivated: 2 };
const own = { id: context.actor.id, isService: false, deactivated: 0 };
const refs = {
  account: bot,
  unknownMethods: [] as string[],
  inventories: undefined,
  inForce: 0,
  hash: tokenHash(text),
};
const about = {
  name: 'ci',
  account: 'bot',
  hash: tokenHash(text),
  deactivated: 2,
  expires: '2026-04-01T00:00:00.000Z',
};
const created = { topic: 'tokenCreated', data: about } as const;

describe('a token', () => {
  it('is found by its text, unless one character is wrong', () => {
    assert.match(text, /^apt_[0-9a-f]{24}_[A-Za-z0-9_-]{43}_[0-9a-f]{6}$/);
    assert.equal(tokenIdIn(text), context.id);
    for (let at = 0; at < text.length; at++)
      for (const other of ['a', 'b', '_', '']) {
        const wrong = text.slice(0, at) + other + text.slice(at + 1);
        if (wrong !== text) assert.equal(tokenIdIn(wrong), undefined, wrong);
      }
  });

  it('lasts 90 days, or as long as was asked for', () => {
    given().when(create, { name: 'ci', account: 'bot' }, refs).then(created);
    given()
      .when(create, { name: 'ci', account: 'bot', expires: '2026-02-01T01:00:00+01:00', methods: ['a', 'a'] }, refs)
      .then({ topic: 'tokenCreated', data: { ...about, expires: '2026-02-01T00:00:00.000Z', methods: ['a'] } });
    for (const expires of ['2026-01-01T00:00:00Z', '2025-12-31T00:00:00Z', '2027-01-02T00:00:01Z'])
      given()
        .when(create, { name: 'ci', expires }, { ...refs, account: own })
        .thenRefused('invalid', /expires/);
    given()
      .when(create, { name: 'ci', expires: '2027-01-02T00:00:00Z' }, { ...refs, account: own })
      .then({
        topic: 'tokenCreated',
        data: { ...about, account: own.id, deactivated: 0, expires: '2027-01-02T00:00:00.000Z' },
      });
  });

  it("is one's own, or by an admin a service account's; no token makes it", () => {
    const ask = { name: 'ci', account: 'bot' };
    const by = (more: object) => () =>
      create(token.initial, ask, { ...context, actor: { ...context.actor, ...more }, refs });
    for (const way of [{ token: 'f'.repeat(24) }, { via: 'oidc' }]) assert.throws(by(way), { code: 'forbidden' });
    assert.throws(by({ admin: false }), { code: 'forbidden' });
    given()
      .when(create, ask, { ...refs, account: undefined })
      .thenRefused('not_found', /account/);
    given()
      .when(create, ask, { ...refs, account: { ...bot, isService: false } })
      .thenRefused('conflict', /person/);
    given()
      .when(create, { name: 'ci' }, { ...refs, account: own, unknownMethods: ['x'] })
      .thenRefused('not_found', /x/);
    given()
      .when(create, { ...ask, inventories: ['lab', 'none'] }, { ...refs, inventories: ['id of lab', undefined] })
      .thenRefused('not_found', /: none"/);
    given()
      .when(create, { ...ask, inventories: ['lab', 'lab'] }, { ...refs, inventories: ['id of lab', 'id of lab'] })
      .then({ topic: 'tokenCreated', data: { ...about, inventories: ['id of lab'] } });
    given()
      .when(create, ask, { ...refs, inForce: 99 })
      .then(created);
    given()
      .when(create, ask, { ...refs, inForce: 100 })
      .thenRefused('conflict', /100/);
  });

  it('keeps the day and the address of its last use, once an hour', () => {
    const used = (at: string, address: string) => ({ topic: 'tokenUsed', data: { at, address } }) as const;
    given(created).when(use, { address: '10.0.0.1' }).then(used(context.now, '10.0.0.1'));
    const before = (at: string) => given(created, used(at, '10.0.0.1'));
    before('2025-12-31T23:00:01.000Z').when(use, { address: '10.0.0.2' }).thenNothing();
    before('2025-12-31T23:00:00.000Z').when(use, { address: '10.0.0.1' }).then(used(context.now, '10.0.0.1'));
    given(created, used('2026-01-01T00:00:00.000Z', '10.0.0.1')).when(use, { address: '10.0.0.1' }).thenNothing();
  });

  it('is ended by its account and by admins', () => {
    given(created).when(remove, {}).then({ topic: 'tokenDeleted', data: {} });
    const actor = { ...context.actor, admin: false };
    const state = token.evolve.tokenCreated(token.initial, about);
    assert.throws(() => remove(state, {}, { ...context, actor }), { code: 'not_found' });
    assert.equal(remove(state, {}, { ...context, actor: { ...actor, id: 'bot' } }).length, 1);
  });
});

describe('rights by a token, for every route and role', () => {
  const account = {
    _id: 'a'.repeat(24),
    username: 'nora',
    provenance: 'local',
    firstname: '',
    email: '',
    inactive: false,
    memberOf: [],
    assignedRoles: [],
    externalGroups: [],
    created: '',
    lastUpdated: '',
  };
  const group = (name: string) => ({ name, provenance: 'local', description: '', assignedRoles: [], memberOf: [] });
  const role = { name: 'few', description: '', allowedMethods: [{ provenance: 'authorization', name: 'getRoles' }] };
  const stamps = { _id: 'b'.repeat(24), created: '', lastUpdated: '' };
  for (const name of ['admins', 'operators', 'readers', 'none'])
    it(`${name}: those of the account, and no more than its methods`, () => {
      const person = principalOf({
        account,
        groups: [{ ...stamps, ...group(name) }],
        roles: [{ ...stamps, ...role }],
        admins: [],
      });
      const whole = limitedTo(person, { id: 'one', methods: undefined, inventories: undefined });
      const some = new Set(['getRoles', 'createToken', 'getAutomations', 'deleteJob']);
      const part = limitedTo(person, { id: 'two', methods: some, inventories: undefined });
      for (const { area, routes } of areas)
        for (const route of routes) {
          const may = person.may(area, route);
          assert.equal(whole.may(area, route), may, route.name);
          assert.equal(part.may(area, route), may && (some.has(route.name) || route.access === 'open'), route.name);
        }
      assert.equal(whole.rights, person.rights);
      assert.notEqual(part.rights, person.rights);
      assert.deepEqual([part.actor.via, part.actor.token, part.actor.admin], ['token', 'two', name === 'admins']);
    });
});

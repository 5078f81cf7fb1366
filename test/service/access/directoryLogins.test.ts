import assert from 'node:assert/strict';
import { freshLogin } from '../../support/freshLogins.ts';
import { ok, refused } from '../../support/people.ts';
import { describeSlapd, groupEntry, personEntry, searcher } from '../../support/slapd.ts';
import { usePeople, useService } from '../../support/useService.ts';

const providers = '/authorization/providers';
const people = ['anna', 'bob', 'carl', 'reader', 'leaver'];
const entries = () =>
  [
    ...people.map((uid) => personEntry(uid, { givenName: uid.toUpperCase() })),
    groupEntry(
      'noc',
      ['anna', 'carl', 'leaver'].map((uid) => `uid=${uid},ou=people,dc=example`),
    ),
    groupEntry('watch', ['uid=bob,ou=people,dc=example']),
  ].join('');

describeSlapd('logins by a directory over HTTP', entries, (directory) => {
  const service = useService({ OUTBOUND_ALLOW: 'localhost' });
  const local = usePeople(service);
  const as = (user: string, password = `password of ${user.replace(/^.*\\/, '')}`) => service.as({ user, password });
  const properties = () => ({
    urls: [directory().tls],
    ca: directory().ca,
    userBase: 'ou=people,dc=example',
    groupBase: 'ou=groups,dc=example',
    timeout: 2000,
    ...searcher,
  });

  before(async () => {
    ok(await service.ask('POST', providers, { name: 'corp', type: 'ldap', properties: properties() }));
    for (const [externalGroup, group] of [
      ['noc', 'operators'],
      ['watch', 'readers'],
    ] as const)
      ok(
        await service.ask('POST', '/group-mappings', {
          provenance: 'corp',
          externalGroup,
          platformGroups: [group, 'ops'],
        }),
      );
  });

  it('give the rights of the mapped groups, the same as those of a local account, by Basic, by login and by token', async () => {
    const routes = [
      '/authorization/groups',
      '/authorization/accounts',
      '/authorization/roles',
      providers,
      '/mop/listTemplates',
    ];
    const { text: token } = await service.ask(
      'POST',
      '/login',
      { username: 'anna', password: 'password of anna' },
      {},
      null,
    );
    const made = ok(await as('anna')('POST', '/authorization/tokens', { name: 'hers' })).data.token;
    const by = (bearer: string) => (method: string, path: string) =>
      service.ask(method, path, undefined, { Authorization: `Bearer ${bearer}` }, null);
    for (const path of routes) {
      const expected = (await local.member('GET', path)).status;
      for (const ask of [as('anna'), by(token), by(made)])
        assert.equal((await ask('GET', path)).status, expected, path);
    }
    const who = ok(await as('anna')('GET', '/whoami'));
    assert.deepEqual([who.provenance, who.firstname, who.via, who.externalGroups], ['corp', 'ANNA', 'ldap', ['noc']]);
    assert.equal(ok(await by(made)('GET', '/whoami')).via, 'token');
    const { _id } = ok(await as('anna')('POST', '/operations-manager/automations', { name: 'by anna' })).data;
    const events = ok(await service.ask('GET', `/audit/resources/automation/${_id}`)).results;
    assert.equal(events[0].actor.via, 'ldap');
  });

  it('begin with a password: an empty one, with which a directory binds anonymously, is refused before', async () => {
    refused(await as('anna', '')('GET', '/whoami'), 401);
    refused(await as('corp\\anna', '')('GET', '/whoami'), 401);
    refused(await service.ask('POST', '/login', { username: 'anna', password: '' }, {}, null), 400, /password/);
  });

  it('explain rights to oneself and to admins, and to nobody else', async () => {
    const { _id } = ok(await service.ask('GET', '/authorization/accounts/anna'));
    const rights = ok(await as('anna')('GET', `/authorization/accounts/${_id}/rights`));
    assert.deepEqual([rights.admin, rights.adminBy, rights.roles], [false, [], []]);
    assert.deepEqual(rights.methods, ok(await as('anna')('GET', '/whoami')).methods);
    assert.deepEqual(ok(await service.ask('GET', '/authorization/accounts/anna/rights')), rights);
    refused(await local.member('GET', `/authorization/accounts/${_id}/rights`), 403);
    refused(await local.member('GET', '/authorization/accounts/none/rights'), 403);
    refused(await service.ask('GET', '/authorization/accounts/none/rights'), 404);
    const admin = ok(await service.ask('GET', '/authorization/accounts/admin/rights'));
    const ways = [{ by: 'group', group: 'admins' }];
    assert.deepEqual([admin.admin, admin.adminBy, admin.groups], [true, ways, [{ name: 'admins', ways }]]);
  });

  it('give a name that a local account has as provider\\name, and nothing of that account', async () => {
    refused(await as('reader')('GET', '/whoami'), 401);
    const who = ok(await as('corp\\reader')('GET', '/whoami'));
    assert.deepEqual([who.username, who.groups], ['corp\\reader', []]);
  });

  it('refuse passwords, groups and another provenance for an account of the directory', async () => {
    ok(await as('bob')('GET', '/whoami'));
    for (const change of [
      { password: 'another password' },
      { memberOf: ['admins'] },
      { externalGroups: ['noc'] },
      { provenance: 'local' },
    ])
      refused(
        await service.ask('PATCH', '/authorization/accounts/bob', change),
        409,
        new RegExp(Object.keys(change)[0]!),
      );
    ok(
      await service.ask('PATCH', '/authorization/accounts/bob', { memberOf: [], provenance: 'corp', firstname: 'Bob' }),
    );
    const own = { old: 'password of bob', new: 'another password' };
    refused(await as('bob')('POST', '/whoami/password', own), 409);
    refused(await service.ask('DELETE', `${providers}/corp`), 409, /accounts/);
  });

  it('say what the directory says of a person, and keep the password of the searcher', async () => {
    const test = (body: object, name = 'corp') => service.ask('POST', `${providers}/${name}/test`, body);
    const found = {
      found: true,
      authenticated: true,
      username: 'carl',
      externalGroups: ['noc'],
      platformGroups: ['operators', 'ops'],
    };
    assert.deepEqual(ok(await test({ username: 'carl', password: 'password of carl' })), found);
    assert.deepEqual(ok(await test({ username: 'carl' })), { ...found, authenticated: null });
    refused(await service.ask('GET', '/authorization/accounts/carl'), 404);
    refused(await test({ username: 'carl', password: '' }), 400, /password/);
    refused(await local.member('POST', `${providers}/corp/test`, { username: 'carl' }), 403);

    const shown = ok(await service.ask('GET', `${providers}/corp`)).properties;
    assert.equal(shown.bindPassword, '********');
    assert.ok(!service.lines.join('').includes(searcher.bindPassword));
    ok(await service.ask('PATCH', `${providers}/corp`, { properties: { ...shown, timeout: 3000 } }));
    ok(await test({ username: 'carl' }));
    const elsewhere = { ...shown, urls: ['ldaps://elsewhere.example.net'] };
    refused(await service.ask('PATCH', `${providers}/corp`, { properties: elsewhere }), 400, /bindPassword/);
    const wrong = {
      name: 'wrong',
      type: 'ldap',
      enabled: false,
      properties: { ...properties(), bindPassword: 'wrong one' },
    };
    ok(await service.ask('POST', providers, wrong));
    refused(
      await test({ username: 'carl' }, 'wrong'),
      502,
      /Authentication provider \\"wrong\\": .*InvalidCredentials/,
    );
  });

  it('end with the person in the directory, by each way', async () => {
    const login = await service.ask('POST', '/login', { username: 'leaver', password: 'password of leaver' }, {});
    const { token } = ok(await as('leaver')('POST', '/authorization/tokens', { name: 'ci' })).data;
    const by = (text: string) =>
      service.ask('GET', '/authorization/groups', undefined, { Authorization: `Bearer ${text}` }, null);
    for (const text of [login.text, token]) ok(await by(text));
    await directory().change((client) => client.del('uid=leaver,ou=people,dc=example'));
    // A provider that has changed is asked again at once.
    ok(await service.ask('PATCH', `${providers}/corp`, { order: 7 }));
    for (const text of [login.text, token]) refused(await by(text), 401);
    refused(await as('leaver')('GET', '/whoami'), 401);
    assert.deepEqual(ok(await service.ask('GET', '/authorization/accounts/leaver/rights')).roles, []);
  });

  it('hang with the directory, and nobody else does', async () => {
    const median = freshLogin(service);
    const before = await median();
    ok(await as('anna')('GET', '/authorization/groups'));
    directory().pause();
    try {
      const waiting = Array.from({ length: 40 }, (_, i) => as(`nobody ${i}`)('GET', '/whoami'));
      const during = await median();
      assert.ok(during < before + 50, `${during} ms, ${before} ms before`);
      for (const answer of await Promise.all(waiting)) refused(answer, 503, /corp/);
      ok(await as('anna')('GET', '/authorization/groups'));
    } finally {
      directory().resume();
    }
  }).timeout(30_000);
});

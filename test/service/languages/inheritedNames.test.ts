import assert from 'node:assert/strict';
import { ok } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

const names = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '%00 is not NUL',
  '../..',
  'a/b?c#d',
  '\u202e\u{1f600}',
];

describe('names that objects inherit, and other odd ones', function () {
  this.timeout(300_000);
  const service = useService();
  before(async () => {
    ok(await service.ask('POST', '/lifecycle-manager/resources', { name: 'Odd', schema: {} }));
  });
  afterEach(() => assert.deepEqual(service.lines, []));

  const kinds = [
    { kind: 'groups', path: '/authorization/groups', word: 'name', body: {} },
    { kind: 'roles', path: '/authorization/roles', word: 'name', body: { allowedMethods: [] } },
    // Each costs several hashes.
    {
      kind: 'accounts',
      only: 3,
      path: '/authorization/accounts',
      word: 'username',
      body: { password: 'a long enough password' },
    },
    { kind: 'resource models', path: '/lifecycle-manager/resources', word: 'name', body: { schema: {} } },
    { kind: 'instances', path: '/lifecycle-manager/resources/Odd/instances', word: 'name', body: { instanceData: {} } },
    { kind: 'groups of instances', path: '/lifecycle-manager/resources/Odd/groups', word: 'name', body: {} },
    { kind: 'automations', path: '/operations-manager/automations', word: 'name', body: {} },
  ];
  for (const { kind, path, word, body, only = names.length } of kinds)
    it(`are names of ${kind} like any other`, async () => {
      for (const name of names.slice(0, only)) {
        const at = `${path}/${encodeURIComponent(name)}`;
        assert.equal((await service.ask('GET', at)).status, 404);
        ok(await service.ask('POST', path, { ...body, [word]: name }));
        assert.equal((await service.ask('POST', path, { ...body, [word]: name })).status, 409);
        const found = ok(await service.ask('GET', at));
        assert.equal((found.data ?? found)[word], name);
        const listed = ok(await service.ask('GET', `${path}?multiEquals[${word}]=${encodeURIComponent(name)}`));
        assert.deepEqual(
          (listed.results ?? listed.data).map((one: Record<string, unknown>) => one[word]),
          [name],
        );
        if (kind === 'accounts')
          assert.equal(
            ok(
              await service.ask(
                'GET',
                '/authorization/whoami',
                undefined,
                {},
                { user: name, password: body.password! },
              ),
            ).username,
            name,
          );
        ok(await service.ask('DELETE', at));
        assert.equal((await service.ask('GET', at)).status, 404);
      }
    });

  it('are both halves of a group mapping', async () => {
    for (const provenance of names) {
      for (const externalGroup of names) {
        const at = `/group-mappings/${encodeURIComponent(provenance)}/${encodeURIComponent(externalGroup)}`;
        assert.equal(ok(await service.ask('PATCH', at, { updates: { platformGroups: [...names] } })).status, 'Created');
        assert.deepEqual(ok(await service.ask('GET', at)), { provenance, externalGroup, platformGroups: names });
      }
    }
    assert.equal(
      ok(await service.ask('GET', '/group-mappings?expand=platformGroups&limit=1000')).total,
      names.length ** 2,
    );
  });

  it('are no group, role or method that a body may name', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const refused = async (path: string, body: unknown) => {
        const answer = await service.ask('POST', path, body);
        assert.equal(answer.status, 404, answer.text);
        assert.match(answer.text, new RegExp(name));
      };
      await refused('/authorization/accounts', {
        username: 'odd',
        password: 'a long enough password',
        memberOf: [name],
      });
      await refused('/authorization/groups', { name: 'odd', assignedRoles: [name] });
      await refused('/authorization/roles', { name: 'odd', allowedMethods: [{ provenance: 'authorization', name }] });
      await refused('/authorization/roles', {
        name: 'odd',
        allowedMethods: [{ provenance: name, name: 'getMethods' }],
      });
      await refused('/operations-manager/automations', { name: 'odd', gbac: { read: [], write: [name] } });
    }
  });
});

import assert from 'node:assert/strict';
import { startService, type TestService } from '../../support/service.ts';

describe('group mappings: over HTTP', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());
  const ask: TestService['ask'] = (...args) => service.ask(...args);
  const patch = (provenance: string, name: string, platformGroups: unknown, headers = {}) =>
    ask(
      'PATCH',
      `/group-mappings/${encodeURIComponent(provenance)}/${encodeURIComponent(name)}`,
      { updates: { platformGroups } },
      headers,
    );

  it('creates what is missing, then updates it, and shows it in GET', async () => {
    const made = await patch('ldap', 'network', ['operators', 'later']);
    assert.deepEqual(
      [made.status, made.body.status, made.body.data],
      [200, 'Created', { provenance: 'ldap', externalGroup: 'network', platformGroups: ['operators', 'later'] }],
    );
    assert.equal(made.headers.get('etag'), '"0"');
    assert.match(made.headers.get('x-event-position')!, /^\d+$/);
    const again = await patch('ldap', 'network', ['readers', 'readers']);
    assert.deepEqual([again.body.status, again.body.data.platformGroups], ['OK', ['readers']]);
    const shown = await ask('GET', '/group-mappings/ldap/network');
    assert.deepEqual(shown.body, again.body.data);
    assert.equal(shown.headers.get('etag'), '"1"');
  });

  it('answers OK and stores nothing when nothing changes', async () => {
    const first = await patch('ldap', 'same', ['a']);
    const second = await patch('ldap', 'same', ['a']);
    assert.deepEqual([second.body.status, second.headers.get('etag')], ['OK', '"0"']);
    assert.equal(second.headers.get('x-event-position'), first.headers.get('x-event-position'));
  });

  it('takes any Unicode, slashes and percent signs in names', async () => {
    for (const name of ['a/b', '50%', '%2F', 'Zürich ☂', '𝒳', 'a b', '...', '%']) {
      assert.equal((await patch('li/dap', name, [])).status, 200, name);
      assert.equal(
        (await ask('GET', `/group-mappings/${encodeURIComponent('li/dap')}/${encodeURIComponent(name)}`)).body
          .externalGroup,
        name,
      );
    }
  });

  it('refuses to create what exists', async () => {
    await patch('ldap', 'twice', []);
    const refused = await ask('POST', '/group-mappings', {
      provenance: 'ldap',
      externalGroup: 'twice',
      platformGroups: [],
    });
    assert.deepEqual([refused.status, refused.body.metadata.errors[0].code], [409, 'conflict']);
  });

  it('deletes, and answers 404 from then on', async () => {
    await patch('ldap', 'gone', ['a']);
    const done = await ask('DELETE', '/group-mappings/ldap/gone');
    assert.deepEqual([done.status, done.body.status, done.body.data.externalGroup], [200, 'OK', 'gone']);
    for (const method of ['GET', 'DELETE']) assert.equal((await ask(method, '/group-mappings/ldap/gone')).status, 404);
    assert.equal((await patch('ldap', 'gone', ['a'])).body.status, 'Created');
  });

  it('lists by external group, then provenance, with an exact total', async () => {
    for (const [provenance, name] of [
      ['sso', 'list-b'],
      ['ldap-eu', 'list-a'],
      ['ldap', 'list-a'],
      ['ldap', 'List-B'],
    ] as const)
      await patch(provenance, name, ['one', 'two']);
    const { body } = await ask('GET', '/group-mappings?multiStartsWith[name]=LIST-');
    assert.deepEqual(
      body.results.map((m: any) => `${m.externalGroup} ${m.provenance}`),
      ['list-a ldap', 'list-a ldap-eu', 'List-B ldap', 'list-b sso'],
    ); // results as the API document has them
    assert.equal(body.total, 4);
    const page = await ask('GET', '/group-mappings?multiStartsWith[name]=list-&order=-1&skip=1&limit=2');
    assert.deepEqual([page.body.results.map((m: any) => m.externalGroup), page.body.total], [['List-B', 'list-a'], 4]); // as above
  });

  it('expands groups, and leaves names that are no groups yet as objects with their name', async () => {
    await patch('ldap', 'expanded', ['operators', 'not yet']);
    const { body } = await ask('GET', '/group-mappings?multiEquals[name]=expanded&expand=platformGroups');
    const [known, unknown] = body.results[0].platformGroups;
    assert.equal(known.name, 'operators');
    assert.equal(known.provenance, 'local');
    assert.equal(unknown.name, 'not yet');
    const refused = await ask('GET', '/group-mappings?expand=other');
    assert.deepEqual([refused.status, refused.body.metadata.errors[0].path], [400, 'expand']);
  });

  it('is found by every filter', async () => {
    await patch('filters', 'Filter Me', ['alpha', 'beta']);
    for (const query of [
      'multiEquals[externalGroup]=Filter%20Me',
      'multiContains[name]=LTER%20m',
      'multiStartsWith[provenance]=FILT',
      'multiEquals[platformGroups]=beta',
      `multiEquals=${encodeURIComponent('{"provenance":"filters","name":"Filter Me"}')}`,
    ]) {
      assert.deepEqual(
        (await ask('GET', `/group-mappings?${query}`)).body.results.map((m: any) => m.externalGroup),
        ['Filter Me'],
        query,
      ); // as above
    }
  });

  it('answers 304 to who has the list already, and 412 to who has an old mapping', async () => {
    const list = await ask('GET', '/group-mappings');
    assert.equal(
      (await ask('GET', '/group-mappings', undefined, { 'If-None-Match': list.headers.get('etag')! })).status,
      304,
    );
    await patch('ldap', 'matched', ['a']);
    await patch('ldap', 'matched', ['b']);
    const stale = await patch('ldap', 'matched', ['c'], { 'If-Match': '"0"' });
    assert.deepEqual([stale.status, stale.body.metadata.errors[0].code], [412, 'stale']);
    assert.equal((await patch('ldap', 'matched', ['c'], { 'If-Match': '"1"' })).status, 200);
    assert.equal((await patch('ldap', 'never', ['c'], { 'If-Match': '*' })).status, 412);
    assert.equal(
      (await ask('GET', '/group-mappings', undefined, { 'If-None-Match': list.headers.get('etag')! })).status,
      200,
    );
  });

  it('replays a change under its Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': 'once' };
    const first = await patch('ldap', 'keyed', ['a'], key);
    await patch('ldap', 'keyed', ['b']);
    const again = await patch('ldap', 'keyed', ['a'], key);
    assert.deepEqual([again.status, again.body, again.headers.get('idempotency-replayed')], [200, first.body, 'true']);
    assert.equal((await patch('ldap', 'keyed', ['x'], key)).status, 422);
    assert.deepEqual((await ask('GET', '/group-mappings/ldap/keyed')).body.platformGroups, ['b']);
  });

  it('refuses bad input with its place, and stores nothing', async () => {
    const total = (await ask('GET', '/group-mappings')).body.total;
    const cases: [unknown, string][] = [
      [{}, '/updates'],
      [{ updates: {} }, '/updates/platformGroups'],
      [{ updates: { platformGroups: 'a' } }, '/updates/platformGroups'],
      [{ updates: { platformGroups: [1] } }, '/updates/platformGroups/0'],
      [{ updates: { platformGroups: [], x: 1 } }, '/updates/x'],
      [{ updates: { platformGroups: ['a\u0000'] } }, '/updates/platformGroups/0'],
    ];
    for (const [body, path] of cases) {
      const refused = await ask('PATCH', '/group-mappings/ldap/bad', body);
      assert.deepEqual(
        [refused.status, refused.body.metadata.errors[0].code, refused.body.metadata.errors[0].path],
        [400, 'invalid', path],
        JSON.stringify(body),
      );
    }
    assert.equal((await ask('GET', '/group-mappings')).body.total, total);
  });

  it('refuses who may not, with the method, and changes nothing', async () => {
    await ask('POST', '/authorization/accounts', {
      username: 'reader',
      password: 'reader-pass',
      memberOf: ['readers'],
    });
    const reader = service.as({ user: 'reader', password: 'reader-pass' });
    assert.equal((await reader('GET', '/group-mappings')).status, 200);
    const refused = await reader('PATCH', '/group-mappings/ldap/forbidden', { updates: { platformGroups: [] } });
    assert.deepEqual([refused.status, refused.body.metadata.errors[0].code], [403, 'forbidden']);
    assert.match(refused.body.message, /updateGroupMapping/);
    assert.equal((await service.as(null)('GET', '/group-mappings')).status, 401);
    assert.equal((await ask('GET', '/group-mappings/ldap/forbidden')).status, 404);
  });
});

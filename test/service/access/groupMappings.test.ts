import assert from 'node:assert/strict';
import type { TestService } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

describe('group mappings: over HTTP', () => {
  const service = useService();
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
});

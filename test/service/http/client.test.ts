import assert from 'node:assert/strict';
import { CallRefused, calls } from '@automation-platform/client';
import { adminPassword, startService, type TestService } from '../../support/service.ts';

describe('calls() of the client', () => {
  let service: TestService;
  let call: ReturnType<typeof calls>['call'];
  before(async () => {
    service = await startService();
    ({ call } = calls({ url: `${service.url}/`, auth: { username: 'admin', password: adminPassword } }));
  });
  after(() => service.stop());

  const refusal = async (made: Promise<unknown>): Promise<CallRefused> => {
    const error = await made.then(
      () => assert.fail('answered'),
      (reason: unknown) => reason,
    );
    return error instanceof CallRefused ? error : assert.fail(String(error));
  };

  it('fills in paths, bodies and headers, and returns headers with the answer', async () => {
    const path = { provenance: 'ldap', externalGroup: 'cn=noc/é, dc=x' };
    const body = { updates: { platformGroups: ['operators'] } };
    const made = await call('group-mappings.updateGroupMapping', { path, body });
    assert.deepEqual(made.body.data.platformGroups, ['operators']);
    const etag = made.headers.get('ETag') ?? assert.fail('no ETag');
    const again = { updates: { platformGroups: ['readers'] } };
    await call('group-mappings.updateGroupMapping', { path, body: again, headers: { 'If-Match': etag } });
    const stale = call('group-mappings.updateGroupMapping', { path, body, headers: { 'If-Match': etag } });
    assert.equal((await refusal(stale)).status, 412);
    const { body: found } = await call('group-mappings.getGroupMapping', { path });
    assert.deepEqual([found.externalGroup, found.platformGroups], [path.externalGroup, ['readers']]);
  });

  it('writes queries as the platform reads them', async () => {
    for (const externalGroup of ['a', 'b', 'c'])
      await call('group-mappings.updateGroupMapping', {
        path: { provenance: 'saml', externalGroup },
        body: { updates: { platformGroups: [] } },
      });
    const query = { multiEquals: { provenance: 'saml', externalGroup: ['a', 'c'] }, order: -1, limit: 5 } as const;
    const { body } = await call('group-mappings.getGroupMappings', { query });
    assert.deepEqual(body.results.map(({ externalGroup }) => externalGroup).sort(), ['a', 'c']);
  });

  it('says which field is wrong, and takes texts', async () => {
    const body = { updates: { platformGroups: [7 as unknown as string] } };
    const wrong = call('group-mappings.updateGroupMapping', { path: { provenance: 'x', externalGroup: 'y' }, body });
    const { status, errors } = await refusal(wrong);
    assert.deepEqual([status, errors[0]?.path], [400, '/updates/platformGroups/0']);
    assert.match((await call('service.metrics')).body, /^# HELP /);
    const stranger = calls({ url: service.url, auth: { token: 'none' } });
    assert.equal((await refusal(stranger.call('service.metrics'))).status, 401);
  });
});

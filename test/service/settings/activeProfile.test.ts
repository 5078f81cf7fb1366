import assert from 'node:assert/strict';
import { positionOf } from '../../support/hostile.ts';
import { ok, people, refused } from '../../support/people.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';

describe('the active profile over HTTP', function () {
  this.timeout(300_000);
  let service: TestService;
  beforeEach(async () => {
    service = await startService();
  });
  afterEach(() => service.stop());
  const put = (properties: unknown, name = 'main') => service.ask('PUT', `/profiles/${name}`, { properties });
  const use = async (properties: unknown, name = 'main') => {
    ok(await put(properties, name));
    ok(await service.ask('PUT', `/profiles/${name}/active`));
  };
  const user = { username: 'admin', password: adminPassword };
  const logIn = async () => {
    const answer = await service.ask('POST', '/login', user, {}, null);
    assert.equal(answer.status, 200, answer.text);
    return { token: answer.text, cookie: answer.headers.get('set-cookie') ?? '' };
  };
  const whoami = async (headers: Record<string, string>) =>
    (await service.ask('GET', '/authorization/whoami', undefined, headers, null)).status;

  it('is none at first; then the one last made active, which is shown and cannot be deleted', async () => {
    refused(await service.ask('GET', '/profiles/active'), 404);
    const position = () => positionOf(service);
    const before = await position();
    refused(await service.ask('PUT', '/profiles/nothing/active'), 404);
    assert.equal(await position(), before, 'a refusal takes no turn');
    await use({ description: 'One' }, 'one');
    await use({ description: 'Two' }, 'two');
    assert.equal(ok(await service.ask('GET', '/profiles/active')).description, 'Two');
    const { results } = ok(await service.ask('GET', '/profiles'));
    const one = ok(await service.ask('GET', '/profiles/one'));
    assert.deepEqual(
      results.map(({ id, metadata }: any) => [id, metadata]),
      [
        ['one', { isActive: false }],
        ['two', { isActive: true }],
      ],
    );
    assert.deepEqual(
      results[0],
      { ...one, profile: one, metadata: { isActive: false } },
      'a published client exports it',
    );
    const again = await service.ask('PUT', '/profiles/two/active');
    assert.deepEqual([ok(again).status, again.body.data.id], ['OK', 'two']);
    refused(await service.ask('DELETE', '/profiles/two'), 409);
    ok(await service.ask('DELETE', '/profiles/one'));
    refused(await service.ask('PUT', '/profiles/one/active'), 404);
  });

  it('says which headers are sent: as soon as it changes, and at the very first request of the next start', async () => {
    const headers = async () => {
      const answer = await service.ask('GET', '/health/live', undefined, {}, null);
      return [answer.headers.get('cache-control'), answer.headers.get('access-control-allow-origin')];
    };
    assert.deepEqual(await headers(), [null, null]);
    ok(await put({ expressProps: { cacheControl: true, access_control_allow_origin: 'https://a.example' } }));
    assert.deepEqual(await headers(), [null, null], 'it is not active');
    ok(await service.ask('PUT', '/profiles/main/active'));
    assert.deepEqual(await headers(), ['no-cache', 'https://a.example']);
    ok(await put({ expressProps: { access_control_allow_origin: '*' } }));
    assert.deepEqual(await headers(), ['no-cache', '*']);
    service = await service.restart();
    assert.deepEqual(await headers(), ['no-cache', '*']);
    const access_control_allow_origin = 'https://a.example,https://b.example';
    ok(await put({ expressProps: { access_control_allow_origin, access_control_allow_credentials: true } }));
    const { headers: sent } = await service.ask(
      'OPTIONS',
      '/health/live',
      undefined,
      { Origin: 'https://b.example' },
      null,
    );
    const named = ['access-control-allow-origin', 'access-control-allow-credentials', 'vary'].map((name) =>
      sent.get(name),
    );
    assert.deepEqual(named, ['https://b.example', 'true', 'Authorization, Cookie, Accept-Encoding, Origin']);
    await use({}, 'other');
    assert.deepEqual(await headers(), [null, null]);
  });

  it('names the cookie of logins', async () => {
    const old = await logIn();
    assert.match(old.cookie, /^token=/);
    await use({ authenticationProps: { cookieName: 'session' } });
    const { token, cookie } = await logIn();
    assert.match(cookie, /^session=/);
    assert.deepEqual(
      [
        await whoami({ Cookie: `session=${token}` }),
        await whoami({ Cookie: `token=${token}` }),
        await whoami({ Cookie: `token=${old.token}` }),
      ],
      [200, 401, 401],
    );
    service = await service.restart();
    assert.deepEqual(
      [await whoami({ Cookie: `session=${token}` }), await whoami({ Cookie: `token=${token}` })],
      [200, 401],
    );
  });

  it('ends other logins when they are to be unique', async () => {
    const [first, second] = [await logIn(), await logIn()];
    assert.equal(await whoami({ Cookie: `token=${first.token}` }), 200);
    await use({ authenticationProps: { uniqueSession: true } });
    const third = await logIn();
    assert.deepEqual(
      await Promise.all([first, second, third].map(({ token }) => whoami({ Cookie: `token=${token}` }))),
      [401, 401, 200],
    );
  });

  it('says who is an admin: at once, for who is known already', async () => {
    const { member, stranger } = await people(service);
    ok(
      await service.ask('POST', '/operations-manager/automations', {
        name: 'closed',
        gbac: { read: [], write: ['readers'] },
      }),
    );
    const sees = async (who: typeof member) => [
      (await who('GET', '/operations-manager/automations/closed')).status,
      (await who('GET', '/authorization/accounts')).status,
    ];
    assert.deepEqual(
      [await sees(member), await sees(stranger)],
      [
        [404, 403],
        [404, 403],
      ],
    );
    await use({ authenticationProps: { admins: ['ops'] } });
    assert.deepEqual(
      [await sees(member), await sees(stranger)],
      [
        [200, 200],
        [404, 403],
      ],
    );
    ok(await put({ authenticationProps: { admins: [{ group: 'ops', provenance: 'ldap' }, { name: 'admins' }] } }));
    assert.deepEqual(await sees(member), [404, 403]);
    ok(await service.ask('PATCH', '/authorization/groups/ops', { provenance: 'ldap' }));
    assert.deepEqual(await sees(member), [200, 200]);
    ok(await put({ authenticationProps: { admins: null } }));
    assert.deepEqual(await sees(member), [404, 403]);
  });

  it('locks nobody out: admins that no active account is one of are refused', async () => {
    const { member } = await people(service);
    ok(await put({ authenticationProps: { admins: ['nobody', { group: 'admins', provenance: 'ldap' }] } }, 'lockout'));
    refused(await service.ask('PUT', '/profiles/lockout/active'), 409, /admins/);
    refused(await service.ask('GET', '/profiles/active'), 404);
    await use({ authenticationProps: { admins: ['ops'] } });
    refused(await put({ authenticationProps: { admins: ['nobody'] } }), 409, /authenticationProps\/admins/);
    assert.deepEqual(ok(await service.ask('GET', '/profiles/main')).authenticationProps.admins, ['ops']);
    refused(await service.ask('PATCH', '/authorization/accounts/member', { inactive: true }), 409, /admin/);
    refused(await service.ask('PATCH', '/authorization/accounts/member', { memberOf: ['operators'] }), 409, /admin/);
    refused(await service.ask('DELETE', '/authorization/groups/ops'), 409, /profile .*main/);
    ok(await member('PATCH', '/authorization/accounts/admin', { inactive: true }));
    ok(await member('PATCH', '/authorization/accounts/admin', { inactive: false }));
  });

  it('does not let who may change groups make themselves admins by a provenance', async () => {
    const { member } = await people(service);
    await use({ authenticationProps: { admins: ['admins', { group: 'ops', provenance: 'ldap' }] } });
    refused(await member('PATCH', '/authorization/groups/ops', { provenance: 'ldap' }), 403, /provenance/);
    ok(await member('PATCH', '/authorization/groups/ops', { description: 'Other' }));
    ok(await member('POST', '/authorization/groups', { name: 'theirs', provenance: 'ldap' }));
  });

  it('ends what takes longer than its timeout with 503, but not the change that lengthens it', async () => {
    service = await service.restart({ READ_WAIT_MS: '600000' });
    await use({ expressProps: { timeout: 3000 } });
    const late = await service.ask('GET', '/group-mappings', undefined, { 'X-Min-Position': '999999' });
    refused(late, 503, /3000 ms/);
    assert.ok(late.headers.get('retry-after'));
    ok(await service.ask('GET', '/group-mappings'));
    ok(await put({ expressProps: { timeout: 1 } }));
    ok(await put({ expressProps: { timeout: 0 } }));
    assert.equal((await service.ask('GET', '/group-mappings', undefined, { 'X-Min-Position': '1' })).status, 200);
    assert.deepEqual(service.lines, []);
  });

  it('says what is logged, unless LOG_LEVEL does', async () => {
    const requests = () => service.lines.filter((line) => line.includes('"request"')).length;
    await use({ loggerProps: { log_level: 'error', console_level: 'spam' } });
    ok(await service.ask('GET', '/profiles'));
    assert.ok(requests() > 0);
    ok(await put({ loggerProps: { console_level: null } }));
    const before = requests();
    ok(await service.ask('GET', '/profiles'));
    assert.equal(requests(), before, 'log_level counts where console_level is not given');
    ok(await put({ loggerProps: { console_level: 'info' } }));
    service = await service.restart();
    ok(await service.ask('GET', '/profiles'));
    assert.ok(requests() > 0, 'the next start');
    service = await service.restart({ LOG_LEVEL: 'warn' });
    ok(await service.ask('GET', '/profiles'));
    assert.equal(requests(), 0);
  });

  it('says how long answers under way are waited for at the end', async () => {
    // Ten seconds, unless a profile says otherwise: then it would be answered.
    service = await service.restart({ READ_WAIT_MS: '9000' });
    await use({ systemProps: { shutdownTimeout: 0 } });
    const cut = service.ask('GET', '/group-mappings', undefined, { 'X-Min-Position': '999999' }).then(
      () => 'answered',
      () => 'cut',
    );
    ok(await service.ask('GET', '/health/status'));
    service = await service.restart();
    assert.equal(await cut, 'cut');
  });
});

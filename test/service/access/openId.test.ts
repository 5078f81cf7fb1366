import assert from 'node:assert/strict';
import { browser, type Issuer, startIssuer } from '../../support/issuer.ts';
import { ok, refused } from '../../support/people.ts';
import { useService } from '../../support/useService.ts';

const providers = '/authorization/providers';
const people = {
  anna: { preferred_username: 'anna', given_name: 'ANNA', email: 'anna@example.net', groups: ['noc'] },
  bob: { preferred_username: 'admin', groups: ['watch'] },
  carl: { preferred_username: 'carl' },
  dora: { preferred_username: 'dora', groups: ['noc'] },
};

describe('logins by OpenID Connect', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  let issuer: Issuer;
  let other: Issuer;
  before(async () => {
    issuer = await startIssuer({ service: service.url, name: 'corp', people });
    other = await startIssuer({ service: service.url, name: 'other', people: { eve: { preferred_username: 'anna' } } });
    ok(await service.ask('POST', providers, { name: 'corp', type: 'oidc', properties: issuer.properties }));
    ok(await service.ask('POST', providers, { name: 'other', type: 'oidc', properties: other.properties }));
    for (const [externalGroup, group] of Object.entries({ noc: 'operators', watch: 'readers' }))
      ok(await service.ask('POST', '/group-mappings', { provenance: 'corp', externalGroup, platformGroups: [group] }));
  });
  after(async () => {
    await issuer.stop();
    await other.stop();
  });

  const loginAt = (name: string, returnTo = '/docs?a=1') =>
    `${service.url}/authorization/oidc/${name}/login?returnTo=${encodeURIComponent(returnTo)}`;
  const callback = (name: string) => `${service.url}/authorization/oidc/${name}/callback`;
  /** Goes to the issuer and back, but not to the callback itself. */
  const returning = async (sub: string, name = 'corp', at = issuer) => {
    at.letIn(sub);
    const user = browser();
    const { url } = await user.follow(loginAt(name), callback(name));
    return { user, url };
  };
  const logIn = async (sub: string) => {
    const { user, url } = await returning(sub);
    const answer = await user.get(url);
    assert.equal(answer.status, 200, answer.text);
    const token = user.jarOf(service.url).get('token') ?? assert.fail('no cookie');
    return { user, answer, token, ask: by(token) };
  };
  const by = (token: string) => (method: string, path: string, body?: unknown) =>
    service.ask(method, path, body, { Authorization: `Bearer ${token}` }, null);
  const noEntry = (answer: { status: number; headers: Headers; text: string }, about?: string) => {
    assert.equal(answer.status, 401, `${about} ${answer.text}`);
    assert.equal(answer.headers.get('www-authenticate'), null);
    assert.deepEqual(answer.headers.getSetCookie(), [], about);
  };

  it('end in the cookie of a login, and a page that goes on by itself', async () => {
    const { user, answer, ask } = await logIn('anna');
    assert.equal(answer.headers.get('refresh'), '0; url=/docs?a=1');
    const cookies = answer.headers.getSetCookie();
    assert.ok(
      cookies.some((cookie) => /^token=.{43}; Path=\/; HttpOnly; SameSite=Strict/.test(cookie)),
      String(cookies),
    );
    assert.ok(
      cookies.some((cookie) => /^oidc=; .*SameSite=Lax; Max-Age=0/.test(cookie)),
      String(cookies),
    );
    assert.doesNotMatch(answer.text, /<script/);
    const who = await user.get(`${service.url}/whoami`);
    assert.equal(who.status, 200);
    const { username, provenance, firstname, groups, externalGroups, via } = ok(await ask('GET', '/whoami'));
    assert.deepEqual([username, provenance, firstname, via], ['anna', 'corp', 'ANNA', 'cookie']);
    assert.deepEqual([groups, externalGroups], [[{ name: 'operators', provenance: 'local' }], ['noc']]);
    const { _id } = ok(await service.ask('GET', '/authorization/accounts/anna'));
    const [made] = ok(await service.ask('GET', `/audit/resources/account/${_id}`)).results;
    assert.deepEqual([made.topic ?? made.type, made.actor.via].map(String).at(-1), 'oidc');
  });

  it('give a name that a local account has as provider\\name, and nothing of that account', async () => {
    const { ask } = await logIn('bob');
    const who = ok(await ask('GET', '/whoami'));
    assert.deepEqual([who.username, who.groups.length], ['corp\\admin', 1]);
    refused(await ask('GET', providers), 403);
  });

  it('come back once, in the browser where they began, and at the provider where they began', async () => {
    const { user, url } = await returning('anna');
    const stolen = user.jarOf(service.url).get('oidc')!;
    noEntry(await browser().get(url), 'another browser');
    const elsewhere = await returning('anna');
    noEntry(await elsewhere.user.get(url), 'the state of another login');
    noEntry(await user.get(url.replace('/corp/', '/other/')), 'the callback of another provider');
    noEntry(await user.get(url.replace(/code=[^&]+/, 'code=made-up')), 'a code that is made up');
    const again = await returning('anna');
    noEntry(await again.user.get(again.url.replace(/iss=[^&]+/, `iss=${encodeURIComponent(other.url)}`)), 'mix-up');
    noEntry(await again.user.get(again.url.replace(/&?iss=[^&]+/, '')), 'without iss');
    noEntry(await again.user.get(again.url.replace(/state=[^&]+/, 'state=')), 'without state');
    noEntry(await again.user.get(callback('corp')), 'without anything');
    noEntry(await again.user.get(`${callback('corp')}?error=access_denied&state=x`), 'refused by the issuer');
    assert.equal((await again.user.get(again.url)).status, 200);
    noEntry(await again.user.get(again.url), 'once more');
    const thief = browser();
    thief.jarOf(service.url).set('oidc', stolen);
    noEntry(await thief.get(again.url), 'a replayed code');
  });

  it('do not begin where they would lead elsewhere', async () => {
    const bad = [
      '//evil',
      '/\\evil',
      'https://evil',
      '\\/evil',
      '',
      'docs',
      '/\t/evil',
      '/\n',
      '/..//evil',
      '/a/../..//evil',
      '/.//evil',
      '/%2e%2e//evil',
    ];
    for (const returnTo of bad) {
      const answer = await browser().get(loginAt('corp', returnTo));
      assert.equal(answer.status, 400, JSON.stringify(returnTo));
      assert.deepEqual(answer.headers.getSetCookie(), []);
    }
    for (const name of ['none', 'local']) assert.equal((await browser().get(loginAt(name))).status, 404);
    const good = await browser().get(loginAt('corp', '/a//b?c=//d#ü'));
    assert.equal(good.status, 302);
    assert.match(good.location!, /code_challenge_method=S256/);
  });

  it('cannot be fixed by a cookie that somebody else knows', async () => {
    const { user, url } = await returning('anna');
    user.jarOf(service.url).set('token', 'A'.repeat(43));
    const known = user.jarOf(service.url).get('oidc')!;
    await user.get(url);
    const token = user.jarOf(service.url).get('token')!;
    assert.ok(token !== 'A'.repeat(43) && !known.includes(token));
    refused(await by('A'.repeat(43))('GET', '/whoami'), 401);
  });

  it('lose the groups that the issuer no longer says, and end with the account and with the provider', async () => {
    issuer.say('dora', { preferred_username: 'dora', groups: ['noc'] });
    const first = await logIn('dora');
    assert.equal(ok(await first.ask('GET', '/whoami')).groups.length, 1);
    issuer.say('dora', { preferred_username: 'dora' });
    const second = await logIn('dora');
    for (const { ask } of [first, second]) assert.deepEqual(ok(await ask('GET', '/whoami')).groups, []);
    ok(await service.ask('PATCH', '/authorization/accounts/dora', { inactive: true }));
    refused(await first.ask('GET', '/whoami'), 401);
    const { user, url } = await returning('dora');
    noEntry(await user.get(url), 'inactive');
    const anna = await logIn('anna');
    const begun = await returning('anna');
    ok(await service.ask('PATCH', `${providers}/corp`, { enabled: false }));
    refused(await anna.ask('GET', '/whoami'), 401);
    assert.equal((await begun.user.get(begun.url)).status, 404);
    ok(await service.ask('PATCH', `${providers}/corp`, { enabled: true }));
    refused(await service.ask('DELETE', `${providers}/corp`), 409, /accounts/);
  });

  it('end when the issuer says that the person has logged out', async () => {
    const { user, ask } = await logIn('carl');
    ok(await ask('GET', '/whoami'));
    const end = await user.get(`${issuer.url}/session/end`);
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(end.text)?.[1] ?? assert.fail(end.text);
    const Cookie = [...user.jarOf(issuer.url)].map(([name, value]) => `${name}=${value}`).join('; ');
    await fetch(`${issuer.url}/session/end/confirm`, {
      method: 'POST',
      headers: { Cookie },
      body: new URLSearchParams({ xsrf, logout: 'yes' }),
      redirect: 'manual',
    });
    refused(await ask('GET', '/whoami'), 401);
  });

  it('do not end by a logout token that does not hold', async () => {
    const { ask, token } = await logIn('carl');
    const event = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    const claims = { aud: issuer.properties.clientId, sub: 'carl', events: event, jti: '1' };
    const send = (logoutToken: string) =>
      fetch(`${service.url}/authorization/oidc/corp/backchannel-logout`, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: logoutToken }),
      });
    const bad = [
      'x',
      token,
      await issuer.sign({ ...claims, aud: 'nightly' }),
      await issuer.sign({ ...claims, events: {} }),
      await issuer.sign({ ...claims, nonce: 'n' }),
      await issuer.sign({ ...claims, iss: other.url }),
      await issuer.sign({ ...claims, exp: 1 }),
      await issuer.sign(claims, await issuer.makeKey('key 1')),
      await other.sign(claims),
    ];
    for (const one of bad) assert.equal((await send(one)).status, 400, one);
    ok(await ask('GET', '/whoami'));
    refused(await by(await issuer.sign(claims))('GET', '/whoami'), 401);
    assert.equal((await send(await issuer.sign(claims))).status, 200);
    refused(await ask('GET', '/whoami'), 401);
  });

  it('are tested, and keep the secret of the client', async () => {
    const test = (name: string) => service.ask('POST', `${providers}/${name}/test`, { username: 'anna' });
    const found = { found: false, authenticated: null, username: null, externalGroups: [], platformGroups: [] };
    assert.deepEqual(ok(await test('corp')), found);
    const shown = ok(await service.ask('GET', `${providers}/corp`)).properties;
    assert.equal(shown.clientSecret, '********');
    assert.ok(!service.lines.join('').includes(issuer.properties.clientSecret));
    const elsewhere = { properties: { ...shown, issuer: other.url } };
    refused(await service.ask('PATCH', `${providers}/corp`, elsewhere), 400, /clientSecret/);
    const wrong = { name: 'wrong', type: 'oidc', properties: { ...issuer.properties, issuer: `${issuer.url}/x` } };
    refused(await service.ask('POST', providers, wrong), 400, /redirectUri/);
    wrong.properties.redirectUri = issuer.redirectUri.replace('corp', 'wrong');
    ok(await service.ask('POST', providers, wrong));
    refused(await test('wrong'), 502, /wrong/);
    const silent = await browser().get(loginAt('wrong'));
    assert.deepEqual([silent.status, silent.headers.getSetCookie()], [503, []]);
  });

  it('hold after a restart, and on a new key of the issuer', async () => {
    await issuer.changeKey();
    const { ask } = await logIn('anna');
    ok(await ask('GET', '/whoami'));
  });
});

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { freshLogin } from '../../support/freshLogins.ts';
import { browser, client, type Issuer, logoutClaims, startIssuer } from '../../support/issuer.ts';
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
    const names = Array.from({ length: 20 }, (_, n) => `fresh-${n}`);
    issuer = await startIssuer({ service: service.url, name: 'corp', people, names });
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
    const claims = logoutClaims('carl');
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

  describe('at an issuer that is no good one', () => {
    const faults: Record<string, (res: ServerResponse, path: string) => void> = {
      hangs: () => undefined,
      'ends at once': (res) => void res.destroy(),
      'answers 10 MB': (res) =>
        void res.setHeader('Content-Type', 'application/json').end(Buffer.alloc(10_000_000, ' ')),
      'sends a byte now and then': (res) => {
        const drip = setInterval(() => res.write(' '), 50);
        res.on('close', () => clearInterval(drip));
      },
      redirects: (res, path) => void res.writeHead(302, { Location: other.url + path }).end(),
      'redirects for good, with the request': (res, path) =>
        void res.writeHead(308, { Location: other.url + path }).end(),
      fails: (res) => void res.writeHead(500).end(),
      'says nothing': (res) => void res.end(),
      'sends no JSON': (res) => void res.setHeader('Content-Type', 'application/json').end('<html>'),
      'sends other JSON': (res) => void res.setHeader('Content-Type', 'application/json').end('[{"keys": 7}]'),
    };
    let elsewhere = 0;
    before(() =>
      other.answerBefore(() => {
        elsewhere++;
        return false;
      }),
    );
    afterEach(() => issuer.answerBefore(undefined));
    after(() => other.answerBefore(undefined));

    const claims = { sub: 'anna', ...people.anna };
    let count = 0;
    /** A provider that has asked nothing yet, and the path of its callback. */
    const provide = async ({ beside = false } = {}) => {
      if (count > 0 && !beside) ok(await service.ask('PATCH', `${providers}/fresh-${count - 1}`, { enabled: false }));
      const name = `fresh-${count++}`;
      const redirectUri = issuer.redirectUriFor(name);
      const properties = { ...issuer.properties, redirectUri, apiTokens: true, audience: `for ${name}`, timeout: 300 };
      ok(await service.ask('POST', providers, { name, type: 'oidc', properties }));
      return { name, audience: properties.audience, redirectUri };
    };
    const spoil = (what: string, path: string): void =>
      issuer.answerBefore(({ url = '' }, res) => {
        if (!url.startsWith(path)) return false;
        faults[what]!(res, url);
        return true;
      });

    for (const what of Object.keys(faults))
      it(`get nobody in, and no cookie, when it ${what}`, async () => {
        const { name, audience: aud, redirectUri } = await provide();
        spoil(what, '/.well-known/');
        const begun = await browser().get(loginAt(name));
        assert.deepEqual([begun.status, begun.headers.getSetCookie()], [503, []]);
        refused(await service.ask('POST', `${providers}/${name}/test`, { username: 'anna' }), 502, /fresh/);
        spoil(what, '/jwks');
        refused(await by(await issuer.sign({ ...claims, aud }))('GET', '/whoami'), 503, /fresh/);
        for (const path of ['/token', '/me', '/jwks']) {
          issuer.answerBefore(undefined);
          issuer.letIn('anna');
          const user = browser();
          const { url } = await user.follow(loginAt(name), redirectUri);
          spoil(what, path);
          const answer = await user.get(url);
          assert.ok([401, 503].includes(answer.status), `${path} ${answer.status} ${answer.text}`);
          assert.deepEqual(answer.headers.getSetCookie(), [], path);
          assert.equal(answer.headers.get('www-authenticate'), null);
        }
        issuer.answerBefore(undefined);
        ok(await by(await issuer.sign({ ...claims, aud }))('GET', '/whoami'));
        assert.equal(elsewhere, 0, 'nothing was sent elsewhere');
      }).timeout(20_000);

    it('get nobody in when it has the description or the keys of another', async () => {
      const { name, audience: aud } = await provide();
      const lead = (path: string, to: string, change: (text: string) => string) =>
        issuer.answerBefore(({ url = '' }, res) => {
          if (!url.startsWith(path)) return false;
          void fetch(to + url).then(async (answer) =>
            res.setHeader('Content-Type', 'application/json').end(change(await answer.text())),
          );
          return true;
        });
      lead('/.well-known/', other.url, (text) => text);
      assert.equal((await browser().get(loginAt(name))).status, 503);
      lead('/jwks', other.url, (text) => text);
      refused(await by(await issuer.sign({ ...claims, aud }))('GET', '/whoami'), 401);
      refused(await by(await other.sign({ ...claims, aud }))('GET', '/whoami'), 401);
    });

    it('wait no longer beside one that hangs', async () => {
      const { name, audience: aud } = await provide();
      // It does not know them, and that is no answer for the one that hangs.
      const known = await provide({ beside: true });
      ok(await service.ask('POST', `${providers}/${known.name}/test`, { username: 'anna' }));
      const median = freshLogin(service);
      const alone = await median();
      issuer.answerBefore(() => true);
      const tokens = await Promise.all(Array.from({ length: 40 }, (_, jti) => issuer.sign({ ...claims, aud, jti })));
      const waiting = [
        ...tokens.map(async (token) => (await by(token)('GET', '/whoami')).status),
        ...tokens.map(async () => (await browser().get(loginAt(name))).status),
      ];
      const during = await median();
      assert.ok(during < alone + 50, `${during} ms, ${alone} ms alone`);
      assert.deepEqual([...new Set(await Promise.all(waiting))], [503]);
      ok(await service.ask('PATCH', `${providers}/${name}`, { enabled: false }));
    }).timeout(20_000);

    it('get in by a clock that is wrong by less than a minute, and not by one of 10 minutes', async () => {
      const { audience: aud } = await provide();
      for (const [by_, status] of [
        [600, 401],
        [-700, 401],
        [45, 200],
        [-45, 200],
      ] as const) {
        issuer.skewClock(by_);
        const { user, url } = await returning('anna');
        const answer = await user.get(url);
        assert.equal(answer.status, status, `${by_} s: ${answer.text}`);
        if (status === 401) noEntry(answer);
        assert.equal((await by(await issuer.sign({ ...claims, aud }))('GET', '/whoami')).status, status, `${by_} s`);
      }
      issuer.skewClock(0);
    });

    it('read its keys again for one that is not known, and not for each', async () => {
      const { audience: aud } = await provide();
      const call = async (key = issuer.key()) =>
        (await by(await issuer.sign({ ...claims, aud }, key))('GET', '/whoami')).status;
      assert.equal(await call(), 200);
      await issuer.changeKey();
      let reads = 0;
      issuer.answerBefore(({ url = '' }) => {
        if (url.startsWith('/jwks')) reads++;
        return false;
      });
      assert.equal(await call(), 200);
      for (let n = 0; n < 4; n++) assert.equal(await call(await issuer.makeKey(`unknown ${n}`)), 401);
      assert.equal(reads, 1);
      const { ask } = await logIn('anna');
      ok(await ask('GET', '/whoami'));
    });
  });

  describe('by the active profile', () => {
    const use = async (authenticationProps: object) => {
      ok(await service.ask('PUT', '/profiles/main', { properties: { authenticationProps } }));
      ok(await service.ask('PUT', '/profiles/main/active'));
    };
    after(() => use({}));

    it('take over an account that was made for the issuer, and make none if they are not to', async () => {
      const typed = { provenance: 'corp', externalGroups: ['noc', 'typed'], memberOf: ['readers'] };
      const password = 'a long enough password';
      for (const username of ['gina', 'hugo'])
        ok(await service.ask('POST', '/authorization/accounts', { username, password, ...typed }));
      const own = service.as({ user: 'gina', password });
      const before = ok(await own('GET', '/whoami'));
      assert.deepEqual([before.externalGroups, before.via], [typed.externalGroups, 'password']);
      issuer.say('gina', { preferred_username: 'gina', groups: ['watch'] });
      issuer.say('ida', { preferred_username: 'ida', groups: ['watch'] });
      await use({ brokerPrincipal: false });
      const ida = await returning('ida');
      noEntry(await ida.user.get(ida.url), 'no account');
      refused(
        await by(await issuer.sign({ sub: 'ida', preferred_username: 'ida', aud: client.id }))('GET', '/whoami'),
        401,
      );
      refused(await service.ask('GET', '/authorization/accounts/ida'), 404);

      const { ask } = await logIn('gina');
      const who = ok(await ask('GET', '/whoami'));
      assert.deepEqual([who.id, who.externalGroups], [before.id, ['watch']]);
      refused(await own('GET', '/whoami'), 401);
      const query = `resource=account/${before.id}&topic=accountProvisioned`;
      const [taken] = ok(await service.ask('GET', `/audit/events?${query}`)).results;
      assert.equal(taken.data.takenOver, true);
      // Nobody came for the other one: it is as it was.
      const still = ok(await service.as({ user: 'hugo', password })('GET', '/whoami'));
      assert.deepEqual([still.externalGroups, still.via], [typed.externalGroups, 'password']);
      ok((await logIn('anna')) && (await service.ask('GET', '/whoami')));
    });

    it('are unique, and have as long to come back as it says', async () => {
      await use({ uniqueSession: true, relayStateTimeout: 7 });
      const [first, second] = [await logIn('anna'), await logIn('anna')];
      refused(await first.ask('GET', '/whoami'), 401);
      ok(await second.ask('GET', '/whoami'));
      const [cookie = ''] = (await browser().get(loginAt('corp'))).headers.getSetCookie();
      assert.match(cookie, /Max-Age=7(;|$)/);
    });
  });
});

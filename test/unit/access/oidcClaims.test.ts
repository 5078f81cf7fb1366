import assert from 'node:assert/strict';
import { groupsIn, isNoAccessToken, loggedOutIn, vouchedFor } from '../../../src/domain/authorization/oidcClaims.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { checkReturnTo } from '../../../src/http/authentication/openIdLogins.ts';
import { keptReading } from '../../../src/southbound/openId.ts';

const properties = {
  issuer: 'https://issuer',
  clientId: 'platform',
  redirectUri: 'https://service',
  groupsClaim: 'groups',
};

describe('the claims of an issuer', () => {
  const people: readonly (readonly [
    string,
    object,
    readonly [string, string] | undefined,
    'idToken' | 'accessToken',
  ])[] = [
    ['a person', { sub: '1', preferred_username: 'anna' }, ['1', 'anna'], 'idToken'],
    ['a person without a name', { sub: 'anna' }, ['anna', 'anna'], 'idToken'],
    ['names that are equal by NFKC', { sub: '1', preferred_username: 'ａｎｎａ' }, ['1', 'anna'], 'idToken'],
    ['a client', { sub: 'nightly', client_id: 'nightly' }, ['client nightly', 'nightly'], 'accessToken'],
    ['a client without sub', { azp: 'nightly' }, ['client nightly', 'nightly'], 'accessToken'],
    ['a person by a client', { sub: '1', azp: 'web', preferred_username: 'anna' }, ['1', 'anna'], 'accessToken'],
    [
      'a person whose id is that of a client',
      { sub: 'client nightly', preferred_username: 'anna' },
      undefined,
      'idToken',
    ],
    ['no person', { preferred_username: 'anna' }, undefined, 'idToken'],
    ['a sub that is no text', { sub: 1, preferred_username: 'anna' }, undefined, 'idToken'],
    ['a name with a colon', { sub: '1', preferred_username: 'anna:x' }, undefined, 'idToken'],
    ['a name of another provider', { sub: '1', preferred_username: 'corp\\anna' }, undefined, 'idToken'],
    ['a name with a control character', { sub: '1', preferred_username: 'anna\n' }, undefined, 'idToken'],
    ['a name that is too long', { sub: '1', preferred_username: 'a'.repeat(257) }, undefined, 'idToken'],
  ];
  for (const [about, claims, expected, kind] of people)
    it(`name ${about}`, () => {
      const found = vouchedFor(claims as Record<string, unknown>, properties, kind);
      assert.deepEqual(found && [found.externalId, found.username], expected);
    });

  it('name groups, 5,000 at most', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `g${i}`);
    assert.deepEqual(groupsIn({ groups: ['b', 'a', 'a', 1, null, 'x\n'] }, properties), ['a', 'b']);
    assert.deepEqual(groupsIn({ groups: 'noc' }, properties), ['noc']);
    for (const claims of [{}, { groups: null }, { groups: {} }, { groups: [] }])
      assert.deepEqual(groupsIn(claims, properties), []);
    assert.equal(groupsIn({ groups: many }, properties)?.length, 5_000);
    assert.equal(groupsIn({ groups: [...many, 'one more'] }, properties), undefined);
    assert.deepEqual(groupsIn({ groups: ['noc'] }, { ...properties, groupsClaim: 'toString' }), []);
  });

  it('say whether a token was issued to call, or to end logins', () => {
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    assert.equal(loggedOutIn({ sub: '1', events }), '1');
    for (const claims of [
      { sub: '1' },
      { events },
      { sub: '1', events, nonce: '' },
      { sub: '1', events: { other: {} } },
    ])
      assert.equal(loggedOutIn(claims), undefined);
    assert.ok(isNoAccessToken({ nonce: 'x' }) && isNoAccessToken({ events }) && !isNoAccessToken({ sub: '1' }));
  });
});

describe('the way back after a login', () => {
  for (const [path, expected] of Object.entries({
    '/': '/',
    '/docs?a=b#c': '/docs?a=b#c',
    '/a/../b': '/b',
    '/ü': '/%C3%BC',
  }))
    it(`may be ${path}`, () => assert.equal(checkReturnTo(path), expected));
  for (const path of [
    '',
    'a',
    '//x',
    '/\\x',
    '\\\\x',
    '/..//x',
    '/.//x',
    '/a/..//x',
    '/%2e%2e//x',
    '/\tx',
    '/\u007f',
    '/\ud800',
    'https://x',
    `/${'a'.repeat(1001)}`,
    `/${'ü'.repeat(200)}`,
  ])
    it(`is not ${JSON.stringify(path).slice(0, 30)}`, () =>
      assert.throws(
        () => checkReturnTo(path),
        (error) => error instanceof RequestError && error.code === 'invalid',
      ));
});

describe('what an issuer publishes', () => {
  const minute = 60_000;
  it('is read anew after 10 minutes, counts for an hour at most, and is renewed once a minute at most', async () => {
    let [now, reads, isSilent] = [0, 0, false];
    const kept = keptReading(
      async () => {
        if (isSilent) throw new Error('silent');
        return ++reads;
      },
      () => now,
    );
    assert.deepEqual(await Promise.all([kept.get(), kept.get()]), [1, 1]);
    assert.deepEqual([await kept.renew(), await kept.renew()], [2, undefined]);
    now = minute;
    assert.equal(await kept.renew(), 3);
    now = 12 * minute;
    assert.deepEqual([await kept.get(), await kept.get()], [3, 4]);
    isSilent = true;
    now = 70 * minute;
    assert.equal(await kept.get(), 4);
    now = 73 * minute;
    await assert.rejects(kept.get(), /silent/);
    isSilent = false;
    assert.equal(await kept.get(), 5);
  });
});

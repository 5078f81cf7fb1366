import assert from 'node:assert/strict';
import { exportSPKI, SignJWT } from 'jose';
import { audience, type Issuer, startIssuer } from '../../support/issuer.ts';
import { ok, refused } from '../../support/people.ts';
import { openStream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';
import { useService } from '../../support/useService.ts';

const providers = '/authorization/providers';

describe('access tokens of an issuer', () => {
  const service = useService({ OUTBOUND_ALLOW: '127.0.0.1' });
  let issuer: Issuer;
  let other: Issuer;
  const by = (token: string) => (method: string, path: string, body?: unknown) =>
    service.ask(method, path, body, { Authorization: `Bearer ${token}` }, null);
  const whoami = (token: string) => by(token)('GET', '/whoami');
  const seconds = (from = 0) => Math.floor(Date.now() / 1000) + from;

  before(async () => {
    const people = {
      nightly: { groups: ['pipelines'] },
      anna: { preferred_username: 'anna', groups: ['noc'] },
      boss: { preferred_username: 'boss', groups: ['chiefs'] },
    };
    issuer = await startIssuer({ service: service.url, name: 'corp', people });
    other = await startIssuer({ service: service.url, name: 'other', people });
    const properties = { ...issuer.properties, apiTokens: true, audience };
    ok(await service.ask('POST', providers, { name: 'corp', type: 'oidc', properties }));
    ok(await service.ask('POST', providers, { name: 'other', type: 'oidc', properties: other.properties }));
    const mappings = { pipelines: ['readers'], noc: ['operators'], chiefs: ['admins'] };
    for (const [externalGroup, platformGroups] of Object.entries(mappings))
      ok(await service.ask('POST', '/group-mappings', { provenance: 'corp', externalGroup, platformGroups }));
  });
  after(async () => {
    await issuer.stop();
    await other.stop();
  });

  it('let a pipeline in, with the rights of its mapped groups, and audits say so', async () => {
    const token = await issuer.pipelineToken();
    const who = ok(await whoami(token));
    assert.deepEqual([who.username, who.provenance, who.via], ['nightly', 'corp', 'oidc']);
    assert.deepEqual([who.externalGroups, who.groups.length], [['pipelines'], 1]);
    ok(await by(token)('GET', '/authorization/groups'));
    refused(await by(token)('POST', '/authorization/groups', { name: 'x', description: 'x' }), 403);
    refused(await by(token)('POST', '/authorization/tokens', { name: 'longer' }), 403, /makes no token/);
    const chief = await issuer.sign({ sub: 'chief', preferred_username: 'chief', groups: ['chiefs'] });
    ok(await service.ask('POST', '/authorization/accounts', { username: 'robot', type: 'service' }));
    refused(await by(chief)('POST', '/authorization/tokens', { name: 'x', account: 'robot' }), 403, /makes no token/);
    const writing = await issuer.sign({ sub: 'anna', preferred_username: 'anna', groups: ['noc'] });
    const { _id } = ok(await by(writing)('POST', '/operations-manager/automations', { name: 'by anna' })).data;
    const [event] = ok(await service.ask('GET', `/audit/resources/automation/${_id}`)).results;
    assert.deepEqual([event.actor.via, event.actor.username], ['oidc', 'anna']);
    assert.notEqual(ok(await whoami(await issuer.pipelineToken('backup'))).id, who.id);
  });

  it('let nobody in who is not of this issuer, for this audience, by its keys, and now', async () => {
    const claims = { sub: 'anna', preferred_username: 'anna', groups: ['chiefs'] };
    const { kid, publicKey } = issuer.key();
    const spki = new TextEncoder().encode(await exportSPKI(publicKey));
    const all = { iss: issuer.url, aud: audience, iat: seconds(), exp: seconds(600), ...claims };
    const unsigned = (alg: string, end = '') =>
      `${[{ alg, kid, typ: 'JWT' }, all].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.${end}`;
    const good = await issuer.sign(claims);
    const [head, body, signature] = good.split('.');
    const bad: Record<string, string> = {
      'another issuer': await issuer.sign({ ...claims, iss: other.url }),
      'another issuer with a name that begins alike': await issuer.sign({ ...claims, iss: `${issuer.url}/` }),
      'an issuer that may not': await other.sign({ ...claims }),
      'keys of another issuer': await other.sign({ ...claims, iss: issuer.url }),
      'another key of the same name': await issuer.sign(claims, await issuer.makeKey(kid)),
      'a key that is not known': await issuer.sign(claims, await issuer.makeKey('new')),
      'another audience': await issuer.sign({ ...claims, aud: 'nightly' }),
      'no audience': await issuer.sign({ ...claims, aud: [] }),
      expired: await issuer.sign({ ...claims, exp: seconds(-61) }),
      'without an end': await issuer.sign({ ...claims, exp: undefined }),
      'not yet': await issuer.sign({ ...claims, nbf: seconds(600) }),
      'from the future': await issuer.sign({ ...claims, iat: seconds(600) }),
      'without a time': await issuer.sign({ ...claims, iat: undefined }),
      'without a person': await issuer.sign({ groups: ['chiefs'] }),
      'with a name that is none': await issuer.sign({ ...claims, preferred_username: 'a:b' }),
      'of a person with the id of a client': await issuer.sign({ ...claims, sub: 'client nightly' }),
      'an ID token': await issuer.sign({ ...claims, nonce: 'n' }),
      'an ID token of the token endpoint': await issuer.sign({ ...claims, at_hash: 'h' }),
      'no algorithm': unsigned('none'),
      'no algorithm in capitals': unsigned('NONE', 'x'),
      'HMAC with the public key': await new SignJWT(all).setProtectedHeader({ alg: 'HS256', kid }).sign(spki),
      'another body': `${head}.${Buffer.from(JSON.stringify({ ...all, sub: 'boss' })).toString('base64url')}.${signature}`,
      'no signature': `${head}.${body}.`,
      'nothing but dots': '..',
      rubbish: 'a.b.c',
    };
    for (const [about, token] of Object.entries(bad)) {
      const answer = await whoami(token);
      assert.equal(answer.status, 401, `${about}: ${answer.text}`);
    }
    ok(await whoami(good));
    const Cookie = `token=${good}`;
    refused(await service.ask('GET', '/whoami', undefined, { Cookie }, null), 401);
    refused(await service.ask('GET', '/authorization/accounts/boss'), 404);
  });

  it('hold within a minute of skew', async () => {
    const claims = { sub: 'anna', preferred_username: 'anna' };
    ok(await whoami(await issuer.sign({ ...claims, exp: seconds(-30) })));
    ok(await whoami(await issuer.sign({ ...claims, iat: seconds(30), nbf: seconds(30) })));
  });

  it('end with their date, and so do the streams that they have opened', async () => {
    const claims = { sub: 'anna', preferred_username: 'anna', groups: ['noc'] };
    const [short, long] = [await issuer.sign({ ...claims, exp: seconds(3) }), await issuer.sign(claims)];
    const open = (token: string) => openStream(service.url, '', { headers: { Authorization: `Bearer ${token}` } });
    const [stream, other] = [await open(short), await open(long)];
    assert.deepEqual([stream.status, other.status], [200, 200]);
    await until(() => stream.ended(), 'the end of the stream');
    assert.deepEqual([stream.frames.at(-1)?.data.reason, other.ended()], ['rights', false]);
    other.close();
  });

  it('change nothing that the issuer has said later', async () => {
    const claims = { sub: 'dora', preferred_username: 'dora' };
    const old = await issuer.sign({ ...claims, groups: ['chiefs'], iat: seconds(-60) });
    assert.deepEqual(ok(await whoami(old)).externalGroups, ['chiefs']);
    const now = await issuer.sign({ ...claims, groups: ['noc'], iat: seconds(1) });
    assert.deepEqual(ok(await whoami(now)).externalGroups, ['noc']);
    const older = await issuer.sign({ ...claims, groups: ['chiefs'], iat: seconds(-59) });
    assert.deepEqual(ok(await whoami(older)).externalGroups, ['noc']);
    refused(await by(old)('GET', providers), 403);
  });

  it('end with the account, with the mapping, and with the provider', async () => {
    const token = await issuer.sign({ sub: 'eve', preferred_username: 'eve', groups: ['chiefs'] });
    ok(await by(token)('GET', providers));
    ok(await service.ask('DELETE', '/group-mappings/corp/chiefs'));
    refused(await by(token)('GET', providers), 403);
    ok(await service.ask('PATCH', `${providers}/corp`, { enabled: false }));
    refused(await whoami(token), 401);
    ok(await service.ask('PATCH', `${providers}/corp`, { enabled: true }));
    ok(await whoami(token));
    ok(await service.ask('PATCH', '/authorization/accounts/eve', { inactive: true }));
    refused(await whoami(token), 401);
  });
});

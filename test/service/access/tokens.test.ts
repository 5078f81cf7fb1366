import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokenText } from '../../../src/commands/authorization/tokenTexts.ts';
import { areas } from '../../../src/http/areas.ts';
import { fullPathOf } from '../../../src/http/engine/router.ts';
import { ok, refused } from '../../support/people.ts';
import type { Answer } from '../../support/service.ts';
import { openStream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';
import { usePeople, useService } from '../../support/useService.ts';

const tokens = '/authorization/tokens';
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

describe('tokens over HTTP', () => {
  const service = useService();
  const people = usePeople(service);
  type Ask = typeof people.member;
  const by =
    (token: string): Ask =>
    (method, path, body, headers) =>
      service.ask(method, path, body, { ...headers, ...bearer(token) }, null);
  const made = async (ask: Ask, body: object = {}): Promise<{ id: string; token: string }> =>
    ok(await ask('POST', tokens, { name: 'ci', ...body })).data;
  const admin: Ask = (...args) => service.ask(...args);
  const bot = async (username: string, more: object = {}): Promise<string> =>
    ok(await admin('POST', '/authorization/accounts', { username, type: 'service', ...more })).data._id;

  it('have the rights of their account: the same answer for every route as by its password', async () => {
    const statusOf = async (ask: Ask, method: string, path: string) => (await ask(method, path)).status;
    for (const who of ['reader', 'outsider', 'stranger'] as const) {
      const { token } = await made(people[who]);
      const limited = await made(people[who], { methods: ['getGroups'] });
      for (const area of areas)
        for (const route of area.routes) {
          if (route.method !== 'get' || route.untimed || 'run' in route) continue;
          const path = fullPathOf(area, route).replace(/:\w+/g, 'unknown');
          const expected = await statusOf(people[who], 'GET', path);
          assert.equal(await statusOf(by(token), 'GET', path), expected, `${who} ${path}`);
          const less = route.name === 'getGroups' || route.access === 'open' ? expected : 403;
          assert.equal(await statusOf(by(limited.token), 'GET', path), less, `${who}, limited, ${path}`);
        }
    }
  });

  it('are shown without their text, to their account and to admins', async () => {
    const { token, ...shown } = (await made(people.member, { methods: ['getRoles'] })) as any; // as its schema says
    assert.deepEqual(ok(await people.member('GET', `${tokens}/${shown.id}`)), shown);
    const { account, methods, inventories, lastUsed } = shown;
    assert.deepEqual([account, methods, inventories, lastUsed], ['member', ['getRoles'], null, null]);
    refused(await people.stranger('GET', `${tokens}/${shown.id}`), 404);
    refused(await people.stranger('DELETE', `${tokens}/${shown.id}`), 404);
    const idsFor = async (ask: Ask) =>
      ok(await ask('GET', `${tokens}?limit=1000`)).results.map(({ id }: { id: string }) => id);
    assert.ok((await idsFor(admin)).includes(shown.id) && !(await idsFor(people.stranger)).includes(shown.id));
    for (const name of readdirSync(service.folder).filter((one) => one.startsWith('log')))
      assert.ok(!readFileSync(join(service.folder, name), 'latin1').includes(token.slice(29, 72)), name);
    assert.ok(!service.lines.join('').includes(token.slice(29, 72)));
  });

  it('make no tokens; only admins make those of service accounts', async () => {
    await bot('maker', { memberOf: ['admins'] });
    const { token } = await made(admin, { account: 'maker' });
    refused(await by(token)('POST', tokens, { name: 'more' }), 403, /makes no token/);
    refused(await people.member('POST', tokens, { name: 'x', account: 'maker' }), 403, /admins/);
    refused(await admin('POST', tokens, { name: 'x', account: 'member' }), 409);
    refused(await admin('POST', tokens, { name: 'x', account: 'nobody' }), 404, /account/);
    refused(await admin('POST', tokens, { name: 'x', methods: ['noSuch'] }), 404, /noSuch/);
    refused(await admin('POST', tokens, { name: 'x', expires: '2020-01-01T00:00:00Z' }), 400, /expires/);
    refused(await admin('POST', tokens, { name: 'x', inventories: ['lab'] }), 404, /inventories/);
  });

  it('give their text once: a repeated request has none', async () => {
    const key = { 'Idempotency-Key': 'a-token' };
    const [first, again] = [
      await people.member('POST', tokens, { name: 'twice' }, key),
      await people.member('POST', tokens, { name: 'twice' }, key),
    ];
    const { token, ...rest } = ok(first).data;
    assert.deepEqual(ok(again).data, rest);
    ok(await by(token)('GET', '/whoami'));
    assert.equal(first.headers.get('cache-control'), 'no-store');
  });

  it('end at once by DELETE, with a deactivated account for good, and with a deleted one', async () => {
    const [id] = [await bot('short', { memberOf: ['readers'] })];
    const [one, two, three] = [
      await made(admin, { account: 'short' }),
      await made(admin, { account: id }),
      await made(admin, { account: id }),
    ];
    const gone: Answer[] = [];
    const groups = (token: string) => by(token)('GET', '/authorization/groups');
    for (const { token } of [one, two, three]) ok(await groups(token));
    ok(await admin('DELETE', `${tokens}/${one.id}`));
    gone.push(await groups(one.token));
    ok(await groups(two.token));
    ok(await admin('PATCH', '/authorization/accounts/short', { inactive: true }));
    gone.push(await groups(two.token));
    ok(await admin('PATCH', '/authorization/accounts/short', { inactive: false }));
    gone.push(await groups(two.token));
    const four = await made(admin, { account: 'short' });
    ok(await groups(four.token));
    ok(await admin('DELETE', '/authorization/accounts/short'));
    gone.push(await groups(four.token));
    gone.push(await groups(tokenText('f'.repeat(24), 'A'.repeat(43))));
    for (const answer of gone) {
      refused(answer, 401);
      assert.equal(answer.body.message, gone[0]?.body.message);
    }
  });

  it('outlive the password of their account, and end the stream that was opened by them', async () => {
    const account = { username: 'watcher', password: 'a long enough password', memberOf: ['operators'] };
    ok(await admin('POST', '/authorization/accounts', account));
    const { id, token } = await made(service.as({ user: 'watcher', password: account.password }));
    ok(await admin('PATCH', '/authorization/accounts/watcher', { password: 'another long password' }));
    ok(await by(token)('GET', '/authorization/groups'));
    const stream = await openStream(service.url, '', { headers: bearer(token) });
    assert.equal(stream.status, 200);
    ok(await admin('DELETE', `${tokens}/${id}`));
    await until(() => stream.ended(), 'the end of the stream');
  });

  it('end the streams that were opened by them on their date, and no others', async () => {
    const { token } = await made(people.member, { expires: new Date(Date.now() + 2000).toISOString() });
    const { token: longer } = await made(people.member);
    const open = (text: string, path: string) => openStream(service.url, '', { headers: bearer(text), path });
    const paths = ['/operations-manager/events/stream', '/operations-manager/jobs/stream'];
    const [streams, others] = await Promise.all(
      [token, longer].map((text) => Promise.all(paths.map((path) => open(text, path)))),
    );
    assert.deepEqual(
      [...streams!, ...others!].map(({ status }) => status),
      [200, 200, 200, 200],
    );
    for (const stream of streams!) {
      await until(() => stream.ended(), 'the end of the stream');
      assert.equal(stream.frames.at(-1)?.data.reason, 'rights');
    }
    refused(await by(token)('GET', '/whoami'), 401);
    assert.deepEqual(
      others!.map((stream) => stream.ended()),
      [false, false],
    );
    for (const stream of others!) stream.close();
  });

  it('do not allow what their methods lack, and say so of changes of devices', async () => {
    const { token } = await made(admin, {
      methods: ['dryRunDeviceConfig', 'applyDeviceConfig', 'changeDevices'],
    });
    const { token: dry } = await made(admin, { methods: ['dryRunDeviceConfig'] });
    const path = '/configuration_manager/devices/unknown/configuration';
    refused(
      await by(dry)('POST', path, { config: { config: 'x' } }),
      403,
      /This token does not allow applyDeviceConfig/,
    );
    refused(await by(dry)('POST', path, { config: { config: 'x' }, options: { dryRun: true } }), 404);
    const changes = '/configuration_manager/changes';
    refused(
      await by(token)('POST', changes, { devices: ['x'], config: 'x' }),
      403,
      /This token does not allow backUpDevice: only/,
    );
    refused(await people.reader('POST', path, { config: { config: 'x' } }), 403, /No role of yours/);
  });

  it('name themselves in events, in audits and by their last use', async () => {
    const { id, token } = await made(people.member);
    const { _id: group } = ok(await by(token)('POST', '/operations-manager/automations', { name: 'by token' })).data;
    const events = ok(await admin('GET', `/audit/resources/automation/${group}`)).results;
    assert.deepEqual([events[0].actor.via, events[0].actor.token], ['token', id]);
    await until(async () => ok(await admin('GET', `${tokens}/${id}`)).lastUsed !== null, 'the last use');
    const { lastUsed } = ok(await admin('GET', `${tokens}/${id}`));
    assert.match(lastUsed.day, /^\d{4}-\d\d-\d\d$/);
    assert.match(lastUsed.address, /127\.0\.0\.1|::1/);
    const { via, token: sent } = ok(await by(token)('GET', '/whoami'));
    assert.deepEqual([via, sent], ['token', id]);
  });

  it('are nothing else: hostile texts, cookies, other cases and other schemes are 401', async () => {
    const { token } = await made(people.member);
    const wrong = [
      '',
      'apt_',
      token.slice(0, -1),
      `${token}0`,
      token.toUpperCase(),
      token.replace('apt_', 'apt-'),
      `${token.slice(0, -6)}000000`,
      `apt_${'../'.repeat(8)}_${'A'.repeat(43)}_000000`,
      'apt___proto___constructor',
      `${'x'.repeat(6000)}`,
      '*',
      '%00',
      'null',
    ];
    for (const text of wrong) refused(await by(text)('GET', '/authorization/groups'), 401);
    refused(await service.ask('GET', '/authorization/groups', undefined, { Cookie: `token=${token}` }, null), 401);
    const basic = `Basic ${Buffer.from(`member:${token}`).toString('base64')}`;
    refused(await service.ask('GET', '/authorization/groups', undefined, { Authorization: basic }, null), 401);
  });

  it('are what a client of OAuth gets for itself, in a form, in HTTP Basic and in JSON', async () => {
    await bot('pipe line', { memberOf: ['readers'] });
    const { id, token } = await made(admin, { account: 'pipe line' });
    const grant = { grant_type: 'client_credentials' };
    const form = async (members: Record<string, string>, headers: Record<string, string> = {}) => {
      const body = new URLSearchParams(members);
      const response = await fetch(`${service.url}/oauth/token`, { method: 'POST', headers, body });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
    };
    const basic = (name: string, secret: string) => ({
      Authorization: `Basic ${btoa(`${encodeURIComponent(name)}:${encodeURIComponent(secret)}`)}`,
    });
    const own = { client_id: 'pipe line', client_secret: token };
    for (const answer of [
      await form({ ...grant, ...own, scope: 'all' }),
      await form(grant, basic('pipe line', token)),
      await service.ask('POST', '/oauth/token', { ...grant, ...own }, {}, null),
    ]) {
      const { access_token, token_type, expires_in } = ok(answer);
      assert.deepEqual([access_token, token_type], [token, 'Bearer']);
      assert.ok(expires_in > 89 * 86_400 && expires_in <= 90 * 86_400, expires_in);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    }
    const person = ok(await form({ ...grant, client_id: 'member', client_secret: 'a long enough password' }));
    assert.equal(person.expires_in, 1800);
    assert.deepEqual(
      [ok(await by(person.access_token)('GET', '/whoami'))].map(({ username, via }) => [username, via]),
      [['member', 'cookie']],
    );

    const wrong = (await made(people.member)).token;
    for (const client of [
      { ...own, client_secret: wrong },
      { ...own, client_secret: `${token.slice(0, -1)}x` },
      { ...own, client_secret: 'a long enough password' },
      { client_id: 'member', client_secret: 'wrong' },
      { client_id: 'nobody', client_secret: token },
      { client_id: 'a:b', client_secret: 'c' },
    ]) {
      const answer = await form({ ...grant, ...client });
      refused(answer, 401);
      assert.equal(answer.body.error, 'invalid_client');
    }
    for (const [error, members, headers] of [
      ['unsupported_grant_type', { ...own, grant_type: 'password' }],
      ['invalid_request', own],
      ['invalid_request', grant],
      ['invalid_request', { ...grant, client_id: 'member' }],
      ['invalid_request', { ...grant, client_secret: token }, basic('pipe line', token)],
      ['invalid_request', grant, { Authorization: `Basic ${btoa('%:%')}` }],
    ] as const) {
      const answer = await form(members, headers);
      refused(answer, 400);
      assert.equal(answer.body.error, error);
    }
    const twice = `grant_type=client_credentials&client_id=member&client_id=admin`;
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    refused(await service.ask('POST', '/oauth/token', twice, type, null), 400, /client_id/);
    ok(await admin('DELETE', `${tokens}/${id}`));
    refused(await form({ ...grant, ...own }), 401);
  });

  it('are all that a service account has: no password, no login, and it does not count as the last admin', async () => {
    const account = await bot('robot', { memberOf: ['admins'] });
    const shown = ok(await admin('GET', `/authorization/accounts/${account}`));
    assert.equal(shown.type, 'service');
    for (const password of ['', 'undefined', 'a long enough password'])
      assert.ok([400, 401].includes((await admin('POST', '/login', { username: 'robot', password }, {})).status));
    refused(
      await admin('PATCH', '/authorization/accounts/robot', { password: 'a long enough password' }),
      409,
      /token/,
    );
    refused(await admin('POST', '/authorization/accounts', { username: 'x' }), 400, /password/);
    const both = { username: 'x', type: 'service', password: 'a long enough password' };
    refused(await admin('POST', '/authorization/accounts', both), 400, /password/);
    refused(await admin('PATCH', '/authorization/accounts/admin', { memberOf: [] }), 409, /last admin/);
    ok(await admin('DELETE', '/authorization/accounts/robot'));
  });
});

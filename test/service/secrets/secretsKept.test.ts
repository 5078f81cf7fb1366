import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { startWorker } from '../../../src/process/startWorker.ts';
import { readSnapshot } from '../../../src/projections/snapshots/snapshot.ts';
import type { SnapshotWork } from '../../../src/projections/snapshots/snapshotWorker.ts';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import { keptFiles } from '../../support/keptFiles.ts';
import { ok } from '../../support/people.ts';
import { adminPassword, basic } from '../../support/service.ts';
import { useService } from '../../support/useService.ts';

/** How a text may be written: as it is, in JSON, in a URL, in base64 at any of its three offsets, in hex. */
const writings = (text: string): readonly string[] => {
  const inBase64 = [0, 1, 2].map((shift) =>
    Buffer.from(' '.repeat(shift) + text)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  );
  return [
    text,
    JSON.stringify(text).slice(1, -1),
    encodeURIComponent(text),
    ...inBase64,
    ...inBase64.map((part) => part.replaceAll('+', '-').replaceAll('/', '_')),
    Buffer.from(text).toString('hex'),
  ];
};

describe('passwords, tokens and secrets of profiles', function () {
  this.timeout(300_000);
  const service = useService({ LOG_LEVEL: 'trace' });
  const secrets: string[] = [adminPassword];
  const secret = (text: string): string => {
    secrets.push(text);
    return text;
  };

  const holds = (bytes: Buffer | string, where: string): void => {
    for (const text of secrets)
      for (const written of writings(text)) assert.ok(!bytes.includes(written), `${where} holds ${text} as ${written}`);
  };

  before(async () => {
    const { ask } = service;
    const first = secret('Recognisable "one" \u00e4+/ 1');
    ok(
      await ask(
        'POST',
        '/authorization/accounts',
        { username: 'keeper', password: first, memberOf: ['readers'] },
        { 'Idempotency-Key': 'k1' },
      ),
    );
    ok(
      await ask(
        'POST',
        '/authorization/accounts',
        { username: 'keeper', password: first, memberOf: ['readers'] },
        { 'Idempotency-Key': 'k1' },
      ),
    );

    const logIn = async (path: string, body: unknown) => {
      const answer = await ask('POST', path, body, {}, null);
      assert.equal(answer.status, 200, answer.text);
      return secret(answer.text);
    };
    const bearer = async (token: string, status: number) =>
      assert.equal(
        (await ask('GET', '/authorization/whoami', undefined, { Authorization: `Bearer ${token}` }, null)).status,
        status,
      );
    const tokens = [
      await logIn('/login', { username: 'keeper', password: first }),
      await logIn('/authorization/login', { user: { username: 'keeper', password: first } }),
    ];
    await bearer(tokens[0]!, 200);
    assert.equal(
      (await ask('GET', '/authorization/whoami', undefined, { Cookie: `token=${tokens[1]}` }, null)).status,
      200,
    );
    ok(await ask('POST', '/logout', undefined, { Authorization: `Bearer ${tokens[0]}` }, null));
    await bearer(tokens[0]!, 401);
    await bearer(secret(Buffer.alloc(32, 'no such token!').toString('base64url')), 401);

    const refused = async (
      status: number,
      body: unknown,
      path = '/login',
      method = 'POST',
      login: Parameters<typeof ask>[4] = null,
    ) => {
      const answer = await ask(method, path, body, {}, login);
      assert.equal(answer.status, status, answer.text);
      holds(answer.text, `${method} ${path}`);
    };
    await refused(401, { username: 'keeper', password: secret('Recognisable wrong password') });
    await refused(401, { username: 'nobody', password: secret('Recognisable of nobody') });
    await refused(400, `{"username":"keeper","password":"${secret('Recognisable unfinished')}`);
    await refused(400, `{"username":"keeper","password":"${secret('Recognisable duplicate')}","password":"x"}`);
    await refused(400, { username: 'keeper', password: [secret('Recognisable list')] });
    await refused(400, { username: 'keeper', password: secret('Recognisable too long').padEnd(2000, '!') });
    await refused(401, undefined, '/authorization/whoami', 'GET', {
      user: 'keeper',
      password: secret('Recognisable of Basic'),
    });
    await refused(
      409,
      { username: 'keeper', password: secret('Recognisable in conflict') },
      '/authorization/accounts',
      'POST',
      { user: 'admin', password: adminPassword },
    );

    const properties = {
      alarmProps: [
        { community: secret('Recognisable community'), properties: { community: secret('Recognisable standby') } },
      ],
      redisProps: {
        password: secret('Recognisable of Redis'),
        sentinels: [{ auth: { pass: secret('Recognisable within') } }],
      },
      expressProps: {
        express_https: { key: secret('Recognisable key'), passphrase: secret('Recognisable passphrase') },
      },
    };
    for (const path of ['/profiles/kept', '/profiles/kept', '/profiles/other'])
      holds((await ask('PUT', path, { properties }, { 'Idempotency-Key': 'k2' })).text, path);
    holds((await ask('PUT', '/profiles/kept/active')).text, 'the active profile');
    holds((await ask('DELETE', '/profiles/other')).text, 'the deleted profile');
    await refused(
      400,
      { properties: { redisProps: { password: secret('Recognisable beside a fault') }, unknown: 1 } },
      '/profiles/kept',
      'PUT',
      { user: 'admin', password: adminPassword },
    );
    await refused(
      400,
      { properties: { alarmProps: [{ community: [secret('Recognisable wrong type')] }] } },
      '/profiles/kept',
      'PUT',
      { user: 'admin', password: adminPassword },
    );

    const second = secret('Recognisable two');
    await refused(
      403,
      { old: secret('Recognisable wrong old'), new: second },
      '/authorization/whoami/password',
      'POST',
      { user: 'keeper', password: first },
    );
    ok(
      await ask(
        'POST',
        '/authorization/whoami/password',
        { old: first, new: second },
        {},
        { user: 'keeper', password: first },
      ),
    );
    const third = secret('Recognisable three');
    ok(await ask('PATCH', '/authorization/accounts/keeper', { password: third }));
    assert.equal(
      (
        await ask(
          'GET',
          '/authorization/whoami',
          undefined,
          { Authorization: basic({ user: 'keeper', password: third }) },
          null,
        )
      ).status,
      200,
    );
    await logIn('/login', { username: 'keeper', password: third });
  });

  it('are in no line of the log, at its most talkative', () => {
    assert.ok(service.lines.length > 15, 'the log is on');
    holds(service.lines.join(''), 'the log');
  });

  it('are in no answer', async () => {
    for (const path of [
      '/metrics',
      '/health/status',
      '/authorization/accounts',
      '/authorization/accounts/keeper',
      '/authorization/whoami',
      '/profiles',
      '/profiles/kept',
      '/profiles/active',
    ])
      holds((await service.ask('GET', path)).text, path);
  });

  it('are in no file: not in the event log, not in a snapshot', async () => {
    const log = join(service.folder, 'events.db');
    const file = join(service.folder, 'read-models.snapshot');
    const reader = await openSqliteReader(log);
    const origin = { log: reader.id, version: 'v' };
    await reader.close();
    await once(
      startWorker('projections/snapshots/snapshotWorker', {
        log: { file: log },
        file,
        origin,
      } satisfies SnapshotWork),
      'exit',
    );
    assert.ok(await readSnapshot(file, origin));

    const files = keptFiles(service.folder);
    for (const name of ['events.db', 'read-models.snapshot', 'secret.key'])
      assert.ok(
        files.some((entry) => entry.name === name),
        name,
      );
    assert.ok(
      files.some(({ bytes }) => bytes.includes('keeper')),
      'the account is there',
    );
    for (const { name, bytes } of files) holds(bytes, name);
  });

  it('would be found if they were there', () => {
    for (const text of secrets)
      for (const form of [text, basic({ user: 'keeper', password: text }), JSON.stringify({ text })])
        assert.throws(() => holds(form, 'this'), form);
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { setPassword } from '../../../src/cli/commands/accountPasswd.ts';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { readConfig } from '../../../src/config.ts';
import { auditKey } from '../../support/auditKey.ts';
import { storedEarlier } from '../../support/logged.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { ok, refused } from '../../support/people.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { startService, type TestService } from '../../support/service.ts';

describe('account passwd', () => {
  let folder: string;
  let service: TestService;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    service = await startService({}, folder);
  });
  afterEach(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const passwd = (name: string, typed: string, more = {}) =>
    setPassword(readConfig({ DATA_DIR: folder }), name, {
      input: Readable.from([typed]),
      output: new PassThrough(),
      ...more,
    });
  /** Stops the service for a while. */
  const offline = async (work: () => Promise<unknown>): Promise<void> => {
    await service.stop();
    try {
      await work();
    } finally {
      service = await startService({}, folder);
    }
  };

  it('sets the password that is piped in, which ends the logins of the account', async () => {
    const { text: token } = await service.ask(
      'POST',
      '/login',
      { username: 'admin', password: 'correct horse battery' },
      {},
      null,
    );
    await offline(() => passwd('admin', 'a new password\nand more\n'));
    refused(await service.ask('GET', '/authorization/whoami'), 401);
    refused(
      await service.ask('GET', '/authorization/whoami', undefined, { Authorization: `Bearer ${token}` }, null),
      401,
    );
    ok(await service.as({ user: 'admin', password: 'a new password' })('GET', '/authorization/whoami'));
  });
  it('refuses while the service runs, and says so', () =>
    assert.rejects(passwd('admin', 'a new password\n'), /stop the service first/));
  it('refuses unknown accounts and short passwords, and changes nothing', async () => {
    await assert.rejects(
      offline(() => passwd('nobody', 'a new password\n')),
      /no account "nobody"/,
    );
    await assert.rejects(
      offline(() => passwd('admin', 'short\n')),
      /at least 8/,
    );
    await assert.rejects(
      offline(() => passwd('admin', '')),
      /at least 8/,
    );
    ok(await service.ask('GET', '/authorization/whoami'));
  });
  it('takes no account for one that somebody else has written into another stream', async () => {
    const [{ _id: id, ...data }] = ok(await service.ask('GET', '/authorization/accounts')).results;
    assert.match(id, /./);
    await assert.rejects(
      offline(async () => {
        await storedEarlier(folder, [
          { stream: 'evil-1', source: 'authorization', topic: 'accountCreated', data: { ...data, username: 'ghost' } },
        ]);
        await passwd('ghost', 'a new password\n');
      }),
      /no account "ghost"/,
    );
  });
});

describe('account passwd without a log', () => {
  it('says so and makes none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    await assert.rejects(
      setPassword(readConfig({ DATA_DIR: folder }), 'admin', { input: Readable.from(['a new password\n']) }),
      /no event log/,
    );
    assert.deepEqual(readdirSync(folder), []);
    rmSync(folder, { recursive: true });
  });
});

describe('account passwd on EventStoreDB', () => {
  it('sets the password in the log that all nodes follow', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    const settings = { SECRET_KEY: 'the same on every node', AUDIT_KEY: auditKey };
    const server = await scriptedEventStore(memoryEventStore().handlers);
    const copy = (from: string, to: string) =>
      logCopy(from, to, new AbortController().signal, { output: new PassThrough() });
    const log = (name: string) => `sqlite:${join(folder, name, 'events.db')}`;
    try {
      await (await startService(settings, join(folder, 'first'))).stop();
      await copy(log('first'), server.url);
      await setPassword(readConfig({ ...settings, DATA_DIR: folder, EVENTSTORE_URL: server.url }), 'admin', {
        input: Readable.from(['a new password\n']),
        output: new PassThrough(),
      });
      await copy(server.url, log('second'));
      const service = await startService(settings, join(folder, 'second'));
      refused(await service.ask('GET', '/authorization/whoami'), 401);
      ok(await service.as({ user: 'admin', password: 'a new password' })('GET', '/authorization/whoami'));
      await service.stop();
    } finally {
      server.stop();
      rmSync(folder, { recursive: true });
    }
  });
});

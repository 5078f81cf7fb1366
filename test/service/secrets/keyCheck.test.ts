import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { wrapForeign } from '@automation-platform/event-log';
import { setPassword } from '../../../src/cli/commands/accountPasswd.ts';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { readConfig } from '../../../src/config.ts';
import { keyOfLog, keyStream } from '../../../src/secrets/keyCheck.ts';
import { makeKey, secrets } from '../../../src/secrets/secrets.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { storedIn, withLog } from '../../support/logged.ts';
import { ok, refused } from '../../support/people.ts';
import { startService } from '../../support/service.ts';
import { gather, newEvent } from '../../support/store.contract.ts';

const password = 'the password of bob';
const lost = /SECRET_KEY.*"A lost key" in docs\/operations\.md/;

describe('the key of a log', () => {
  let folder: string;
  const at = (...names: string[]): string => join(folder, ...names);
  const events = (data: string) => withLog(at(data, 'events.db'), storedIn);
  /** A stopped service with the accounts admin and bob, in the folder `data`. */
  const written = async (settings: Record<string, string> = {}): Promise<void> => {
    const service = await startService(settings, at('data'));
    await service.ask('POST', '/authorization/accounts', { username: 'bob', password, assignedRoles: [] });
    await service.stop();
  };
  /** The same log as an earlier version of the program left it: it does not say which key it has. */
  const older = async (): Promise<void> => {
    const before = await events('data');
    const store = await openSqliteStore({ file: at('older', 'events.db') });
    for (const { stream, revision, id, type, data, metadata } of before) {
      if (stream !== keyStream) await store.append(stream, revision - 1, [{ id, type, data, metadata }]);
    }
    await store.close();
    renameSync(at('data', 'secret.key'), at('older', 'secret.key'));
    rmSync(at('data'), { recursive: true });
    renameSync(at('older'), at('data'));
  };
  const refusedToStart = async (settings: Record<string, string> = {}): Promise<void> => {
    const before = await events('data');
    const hadKey = existsSync(at('data', 'secret.key'));
    await assert.rejects(startService(settings, at('data')), lost);
    assert.deepEqual(await events('data'), before, 'nothing is stored');
    assert.equal(existsSync(at('data', 'secret.key')), hadKey, 'no key is made');
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is noted in the log once, before anything is sealed, in a form that opens nothing', async () => {
    await written();
    await (await startService({}, at('data'))).stop();
    const all = await events('data');
    assert.deepEqual([all[0]!.stream, all[0]!.type], [keyStream, '@platform/log:keyChecked']);
    assert.equal(all.filter(({ stream }) => stream === keyStream).length, 1);
    const { check } = JSON.parse(all[0]!.data) as { check: string };
    const key = readFileSync(at('data', 'secret.key'), 'utf8').trim();
    assert.ok(!Buffer.from(check, 'base64url').equals(Buffer.from(key, 'base64')));
  });
  it('is missed: the service does not start, and makes no other', async () => {
    await written();
    rmSync(at('data', 'secret.key'));
    await refusedToStart();
    await refusedToStart({ SECRET_KEY: 'another key of letters' });
  });
  it('is missed although a second secret.key has been made', async () => {
    await written();
    rmSync(at('data', 'secret.key'));
    makeKey(at('data', 'secret.key'));
    await refusedToStart();
  });
  it('may be moved into the setting', async () => {
    await written();
    const setting = `base64:${readFileSync(at('data', 'secret.key'), 'utf8')}`;
    rmSync(at('data', 'secret.key'));
    await (await startService({ SECRET_KEY: setting }, at('data'))).stop();
  });
  it('of an older log is found by the first secret in it, and noted', async () => {
    await written();
    await older();
    const key = readFileSync(at('data', 'secret.key'));
    rmSync(at('data', 'secret.key'));
    await refusedToStart();
    await refusedToStart({ SECRET_KEY: 'another key of letters' });
    writeFileSync(at('data', 'secret.key'), key);
    await (await startService({}, at('data'))).stop();
    assert.equal((await events('data')).at(-1)!.stream, keyStream);
  });
  it('is not asked of what strangers have written', async () => {
    const store = await openSqliteStore({ file: at('data', 'events.db') });
    const sealed = JSON.stringify(secrets({ key: Buffer.alloc(32) }).seal('x'));
    await store.append('stranger-1', -1, [
      newEvent(sealed),
      wrapForeign({
        id: newEvent().id,
        type: 'said',
        data: Buffer.from(sealed),
        metadata: Buffer.from(''),
        contentType: 'application/json',
        created: new Date(),
      }),
    ]);
    await store.append('stranger-2', -1, [{ ...newEvent(sealed), type: '@platform/authorization:accountCreated' }]);
    await store.close();
    await (await startService({}, at('data'))).stop();
  });
  it('is copied with the log', async () => {
    await written();
    await logCopy(
      `sqlite:${at('data', 'events.db')}`,
      `sqlite:${at('copy', 'events.db')}`,
      new AbortController().signal,
      { output: new PassThrough() },
    );
    await assert.rejects(startService({}, at('copy')), lost);
    assert.ok(!existsSync(at('copy', 'secret.key')));
  });
  it('is that of the first of two nodes that start at once', async () => {
    const log = await openSqliteStore({ file: at('data', 'events.db') });
    const one = { log, fromSetting: 'the key of one node', file: at('one.key') };
    const other = { log, fromSetting: 'the key of the other', file: at('other.key') };
    const outcomes = await Promise.allSettled([keyOfLog(one), keyOfLog(other), keyOfLog(one)]);
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'fulfilled', 'rejected']);
    assert.equal((await gather(log.read(keyStream))).length, 1);
    await log.close();
  });

  describe('that is lost', () => {
    const passwd = (more: { readonly newKey?: boolean } = {}) =>
      setPassword(readConfig({ DATA_DIR: at('data') }), 'admin', {
        input: Readable.from(['a new password\n']),
        output: new PassThrough(),
        ...more,
      });

    it('is replaced only when account passwd is told so; then the account gets in, and what was sealed stays closed', async () => {
      await written();
      rmSync(at('data', 'secret.key'));
      await assert.rejects(passwd(), lost);
      assert.ok(!existsSync(at('data', 'secret.key')));
      await passwd({ newKey: true });
      const service = await startService({}, at('data'));
      const asAdmin = service.as({ user: 'admin', password: 'a new password' });
      assert.equal((await asAdmin('GET', '/authorization/whoami')).status, 200);
      refused(await service.as({ user: 'bob', password })('GET', '/authorization/whoami'), 401);
      await service.stop();
    });

    it('has sealed secrets of jobs that no worker gets: those jobs end in error, and others are given out', async () => {
      const jobs = '/operations-manager/jobs';
      const before = await startService({}, at('data'));
      const start = async (variables: object): Promise<string> =>
        ok(await before.ask('POST', `${jobs}/start`, { workflow: 'Back up', options: { variables } })).data._id;
      const [closed, open] = [await start({ token: 't' }), await start({ site: 'Bonn' })];
      await before.stop();
      rmSync(at('data', 'secret.key'));
      await passwd({ newKey: true });
      const service = await startService({}, at('data'));
      const asAdmin = service.as({ user: 'admin', password: 'a new password' });
      const wanted = { components: ['Back up'], worker: 'w', max: 2, wait: 30 };
      const { data } = ok(await asAdmin('POST', `${jobs}/claim`, wanted, { 'Idempotency-Key': 'k' }));
      assert.deepEqual(
        data.map(({ job }: any) => job._id),
        [open],
      );
      const { status, error } = ok(await asAdmin('GET', `${jobs}/${closed}`)).data;
      assert.equal(status, 'error');
      assert.match(error, /sealed with another key/);
      await service.stop();
    });
  });
});

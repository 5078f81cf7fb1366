import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PastReads } from '../../../src/projections/asOf/pastReads.ts';
import { pastThread } from '../../../src/projections/asOf/pastThread.ts';
import type { Query } from '../../../src/projections/engine/port.ts';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import { startService } from '../../support/service.ts';
import { until } from '../../support/until.ts';

const first: Query = { sort: 'name', order: 1, skip: 0, limit: 10 };

describe('the thread that reads earlier times', () => {
  let folder: string;
  let head: number;
  let account: string;
  const warnings: string[] = [];
  const threads: ReturnType<typeof pastThread>[] = [];

  const open = (patienceMs?: number, file = 'events.db'): PastReads => {
    const thread = pastThread({
      log: { file: join(folder, file) },
      memory: 8 * 2 ** 20,
      warn: (message) => void warnings.push(message),
      ...(patienceMs !== undefined && { patienceMs }),
    });
    threads.push(thread);
    return thread.reads;
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    const service = await startService({}, folder);
    await service.ask('POST', '/operations-manager/automations', { name: 'one' });
    const { body } = await service.ask('GET', '/authorization/accounts');
    account = body.results[0]._id;
    await service.stop();
    const log = await openSqliteReader(join(folder, 'events.db'));
    head = await log.head();
    await log.close();
  });
  afterEach(async () => {
    for (const { stop } of threads.splice(0)) await stop();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('answers 503 with Retry-After what takes long, and goes on: who asks again gets it', async () => {
    const reads = open(1);
    const late = { code: 'unavailable', retryAfterSeconds: 5, message: /ask again/ };
    await assert.rejects(reads.list(head, 'automations', first), late);
    await assert.rejects(reads.getMany(head, 'accounts', [account]), late);
    let total = 0;
    await until(async () => {
      total = await reads.list(head, 'automations', first).then(
        (page) => page.total,
        () => 0,
      );
      return total > 0;
    }, 'the list');
    assert.equal(total, 1);
    // What was found too late is kept: nobody has to be asked again.
    await until(async () => {
      const found = await reads.getMany(head, 'accounts', [account]).catch(() => []);
      return found[0]?.id === account;
    }, 'the account');
  });

  it('asks once for documents that are known, or known not to be there', async () => {
    const reads = open(60_000);
    const ids = [account, 'nobody', account];
    const found = await reads.getMany(head, 'accounts', ids);
    assert.deepEqual(
      found.map((entry) => entry?.id),
      [account, undefined, account],
    );
    assert.deepEqual(await reads.getMany(head, 'accounts', ids), found);
  });

  it('starts anew after it has ended, and says so', async () => {
    const reads = open(60_000, 'later.db');
    warnings.length = 0;
    await assert.rejects(reads.list(head, 'automations', first), { code: 'unavailable', retryAfterSeconds: 1 });
    assert.match(String(warnings), /started anew/);
    copyFileSync(join(folder, 'events.db'), join(folder, 'later.db'));
    if (existsSync(join(folder, 'events.db-wal')))
      copyFileSync(join(folder, 'events.db-wal'), join(folder, 'later.db-wal'));
    assert.equal((await reads.list(head, 'automations', first)).total, 1);
  });

  it('refuses more lists than may wait', async () => {
    const reads = open(60_000);
    const many = Array.from({ length: 40 }, (_, n) =>
      reads.list(n % head, n < head ? 'automations' : 'accounts', first),
    );
    const outcomes = await Promise.allSettled(many);
    const refused = outcomes.filter((one) => one.status === 'rejected');
    for (const { reason } of refused) assert.equal(reason.code, 'limited');
    assert.ok(refused.length < many.length);
  });

  it('answers nothing once it is stopped', async () => {
    const reads = open();
    await threads[0]?.stop();
    await assert.rejects(reads.list(head, 'automations', first), /shutting down/);
  });
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOwnStream } from '../../../src/events/ownStreams.ts';
import { snapshots } from '../../../src/projections/snapshots/snapshots.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { openGrpcLog } from '../../support/grpcLog.ts';
import { temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';

describe('snapshots', () => {
  it('are made after so many events, however far apart these are in the log', async () => {
    const folder = temporaryFolder();
    const log = join(folder, 'events.db');
    const store = await openSqliteStore({ file: log });
    await store.append('s-1', -1, [
      { id: '2f0c1a4e-5d0f-4d0b-9a52-0f6d6f7a3c11', type: '@platform/t:t', data: '{}', metadata: '{}' },
    ]);
    const failed: unknown[] = [];
    const work = { log: { file: log }, file: join(folder, 'snapshot'), origin: { log: store.id, version: 'v' } };
    const keeping = snapshots({ work, every: 100, log: (...about) => failed.push(about) });
    // One that had begun here would be the one that is made.
    keeping.moved(1_000_000, 99);
    keeping.moved(1_000_001, 100);
    await until(() => keeping.position() > 0);
    assert.equal(keeping.position(), 1_000_001);
    assert.deepEqual(failed, []);
    await keeping.stop();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  it('are made of a log in EventStoreDB', async () => {
    const log = await openGrpcLog({ own: isOwnStream });
    const failed: unknown[] = [];
    try {
      const { id } = log.store;
      const data = JSON.stringify({ name: 'a group' });
      const event = { id: randomUUID(), type: '@platform/authorization:groupCreated', data, metadata: '{}' };
      await log.store.append('group-1', -1, [event]);
      const work = { log: { url: log.url() }, file: join(log.folder, 'snapshot'), origin: { log: id, version: 'v' } };
      const keeping = snapshots({ work, every: 1, log: (...about) => failed.push(about) });
      keeping.moved(1, 1);
      await until(() => keeping.position() > 0 || failed.length > 0);
      assert.deepEqual(failed, []);
      assert.ok(existsSync(work.file));
      await keeping.stop();
    } finally {
      await log.close();
    }
  });
});

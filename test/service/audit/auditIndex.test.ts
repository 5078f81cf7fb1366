import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { auditIndex } from '../../../src/store/auditIndex/auditIndex.ts';
import { openIndexToRead } from '../../../src/store/auditIndex/indexFile.ts';
import { positionAt } from '../../../src/store/auditIndex/times.ts';
import { identityEvent } from '../../../src/store/identity.ts';
import type { NewEvent } from '../../../src/store/port.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts';
import { openGrpcLog } from '../../support/grpcLog.ts';
import { noSmallDisk, smallDisk } from '../../support/smallDisk.ts';
import { until } from '../../support/until.ts';

const begin = Date.UTC(2026, 0, 1);

const eventAt = (ms: number | undefined): NewEvent => ({
  id: randomUUID(),
  type: '@platform/test:noted',
  data: '{}',
  metadata: JSON.stringify(ms === undefined ? {} : { at: new Date(begin + ms).toISOString() }),
});

describe('the audit index', () => {
  let folder: string;
  let log: SqliteStore;
  let index: ReturnType<typeof auditIndex>;
  const warnings: string[] = [];
  const file = () => join(folder, 'audit-index.db');

  const open = async (): Promise<void> => {
    log = await openSqliteStore({ file: join(folder, 'events.db') });
    openIndex();
  };
  const openIndex = (): void => {
    index = auditIndex({
      folder,
      log: { file: join(folder, 'events.db') },
      warn: (message) => void warnings.push(message),
    });
  };
  const close = async (): Promise<void> => {
    await index.stop();
    await log.close();
  };
  /** Appends events with these times, in one stream; they follow one another in the log. */
  const append = async (stream: string, expected: number, times: readonly (number | undefined)[]): Promise<void> => {
    for (let from = 0; from < times.length; from += 500)
      await log.append(stream, expected + from, times.slice(from, from + 500).map(eventAt));
  };
  const at = async (ms: number): Promise<number> =>
    index.read(await log.head(), (db) => positionAt(db, log, begin + ms));
  const blocks = async (): Promise<readonly unknown[]> =>
    index.read(await log.head(), (db) => db.prepare('SELECT after, last, events, earliest FROM blocks').all());

  beforeEach(async () => {
    warnings.length = 0;
    folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    await open();
  });
  afterEach(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('tells the last position whose time is not after a time, whatever the order of times', async () => {
    await append('note-1', -1, [10, 30, 20, 40, 15, 50]);
    for (const [ms, position] of [
      [9, 0],
      [10, 1],
      [14, 1],
      [15, 5],
      [29, 5],
      [49, 5],
      [50, 6],
      [1e9, 6],
    ] as const)
      assert.equal(await at(ms), position, `${ms}`);
  });

  it('an empty log has position 0 at all times', async () => assert.equal(await at(0), 0));

  it('events without a time, of strangers, and the identity do not count', async () => {
    await append('note-1', -1, [10]);
    await append('payload-1', -1, [20]);
    await append('note-2', -1, [undefined]);
    await log.append('log-identity', -1, [identityEvent(randomUUID(), new Date(begin + 5))]);
    const created = new Date(begin + 20).toISOString();
    await log.append('stranger-1', -1, [
      { ...eventAt(0), metadata: `{"$foreign":{"created":"${created}","at":"${created}"}}` },
      { ...eventAt(0), metadata: 'no JSON' },
      { ...eventAt(0), metadata: '{"at":"some time"}' },
      { ...eventAt(0), metadata: 'null' },
    ]);
    assert.equal(await at(9), 0);
    assert.equal(await at(1000), 1);
    assert.deepEqual(await blocks(), [[0, 1, 1, begin + 10]]);
  });

  it('knows times also where an event of the log is damaged', async () => {
    await append('note-1', -1, [10, 20, 30]);
    const db = new DatabaseSync(join(folder, 'events.db'));
    db.exec(`UPDATE events SET data = '{"changed":true}' WHERE position = 2`);
    db.close();
    assert.equal(await at(20), 2);
    assert.equal(await at(30), 3);
  });

  it('agrees with a search of the whole log, over many blocks and restarts', async () => {
    const times = Array.from({ length: 3500 }, (_, n) => n * 10 + Math.round(Math.sin(n) * 3000));
    const expected = (ms: number) => times.findLastIndex((time) => time <= ms) + 1;
    await append('note-1', -1, times.slice(0, 1500));
    assert.equal(await at(1e9), 1500);
    await index.stop();
    openIndex();
    await append('note-1', 1499, times.slice(1500));
    for (let ms = -4000; ms < 40_000; ms += 777) assert.equal(await at(ms), expected(ms), `${ms}`);
    assert.equal((await blocks()).length, 4);
  });

  it('keeps through a restart what it has', async () => {
    await append('note-1', -1, [10, 20]);
    assert.equal(await at(10), 1);
    await index.stop();
    const db = new DatabaseSync(file());
    db.exec("INSERT INTO found VALUES (-1, 1, '')");
    db.close();
    openIndex();
    assert.deepEqual(
      await index.read(await log.head(), (found) => found.prepare('SELECT last FROM found WHERE term = -1').all()),
      [[1]],
    );
  });

  it('is made anew when it is lost, damaged, or of another log', async () => {
    await append('note-1', -1, [10, 20]);
    assert.equal(await at(10), 1);
    for (const spoil of [
      () => undefined,
      () => writeFileSync(file(), 'no database'),
      () => writeFileSync(file(), ''),
    ]) {
      await index.stop();
      for (const suffix of ['', '-wal', '-shm']) rmSync(file() + suffix, { force: true });
      spoil();
      openIndex();
      assert.equal(await at(10), 1);
      assert.deepEqual(await blocks(), [[0, 2, 2, begin + 10]]);
    }
    await close();
    for (const suffix of ['', '-wal', '-shm', '.head']) rmSync(join(folder, `events.db${suffix}`), { force: true });
    await open();
    await append('other-1', -1, [30, 40, 50]);
    assert.deepEqual(await blocks(), [[0, 3, 3, begin + 30]]);
  });

  it('is made anew when the log has another event where it ends', async () => {
    await append('note-1', -1, [10]);
    const { id } = log;
    assert.equal(await at(10), 1);
    await index.read(1, () => undefined);
    await index.stop();
    const db = new DatabaseSync(file());
    db.exec(`UPDATE reached SET event = '${randomUUID()}', position = 1; UPDATE blocks SET earliest = 0`);
    db.close();
    openIndex();
    assert.deepEqual(await blocks(), [[0, 1, 1, begin + 10]]);
    assert.equal(log.id, id);
  });

  it('is made anew when it has more than its tables, or others: nothing of that runs', async () => {
    await append('note-1', -1, [10, 20]);
    assert.equal(await at(10), 1);
    for (const sql of [
      'CREATE TRIGGER erase AFTER INSERT ON blocks BEGIN DELETE FROM blocks; END',
      'ALTER TABLE blocks RENAME TO "a ""b"; CREATE VIEW blocks AS SELECT * FROM "a ""b" WHERE 0',
      'DROP TABLE reached; CREATE VIEW reached AS SELECT 1 AS log, 2 AS position',
      'DROP TABLE blocks',
    ]) {
      await index.stop();
      const db = new DatabaseSync(file());
      db.exec(sql);
      db.close();
      openIndex();
      assert.equal(await at(10), 1, sql);
      assert.deepEqual(await blocks(), [[0, 2, 2, begin + 10]]);
      const parts = await index.read(1, (read) => read.prepare('SELECT type FROM sqlite_schema').all());
      assert.ok(!parts.flat().some((type) => type === 'trigger' || type === 'view'));
    }
    assert.deepEqual(warnings, []);
  });

  it('is removed when it turns out to be damaged while it is read', async () => {
    await append('note-1', -1, [10]);
    assert.equal(await at(10), 1);
    const damage = Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
    await assert.rejects(
      index.read(1, () => {
        throw damage;
      }),
      /damaged/,
    );
    assert.equal(existsSync(file()), false);
    assert.equal(await at(10), 1);
  });

  it('a log that cannot be read is told, and the next asker tries again', async () => {
    const lost = auditIndex({
      folder,
      log: { file: join(folder, 'nothing.db') },
      warn: (message) => void warnings.push(message),
    });
    for (const _ of [1, 2])
      await assert.rejects(
        lost.read(1, () => undefined),
        /cannot be written/,
      );
    assert.equal(warnings.length, 2);
    await lost.stop();
    await assert.rejects(
      lost.read(1, () => undefined),
      /shutting down/,
    );
  });

  (noSmallDisk ? it.skip : it)('answers on a full disk, also before it was ever made', async () => {
    const disk = smallDisk(16);
    const store = await openSqliteStore({ file: join(disk.data, 'events.db') });
    const on = () =>
      auditIndex({
        folder: disk.data,
        log: { file: join(disk.data, 'events.db') },
        warn: (message) => warnings.push(message),
      });
    try {
      await store.append('note-1', -1, [10, 20, 30].map(eventAt));
      disk.fill();
      for (const one of [on(), on()]) {
        assert.equal(await one.read(3, (db) => positionAt(db, store, begin + 25)), 2);
        await one.stop();
      }
      assert.equal(warnings.length, 2);
      assert.match(warnings[0] ?? '', /cannot be written beside the log; it is made elsewhere/);
      disk.empty();
      const later = on();
      assert.equal(await later.read(3, (db) => positionAt(db, store, begin + 25)), 2);
      await later.stop();
      assert.equal(warnings.length, 2);
    } finally {
      await store.close();
      disk.remove();
    }
  });

  it('is made of a log in EventStoreDB', async () => {
    const remote = await openGrpcLog();
    const beside = auditIndex({
      folder,
      log: { url: remote.url() },
      warn: (message) => void warnings.push(message),
    });
    try {
      await remote.store.append('thing-1', -1, [10, 30, 20].map(eventAt));
      const last = await remote.store.head();
      assert.equal(await beside.read(last, (db) => positionAt(db, remote.store, begin + 15)), last - 2);
      assert.deepEqual(warnings, []);
    } finally {
      await beside.stop();
      await remote.close();
    }
  });

  it('is filled without being asked once it is far behind', async () => {
    await append('note-1', -1, [10]);
    index.moved(9999);
    assert.equal(existsSync(file()), false);
    await append(
      'note-2',
      -1,
      Array.from({ length: 10_000 }, (_, n) => n),
    );
    index.moved(await log.head());
    await until(() => existsSync(file()), 'the file of the index');
    assert.equal(await at(1e9), 10_001);
  });

  it('is filled without being asked after so many events, not after so many bytes of a log', async () => {
    const reached = (): number => {
      const db = openIndexToRead(file());
      try {
        return (db.prepare('SELECT position FROM reached').get() as [number])[0];
      } finally {
        db.close();
      }
    };
    await append('note-1', -1, [10]);
    assert.equal(await at(10), 1);
    await append('note-1', 0, [20]);
    for (let n = 1; n < 10_000; n++) index.moved(1e9 + n);
    assert.equal(reached(), 1);
    index.moved(2);
    await until(() => reached() === 2, 'the newest event in the index');
  });
});

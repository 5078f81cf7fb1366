import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { wrapForeign } from '@automation-platform/event-log';
import { verifyLog } from '@automation-platform/log-proof';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { restoreFile } from '../../../src/cli/commands/restore.ts';
import { readConfig } from '../../../src/config.ts';
import { isDamage } from '../../../src/store/integrity.ts';
import { backUp } from '../../../src/store/moving/backup.ts';
import { logAt, stages } from '../../../src/store/moving/replaceLog.ts';
import { partsOf } from '../../../src/store/payloads.ts';
import type { NewEvent } from '../../../src/store/port.ts';
import { fileSource } from '../../../src/store/sources.ts';
import { acceptDamage } from '../../../src/store/sqlite/accept.ts';
import { connect, openFile, value } from '../../../src/store/sqlite/log.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { inodeOf, openTransactions } from '../../../src/store/sqlite/transactions.ts';
import { storedIn } from '../../support/logged.ts';
import { heard, writeLog } from '../../support/movingLog.ts';
import { newEvent } from '../../support/store.contract.ts';

const never = new AbortController().signal;

const changed = (file: string, sql: string): void => {
  const db = openFile(file, { timeout: 0 });
  db.exec(sql);
  db.close();
};

describe('the file of a log', () => {
  let folder: string;
  let file: string;
  let whole: string;
  const at = (name: string): string => join(folder, name, 'events.db');
  /** Makes `file` a copy of another one, in a folder of its own. */
  const takeCopy = (of: string): void => {
    file = join(mkdtempSync(join(folder, 'log-')), 'events.db');
    copyFileSync(of, file);
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'format-'));
    for (const name of ['whole', 'new', 'copy']) mkdirSync(join(folder, name));
    whole = at('whole');
    writeLog(whole, 30);
  });
  beforeEach(() => takeCopy(whole));
  after(() => rmSync(folder, { recursive: true }));

  const doors: Readonly<Record<string, () => Promise<unknown>>> = {
    open: async () => (await openSqliteStore({ file })).close(),
    'open again to write': async () =>
      openTransactions({ file }, { inode: inodeOf(file), acknowledged: undefined }).close(),
    read: async () => (await openSqliteReader(file)).close(),
    'log accept': async () => acceptDamage(file),
    backup: () => backUp({ file, to: at('new'), report: () => undefined }),
    restore: () => restoreFile(readConfig({ DATA_DIR: join(folder, 'new') }), file, heard().output),
    'go on with an import': async () => stages(file).imported(),
    'audit verify': async () => fileSource(file).close(),
    'log copy from it': () => logCopy(`sqlite:${file}`, `sqlite:${at('new')}`, never, { output: heard().output }),
    'log copy into it': async () => {
      copyFileSync(whole, at('copy'));
      await logCopy(`sqlite:${at('copy')}`, `sqlite:${file}`, never, { output: heard().output });
    },
  };

  it('goes through every door, also with statistics of SQLite', async () => {
    changed(file, 'ANALYZE');
    for (const door of ['open', 'open again to write', 'read', 'log accept', 'backup', 'audit verify'])
      await doors[door]!();
    rmSync(at('new'));
  });

  const parts: readonly (readonly [sql: string, named: RegExp])[] = [
    [
      'CREATE TRIGGER erase AFTER INSERT ON events BEGIN DELETE FROM events WHERE position < new.position - 9; END',
      /trigger "erase"/,
    ],
    ['CREATE TRIGGER t AFTER UPDATE ON log BEGIN DELETE FROM events; END', /trigger "t"/],
    ['ALTER TABLE events RENAME TO kept; CREATE VIEW events AS SELECT * FROM kept', /table "kept".*view "events"/],
    ['CREATE TABLE more (a)', /table "more"/],
    ['CREATE INDEX slow ON events (id)', /index "slow"/],
    ["ALTER TABLE sums ADD COLUMN more TEXT DEFAULT 'x'", /table "sums"/],
    ['DROP INDEX events_by_stream; CREATE INDEX events_by_stream ON events (stream)', /index "events_by_stream"/],
    ['CREATE TABLE "sqliteautoindex" (a PRIMARY KEY)', /table "sqliteautoindex"/],
  ];
  for (const [door, enter] of Object.entries(doors)) {
    it(`is refused with more than a log has, by name, and not changed: ${door}`, async () => {
      for (const [sql, named] of parts) {
        takeCopy(whole);
        changed(file, sql);
        await assert.rejects(enter(), (error) => {
          assert.match(String(error), named, sql);
          return true;
        });
        assert.equal(existsSync(at('new')), false);
        const db = openFile(file, { timeout: 0 });
        assert.deepEqual([value(db, 'SELECT version FROM log'), value(db, 'SELECT count(*) FROM events')], [2, 30]);
        db.close();
      }
    });
  }

  it('is not looked into when an import only asks whether it is empty', () => {
    changed(file, 'CREATE VIEW more AS SELECT 1');
    assert.equal(logAt(file)?.events, 30);
  });

  it('of a later version is refused, and not changed', async () => {
    changed(file, 'UPDATE log SET version = 3; DELETE FROM sums');
    for (const [door, enter] of Object.entries(doors))
      if (door !== 'open again to write')
        await assert.rejects(enter(), /is a log of version 3; this program reads versions up to 2/, door);
    const db = openFile(file, { timeout: 0 });
    assert.equal(value(db, 'SELECT count(*) FROM sums'), 0);
    db.close();
  });

  describe('that 0.1.0 has written to', () => {
    const text = `${'content 😀 '.repeat(40_000)}end`;
    const foreign = (): NewEvent =>
      wrapForeign({
        ...newEvent(),
        data: Buffer.from('{"order":1}'),
        metadata: Buffer.from('{}'),
        contentType: 'application/json',
        created: new Date(0),
      });
    /** Adds events as 0.1.0 did: without sums, to a file that may have some. */
    const goBack = (streams: readonly (readonly [stream: string, events: readonly NewEvent[]])[]): void => {
      changed(file, 'UPDATE log SET version = 1');
      const db = connect(file);
      const add = db.prepare('INSERT INTO events SELECT max(position) + 1, ?, ?, ?, ?, ?, ? FROM events');
      for (const [stream, events] of streams)
        for (const [revision, { id, type, data, metadata }] of events.entries())
          add.run(stream, revision, id, type, data, metadata);
      db.close();
    };
    const { stream, events } = partsOf('@platform/prebuilts', text);
    const other = partsOf('@platform/prebuilts', `${text}!`);
    const versionOf = (): unknown => {
      const db = openFile(file, { timeout: 0 });
      try {
        return value(db, 'SELECT version FROM log');
      } finally {
        db.close();
      }
    };
    const readers: Readonly<Record<string, () => Promise<number>>> = {
      'a reader': async () => {
        const store = await openSqliteReader(file);
        return (await storedIn(store).finally(() => store.close())).length;
      },
      'audit verify': async () => {
        const source = fileSource(file);
        const { findings, coverage } = await verifyLog({
          source,
          linked: (name) => name.startsWith('groupMapping-'),
          key: undefined,
          anchor: undefined,
          signal: never,
          told: () => undefined,
        });
        await source.close();
        if (findings[0]) throw Object.assign(new Error(findings[0].message), { name: 'DamagedLog' });
        return coverage.verified;
      },
    };

    it('is sound: content in parts, also cut short by a stop, and events of others', async () => {
      assert.ok(events.length > 2);
      goBack([
        [stream, events],
        ['shop-1', [foreign(), foreign()]],
        [other.stream, other.events.slice(0, 2)],
      ]);
      const count = 30 + events.length + 2 + 2;
      for (const read of Object.values(readers)) assert.equal(await read(), count);
      assert.equal(versionOf(), 1);
      const said: string[] = [];
      const store = await openSqliteStore({ file }, { log: (message) => said.push(message) });
      await store.append('shop-1', 1, [foreign()]);
      await store.close();
      // 0.1.0 and 0.2.0 refuse every version but 1.
      assert.equal(versionOf(), 2);
      assert.deepEqual(said, ['Earlier versions of the program refuse the log from now on']);
      for (const read of Object.values(readers)) assert.equal(await read(), count + 1);
    });

    it('has sums for all that is written from then on', async () => {
      goBack([[stream, events]]);
      await doors.open!();
      const db = connect(file);
      db.prepare('INSERT INTO events SELECT max(position) + 1, ?, 0, ?, ?, ?, ? FROM events').run(
        'shop-2',
        ...Object.values(foreign()).map(String).slice(0, 4),
      );
      db.close();
      await assert.rejects(readers['a reader']!(), isDamage);
    });

    const damages: readonly (readonly [what: string, sql: string])[] = [
      ['text', `UPDATE events SET data = replace(data, 'content', 'contemt') WHERE position = 32`],
      ['metadata', `UPDATE events SET metadata = '{ }' WHERE position = 31`],
      ['an id', `UPDATE events SET id = 'x' WHERE position = 31`],
      ['no JSON', `UPDATE events SET data = substr(data, 2) WHERE position = 31`],
      ['the number of a part', `UPDATE events SET data = replace(data, '"part":1', '"part":7') WHERE position = 32`],
    ];
    for (const raised of [false, true])
      it(`is damaged where a part is not what its content's name says${raised ? ', also later' : ''}`, async () => {
        goBack([[stream, events]]);
        if (raised) await doors.open!();
        changed(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
        const sound = file;
        for (const [what, sql] of damages) {
          takeCopy(sound);
          changed(file, sql);
          for (const [reader, read] of Object.entries(readers))
            await assert.rejects(read(), isDamage, `${reader} ${what}`);
        }
      });
  });
});

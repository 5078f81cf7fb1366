import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { wrapForeign } from '@automation-platform/event-log';
import { encode } from '../../../src/store/event.ts';
import { isDamage } from '../../../src/store/integrity.ts';
import type { EventStore, StoredEvent } from '../../../src/store/port.ts';
import { acceptDamage } from '../../../src/store/sqlite/accept.ts';
import { openFile } from '../../../src/store/sqlite/log.ts';
import { openSqliteReader, openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts';
import { context } from '../../support/given.ts';
import { storedIn } from '../../support/logged.ts';
import { newEvent } from '../../support/store.contract.ts';

const about = {
  $correlationId: 'r',
  $causationId: 'r',
  at: '2026-01-01T00:00:00.000Z',
  actor: context.actor,
  operation: 'test',
  requestId: 'r',
  schemaVersion: 1,
};

/** Events of the platform's own in five streams, foreign ones and parts of payloads between them. */
const write = async (store: EventStore, rounds: number): Promise<void> => {
  const hashes = new Map<string, string>();
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < 5; n++) {
      const stream = `thing-${n}`;
      const data = { round, text: `what happened in ${round} to ${n}` };
      const event = encode(
        { stream, revision: round, id: randomUUID(), source: '@platform/mop' },
        { topic: 'thingNamed', data },
        about,
        hashes.get(stream) ?? '',
      );
      hashes.set(stream, event.hash);
      await store.append(stream, round - 1, [event]);
    }
    const foreign = {
      ...newEvent(),
      data: Buffer.from(`{"round":${round}}`),
      metadata: Buffer.from('{}'),
      contentType: 'application/json',
      created: new Date(0),
    };
    await store.append('stranger-1', round - 1, [wrapForeign(foreign)]);
    await store.append(`payload-${round}`, -1, [
      { ...newEvent(JSON.stringify({ part: 0, text: `part ${round}` })), metadata: '{}' },
    ]);
  }
};

describe('what is damaged in the file of a log', () => {
  let folder: string;
  let file: string;
  let written: readonly StoredEvent[];
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'integrity-'));
    const store = await openSqliteStore({ file: join(folder, 'good.db') });
    await write(store, 20);
    written = await storedIn(store);
    await store.close();
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => {
    file = join(mkdtempSync(join(folder, 'log-')), 'events.db');
    copyFileSync(join(folder, 'good.db'), file);
  });

  const change = (sql: string): void => {
    const db = openFile(file, { timeout: 0 });
    db.enableDefensive(false);
    db.exec(sql);
    db.close();
  };
  /** What a reader is given, or why it is refused. */
  const readBack = async (): Promise<readonly StoredEvent[] | string> => {
    const reader = await openSqliteReader(file);
    try {
      return await storedIn(reader);
    } catch (error) {
      assert.ok(isDamage(error), String(error));
      return (error as Error).message;
    } finally {
      await reader.close();
    }
  };

  it('is nothing as long as nobody touches it', async () => assert.deepEqual(await readBack(), written));

  const places: readonly (readonly [what: string, sql: string, named: RegExp])[] = [
    [
      'data',
      "UPDATE events SET data = replace(data, 'happened', 'hapqened') WHERE position = 50",
      /position 50: event 7 of stream thing-0 is not what was written/,
    ],
    [
      'metadata',
      'UPDATE events SET metadata = replace(metadata, \'"test"\', \'"tesu"\') WHERE position = 50',
      /position 50: event 7 of/,
    ],
    [
      'the link itself',
      "UPDATE events SET metadata = replace(metadata, substr(metadata, -40, 1), '!') WHERE position = 50",
      /position 50/,
    ],
    [
      'the end of the metadata',
      "UPDATE events SET metadata = substr(metadata, 1, length(metadata) - 1) || 'y' WHERE position = 50",
      /position 50: event 7 of/,
    ],
    [
      'the end of the first metadata',
      "UPDATE events SET metadata = substr(metadata, 1, length(metadata) - 1) || 'y' WHERE position = 1",
      /position 1: event 0 of/,
    ],
    ['the type', "UPDATE events SET type = '@platform/mop:thingNamee' WHERE position = 50", /position 50: event 7 of/],
    ['the id', "UPDATE events SET id = 'another' WHERE position = 50", /position 50: event 7 of/],
    [
      'the stream',
      "UPDATE events SET stream = 'thing-9' WHERE position = 50",
      /position 50: event 6 of stream thing-9 does not come before event 7/,
    ],
    [
      'the revision',
      'UPDATE events SET revision = 70 WHERE position = 50',
      /position 50: event 69 of stream thing-0 does not come before event 70/,
    ],
    [
      'a foreign event',
      "UPDATE events SET data = '{\"round\":8}' WHERE stream = 'stranger-1' AND revision = 7",
      /event 7 of stream stranger-1 is not what was written/,
    ],
    [
      'a part of a payload',
      "UPDATE events SET data = replace(data, 'part 7', 'part 8') WHERE stream = 'payload-7'",
      /event 0 of stream payload-7 is not/,
    ],
    ['a row that is gone', 'DELETE FROM events WHERE position = 50', /there is no event at position 50/],
    [
      'many rows that are gone',
      'DELETE FROM events WHERE position BETWEEN 20 AND 120',
      /there is no event at position 20/,
    ],
    [
      'two that have changed places',
      'UPDATE events SET position = 1000 WHERE position = 50; UPDATE events SET position = 50 WHERE position = 57; UPDATE events SET position = 57 WHERE position = 1000',
      /position 50/,
    ],
  ];
  for (const [what, sql, named] of places) {
    it(`is found: ${what}`, async () => {
      change(sql);
      assert.match(String(await readBack()), named);
    });
  }
  it('is found in the newest event before anything is appended', async () => {
    change(`UPDATE events SET data = '{}' WHERE position = ${written.length}`);
    await assert.rejects(openSqliteStore({ file }), isDamage);
  });
  it('is found by who reads ahead in a thread of its own', async () => {
    const store = await openSqliteStore({ file });
    for (let n = 0; n < 22; n++)
      await store.append(
        'many-1',
        1000 * n - 1,
        Array.from({ length: 1000 }, () => newEvent()),
      );
    await store.close();
    change("UPDATE events SET data = '[15]' WHERE position = 15000");
    const again = await openSqliteStore({ file });
    const following = (async () => {
      for await (const _ of again.follow(0, undefined, new AbortController().signal));
    })();
    await assert.rejects(following, (error) => isDamage(error) && /position 15000/.test(String(error)));
    await again.close();
  });
  it('says nothing of events that were stored before there were sums', async () => {
    change(
      "DROP TABLE sums; UPDATE log SET version = 1; UPDATE events SET data = '{}' WHERE stream = 'stranger-1' AND revision = 7",
    );
    assert.ok(Array.isArray(await readBack()));
    await (await openSqliteStore({ file })).close();
  });

  /** The note beside the log, by which a lost end is found. */
  const withNote = (): Buffer => {
    copyFileSync(join(folder, 'good.db.head'), `${file}.head`);
    return readFileSync(file);
  };

  it('is found by a reader where a page of a tree has another number of cells', async () => {
    const bytes = withNote();
    const pageSize = bytes.readUInt16BE(16);
    const read = async (): Promise<number> => {
      const reader = await openSqliteReader(file);
      return storedIn(reader)
        .then(({ length }) => length)
        .finally(() => reader.close());
    };
    for (let page = pageSize; page < bytes.length; page += pageSize)
      for (let bit = 0; bit < 16; bit++) {
        const damaged = Buffer.from(bytes);
        damaged.writeUInt16BE(damaged.readUInt16BE(page + 3) ^ (1 << bit), page + 3);
        rmSync(`${file}-wal`, { force: true });
        writeFileSync(file, damaged);
        const found = await read().catch(() => 'damage');
        assert.ok(found === 'damage' || found === written.length, `${found} events, bit ${bit} of the page at ${page}`);
      }
  });

  const flips = Number(process.env.SOAK_ROUNDS ?? 2) * 20;
  it(`is never taken for truth: ${flips} flipped bits`, async () => {
    const bytes = withNote();
    const ids = new Map(written.map((event) => [event.position, event]));
    let found = 0;
    for (let flip = 0; flip < flips; flip++) {
      const damaged = Buffer.from(bytes);
      const at = Math.floor(Math.random() * damaged.length);
      damaged[at]! ^= 1 << Math.floor(Math.random() * 8);
      rmSync(`${file}-wal`, { force: true });
      writeFileSync(file, damaged);
      try {
        const reader = await openSqliteReader(file);
        try {
          const events = await storedIn(reader);
          assert.equal(events.length, written.length, `byte ${at}`);
          for (const event of events) assert.deepEqual(event, ids.get(event.position), `byte ${at}`);
        } finally {
          await reader.close();
        }
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        found++;
      }
    }
    assert.ok(found > flips / 3, `${found} of ${flips} were found, the others are where nothing is`);
  });

  it('counts as it is once it was accepted, unless an event is missing', async () => {
    change(
      "UPDATE events SET data = '{}' WHERE position IN (50, 90); UPDATE events SET data = '{\"round\":0}' WHERE stream = 'stranger-1' AND revision = 7",
    );
    assert.equal(acceptDamage(file).length, 3);
    assert.deepEqual(acceptDamage(file), []);
    const events = await readBack();
    assert.ok(Array.isArray(events) && events.length === written.length && events[49]?.data === '{}');
    change("UPDATE events SET data = '[]' WHERE position = 50");
    assert.match(String(await readBack()), /position 50/);
    change('DELETE FROM events WHERE position = 40');
    assert.throws(() => acceptDamage(file), /no event at position 40: restore a backup/);
  });

  describe('in the background', () => {
    const pace = { rows: 50, everyMs: 1, restMs: 60_000 };
    const scrubbed = async (store: SqliteStore) => {
      while (store.scrubbed().passes === 0) await pause(5);
      return store.scrubbed();
    };
    const opened = async (): Promise<Awaited<ReturnType<typeof scrubbed>>> => {
      const store = await openSqliteStore({ file }, { pace });
      try {
        return await scrubbed(store);
      } finally {
        await store.close();
      }
    };

    it('is found, with its place, and the rest is checked all the same', async () => {
      change("UPDATE events SET data = '{}' WHERE position IN (10, 90)");
      const { damaged, ended } = await opened();
      assert.deepEqual([...damaged.keys()], [10, 90]);
      assert.match(damaged.get(10)!, /is not what was written/);
      assert.ok(ended);
    });
    it('is nothing as long as nobody touches it', async () => assert.equal((await opened()).damaged.size, 0));
    it('is found in the index', async () => {
      const store = await openSqliteStore({ file });
      // Far from the newest events: those are looked up at the start.
      for (let n = 0; n < 3; n++)
        await store.append(
          'many-1',
          500 * n - 1,
          Array.from({ length: 500 }, () => newEvent()),
        );
      await store.close();
      const attach = (sql: string): void =>
        change(`PRAGMA writable_schema = ON; UPDATE sqlite_schema SET ${sql}; PRAGMA writable_schema = RESET`);
      const hide =
        "type = 'table', name = 'hidden', tbl_name = 'hidden', sql = 'CREATE TABLE hidden (a)' WHERE name = 'events_by_stream'";
      const show =
        "type = 'index', name = 'events_by_stream', tbl_name = 'events', sql = 'CREATE UNIQUE INDEX events_by_stream ON events (stream, revision)' WHERE name = 'hidden'";
      change("UPDATE events SET stream = 'thing-8' WHERE position = 10");
      attach(hide);
      change("UPDATE events SET stream = 'thing-2' WHERE position = 10");
      attach(show);
      const { damaged } = await opened();
      assert.deepEqual([...damaged], [[10, 'the index does not find event 1 of stream thing-2']]);
    });
  });
});

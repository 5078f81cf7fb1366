import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { logAccept } from '../../../src/cli/commands/logAccept.ts';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { readConfig } from '../../../src/config.ts';
import { seenBySnapshot, writeSnapshot } from '../../../src/projections/snapshots/snapshot.ts';
import { openFile } from '../../../src/store/sqlite/log.ts';
import { readNote } from '../../../src/store/sqlite/note.ts';
import { openSqliteReader, openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts';
import { runInProcess } from '../../support/command.ts';
import { temporaryFolder } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { newEvent, newEvents } from '../../support/store.contract.ts';

const never = new AbortController().signal;

const heard = () => {
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  return { output, text: () => text };
};

describe('a log that got shorter', () => {
  let folder: string;
  let file: string;
  let note: string;
  let opened: SqliteStore[];
  beforeEach(() => {
    folder = temporaryFolder();
    file = join(folder, 'events.db');
    note = `${file}.head`;
    opened = [];
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (more: Parameters<typeof openSqliteStore>[1] = {}, at = file): Promise<SqliteStore> => {
    const store = await openSqliteStore({ file: at }, more);
    opened.push(store);
    return store;
  };
  const accept = async (): Promise<string> => {
    const { output, text } = heard();
    await logAccept(readConfig({ DATA_DIR: folder }), output);
    return text();
  };
  /** A log of so many events in one stream, closed; all files as `kept` has them. */
  const made = async (events: number): Promise<string> => {
    const store = await open();
    for (let n = 0; n < events; n++) await store.append('job-a', n - 1, [newEvent(n)]);
    await store.close();
    return store.id;
  };
  /** Leaves the first events of the log, as a backup has them. */
  const cutTo = (position: number): void => {
    const db = openFile(file, { timeout: 5000 });
    db.exec(`DELETE FROM events WHERE position > ${position}`);
    db.close();
  };
  const files = () =>
    new Map(
      readdirSync(folder)
        .filter((name) => !/-shm$|lock/.test(name))
        .sort()
        .map((name) => [name, readFileSync(join(folder, name), 'base64')]),
    );

  describe('keeps a note of its newest event beside it', () => {
    it('after every append, for the owner only', async () => {
      const store = await open();
      assert.deepEqual(readNote(file), []);
      for (let n = 0; n < 5; n++) {
        const event = newEvent(n);
        await store.append('a-1', n - 1, [event]);
        const newest = readNote(file)[0]!;
        assert.deepEqual(
          [newest.log, newest.position, newest.stream, newest.revision, newest.id],
          [store.id, n + 1, 'a-1', n, event.id],
        );
      }
      assert.equal(statSync(note).mode & 0o777, 0o600);
      assert.ok(statSync(note).size <= 4096);
    });
    it('of any stream, however it is called', async () => {
      const store = await open();
      for (const stream of [`a-${'\u{1F600}"\\'.repeat(250)}`, 'a-ü\n\u0000']) {
        await store.append(stream, -1, [newEvent()]);
        assert.equal(readNote(file)[0]?.position, await store.head());
      }
    });
    it('that nobody writes who only reads it', async () => {
      await made(3);
      const before = readFileSync(note);
      const reader = await openSqliteReader(file);
      assert.equal(await reader.head(), 3);
      await reader.close();
      const { output } = heard();
      await logCopy(`sqlite:${file}`, `sqlite:${join(folder, 'copy', 'events.db')}`, never, { output });
      assert.deepEqual(readFileSync(note), before);
      const [first] = readNote(join(folder, 'copy', 'events.db'));
      assert.equal(first?.position, 3);
      assert.notEqual(first?.log, readNote(file)[0]?.log);
    });
    it('whose failing refuses no change, and is told once', async () => {
      mkdirSync(note);
      const told: string[] = [];
      const store = await open({
        log: (message) => {
          told.push(message);
        },
      });
      for (let n = 0; n < 3; n++) await store.append('a-1', n - 1, [newEvent()]);
      assert.match(store.noteFault() ?? '', /EISDIR/);
      assert.deepEqual(told, ['The note of the log cannot be written']);
      rmSync(note, { recursive: true });
      await store.append('a-1', 2, [newEvent()]);
      assert.equal(store.noteFault(), undefined);
      assert.equal(readNote(file)[0]?.position, 4);
    });
  });

  describe('is not opened', () => {
    it('when events are missing at its end: the error says how many, which was the last, and what to do; nothing is changed', async () => {
      await made(7);
      cutTo(4);
      const before = files();
      for (let time = 0; time < 2; time++) {
        await assert.rejects(
          open(),
          /names position 7 \(event 6 of stream job-a\), but the log ends at position 4 \(event 3 of stream job-a\); 3 missing\. .*log accept/,
        );
      }
      assert.deepEqual(files(), before);
    });
    it('when it has another event at that position', async () => {
      await made(3);
      cutTo(2);
      const db = openFile(file, { timeout: 5000 });
      db.exec("INSERT INTO events SELECT 3, stream, 2, 'other', type, data, metadata FROM events WHERE position = 1");
      db.close();
      await assert.rejects(open(), /names another event at position 3/);
    });
    for (const [what, harm] of [
      ['gone', () => rmSync(file)],
      ['empty', () => truncateSync(file)],
    ] as const) {
      it(`when its file is ${what}; the WAL stays as it is`, async () => {
        await made(3);
        writeFileSync(`${file}-wal`, 'what is newest');
        harm();
        await assert.rejects(open(), new RegExp(`is ${what}, but its note .* names position 3`));
        assert.equal(readFileSync(`${file}-wal`, 'utf8'), 'what is newest');
        rmSync(note);
        await assert.rejects(open(), new RegExp(`is ${what}, but events.db-wal beside it holds a part of a log`));
        assert.equal(readFileSync(`${file}-wal`, 'utf8'), 'what is newest');
      });
    }
    for (const [what, harm] of [
      [
        'a byte of its WAL is flipped',
        (bytes: Buffer) => {
          bytes[bytes.length >> 1]! ^= 1;
          return bytes;
        },
      ],
      [
        'the first byte of its WAL is flipped',
        (bytes: Buffer) => {
          bytes[0]! ^= 1;
          return bytes;
        },
      ],
      ['its WAL is cut', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
      ['its WAL is gone', () => undefined],
    ] as const) {
      it(`when ${what}`, async () => {
        const store = await open();
        for (let n = 0; n < 50; n++) await store.append('job-a', n - 1, [newEvent(n)]);
        // As a process leaves them that was killed.
        const crashed = join(folder, 'crashed');
        mkdirSync(crashed);
        execFileSync('cp', [file, `${file}-wal`, note, crashed]);
        const at = join(crashed, 'events.db');
        const wal = harm(readFileSync(`${at}-wal`));
        rmSync(`${at}-wal`);
        if (wal) writeFileSync(`${at}-wal`, wal);
        await assert.rejects(open({}, at), /The event log has lost events: .* names position 50 .* missing/);
        if (wal) assert.deepEqual(readFileSync(`${at}-wal`), wal);
      });
    }
    for (const [what, harm] of [
      ['a position', 'UPDATE events SET position = position + 1 WHERE position > 5'],
      ['a revision', 'UPDATE events SET revision = revision + 1 WHERE revision > 5'],
    ] as const) {
      it(`when ${what} is left out`, async () => {
        await made(8);
        rmSync(note);
        const db = openFile(file, { timeout: 5000 });
        db.exec(
          `CREATE TEMP TABLE t AS SELECT * FROM events; DELETE FROM events; ${harm.replaceAll('events', 't')}; INSERT INTO events SELECT * FROM t`,
        );
        db.close();
        await assert.rejects(
          open(),
          /is damaged: what comes before position \d \(event \d of stream job-a\) is missing/,
        );
      });
    }
    it('to be copied', async () => {
      await made(7);
      cutTo(4);
      const { output } = heard();
      await assert.rejects(
        logCopy(`sqlite:${file}`, `sqlite:${join(folder, 'copy', 'events.db')}`, never, { output }),
        /lost events/,
      );
    });
    for (const version of ['this', 'another']) {
      it(`when a snapshot by ${version} version of the projections is ahead of it, or names another event there`, async () => {
        const log = await made(7);
        rmSync(note);
        cutTo(4);
        const snapshot = join(folder, 'read-models.snapshot');
        const take = async (position: number, event: string, of = log) => {
          await writeSnapshot(snapshot, { log: of, version }, { position, event }, []);
          return { seen: await seenBySnapshot(snapshot) };
        };
        await assert.rejects(
          open(await take(7, 'x')),
          /the snapshot read-models.snapshot names position 7, but the log ends at position 4 .*3 missing/,
        );
        await assert.rejects(open(await take(2, 'x')), /names another event at position 2/);
        const damaged = await take(7, 'x');
        writeFileSync(snapshot, readFileSync(snapshot, 'utf8').replace('"position":7', '"position":8'));
        await (await open(damaged)).close();
        await (await open(await take(7, 'x', 'another log'))).close();
      });
    }
  });

  describe('is opened all the same', () => {
    it('when the note is older, torn, of another log, or not there', async () => {
      await made(3);
      const older = readFileSync(note);
      await made(0);
      const store = await open();
      await store.append('job-b', -1, newEvents(4));
      await store.close();
      const newer = readFileSync(note);
      for (const bytes of [
        older,
        newer.subarray(0, 700),
        Buffer.from(newer.map((byte) => byte ^ 1)),
        Buffer.alloc(0),
        Buffer.from('{}\n{}\n{}'),
      ]) {
        writeFileSync(note, bytes);
        await (await open()).close();
      }
      rmSync(note);
      await (await open()).close();
      writeFileSync(join(folder, 'kept'), readFileSync(note));
      for (const name of readdirSync(folder).filter((name) => name.startsWith('events.db'))) rmSync(join(folder, name));
      await made(1);
      const other = readFileSync(join(folder, 'kept'));
      writeFileSync(note, other);
      await (await open()).close();
      assert.ok(readNote(file).some(({ position }) => position === 1));
    });
    it('when there is only a key: a first start that was cut short; the log says so', async () => {
      const told: string[] = [];
      writeFileSync(join(folder, 'secret.key'), 'x');
      await open({
        log: (message) => {
          told.push(message);
        },
      });
      assert.equal(told.length, 1);
      assert.match(told[0]!, /beside a secret\.key/);
    });
  });

  describe('is accepted', () => {
    it('once, in words: note and snapshot go, and the log goes on with a new note', async () => {
      const log = await made(7);
      const snapshot = join(folder, 'read-models.snapshot');
      await writeSnapshot(snapshot, { log, version: 'v' }, { position: 6, event: 'x' }, []);
      assert.match(await accept(), /names another event at position 6; 2 missing/);
      assert.ok(!existsSync(snapshot) && !existsSync(note));
      await made(0);
      assert.match(await accept(), /Nothing is missing or damaged; nothing was changed/);
      assert.ok(existsSync(note));
      cutTo(4);
      assert.match(await accept(), /position 7 .* position 4 .*; 3 missing\nThis is accepted now/);
      assert.match(await accept(), /Nothing is missing/);
      await (await open()).append('job-a', 3, [newEvent()]);
      assert.equal(readNote(file)[0]?.position, 5);
    });
    it('when the file is gone', async () => {
      await made(7);
      rmSync(file);
      rmSync(`${file}-wal`, { force: true });
      assert.match(await accept(), /is gone, but its note .* 7 missing/);
      assert.equal(await (await open()).head(), 0);
    });
    it('only while nobody writes to it', async () => {
      await open();
      await assert.rejects(accept(), /Another process is writing to the log/);
    });

    it('only where there is or was one', () => assert.rejects(accept(), /There is no log at/));
  });

  it('stops a service, which starts again once that was accepted', async () => {
    const service = await startService({}, folder);
    assert.equal(
      (await service.ask('PATCH', '/group-mappings/ldap/a', { updates: { platformGroups: ['x'] } })).status,
      200,
    );
    await service.stop();
    const db = openFile(file, { timeout: 5000 });
    db.exec('DELETE FROM events WHERE position = (SELECT max(position) FROM events)');
    db.close();
    await assert.rejects(
      startService({}, folder),
      /EVENTSTORE_URL sqlite:.*: The event log has lost events: .*groupMapping-.*; 1 missing\. .*automation-platform log accept$/,
    );
    const accepting = await runInProcess(['log', 'accept'], { DATA_DIR: folder });
    assert.equal(accepting.status, 0);
    assert.match(accepting.err, /1 missing\nThis is accepted now/);
    const again = await startService({}, folder);
    assert.equal((await again.ask('GET', '/group-mappings/ldap/a')).status, 404);
    assert.equal((await again.ask('GET', '/health/status')).body.eventStore.noteFault, null);
    await again.stop();
  });
});

import assert from 'node:assert/strict';
import {
  createWriteStream,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { identityStream } from '@automation-platform/event-log';
import { backupFile } from '../../../src/cli/commands/backup.ts';
import { exportFile } from '../../../src/cli/commands/export.ts';
import { importFile } from '../../../src/cli/commands/import.ts';
import { replayLog } from '../../../src/cli/commands/replay.ts';
import { restoreFile } from '../../../src/cli/commands/restore.ts';
import { showCompared } from '../../../src/cli/records.ts';
import { readConfig } from '../../../src/config.ts';
import { compareFolds, foldLog } from '../../../src/projections/foldLog.ts';
import { identityEvent, readIdentity } from '../../../src/store/identity.ts';
import { content, contentOfEvent } from '../../../src/store/moving/content.ts';
import { openRemoteToCopy } from '../../../src/store/open.ts';
import type { EventStore, LogReads, StoredEvent } from '../../../src/store/port.ts';
import { acceptDamage } from '../../../src/store/sqlite/accept.ts';
import { openFile } from '../../../src/store/sqlite/log.ts';
import { readNote } from '../../../src/store/sqlite/note.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { auditKey } from '../../support/auditKey.ts';
import { runInProcess } from '../../support/command.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { heard, writeLog } from '../../support/movingLog.ts';
import { temporaryFolder } from '../../support/process.ts';
import { sampled } from '../../support/sample.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { startService } from '../../support/service.ts';
import { newEvent } from '../../support/store.contract.ts';

const never = new AbortController().signal;
const quiet = () => heard().output;

describe('moving a log', function () {
  this.timeout(300_000);
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const fileOf = (name: string): string => join(folder, name, 'events.db');
  const configOf = (name: string) => readConfig({ DATA_DIR: join(folder, name) });
  const exported = (): string => join(folder, 'export.ndjson');

  /** A log of so many events. */
  const made = (name: string, events: number): void => {
    mkdirSync(join(folder, name));
    writeLog(fileOf(name), events);
  };
  const reading = async <T>(name: string, work: (store: EventStore) => Promise<T>): Promise<T> => {
    const store = await openSqliteReader(fileOf(name));
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  const writing = async <T>(name: string, work: (store: EventStore) => Promise<T>): Promise<T> => {
    const store = await openSqliteStore({ file: fileOf(name) });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  const eventsIn = async (store: LogReads): Promise<readonly Omit<StoredEvent, 'position'>[]> => {
    const events = [];
    for await (const { position: _, ...event } of content(store, { skipped: new Set() })) events.push(event);
    return events;
  };
  const eventsOf = (name: string) => reading(name, eventsIn);
  const idOf = (name: string) => reading(name, async ({ id }) => id);
  const exportTo = async (name: string, more: Record<string, string> = {}): Promise<string> => {
    const output = new PassThrough();
    const messages = heard();
    const writingFile = pipeline(output, createWriteStream(exported()));
    const config = readConfig({ DATA_DIR: join(folder, name), ...more });
    await exportFile(config, never, { output, messages: messages.output });
    output.end();
    await writingFile;
    return messages.text();
  };
  const importTo = (name: string) => importFile(configOf(name), exported(), never, quiet());
  const linesOf = (): string[] => readFileSync(exported(), 'utf8').trimEnd().split('\n');
  const writeLines = (lines: readonly string[]): void => writeFileSync(exported(), `${lines.join('\n')}\n`);

  it('tells of events that the platform would not write so, and brings them in', async () => {
    mkdirSync(join(folder, 'a'));
    writeLog(fileOf('a'), 20, (position) => (position === 12 ? 'g12' : [`g${position}`]));
    const note =
      /20 events .*\nEvents that do not say .* topics: 1; the first is at position 12 \(event 0 of .* m12\): \/platformGroups must be array\n/;
    await exportTo('a');
    const ways: Readonly<Record<string, (output: PassThrough) => Promise<void>>> = {
      b: (output) => importFile(configOf('b'), exported(), never, output),
      c: async (output) => {
        await backupFile(configOf('a'), join(folder, 'a.db'), quiet());
        await restoreFile(configOf('c'), join(folder, 'a.db'), output);
      },
    };
    for (const [name, bringIn] of Object.entries(ways)) {
      const { output, text } = heard();
      await bringIn(output);
      assert.match(text(), note, name);
      assert.deepEqual(await eventsOf(name), await eventsOf('a'));
    }
  });

  describe('by export and import', () => {
    it('gives the same events, all documents, and a log of its own', async () => {
      made('a', 300);
      const said = await exportTo('a');
      assert.match(said, /300 events exported; the export is not signed, because no signing key is at hand/);
      await importTo('b');
      assert.deepEqual(await eventsOf('b'), await eventsOf('a'));
      assert.notEqual(await idOf('b'), await idOf('a'));
      const [note] = readNote(fileOf('b'));
      assert.deepEqual([note?.log, note?.position], [await idOf('b'), 300]);
      assert.ok(!existsSync(join(folder, 'b', 'importing')));
      const folds = await Promise.all(
        ['a', 'b'].map((name) =>
          reading(name, async (store) => {
            const fold = await foldLog(store);
            await fold.foldTo();
            return fold;
          }),
        ),
      );
      const collections = await compareFolds(folds[0]!, folds[1]!);
      assert.equal(collections.find(({ name }) => name === 'groupMappings')?.documents, 97);
      assert.deepEqual(
        collections.flatMap(({ differences }) => differences),
        [],
      );
    });

    describe('of more than ten thousand events', () => {
      /** The lines of an export. */
      let good: readonly string[];
      before(async () => {
        folder = temporaryFolder();
        made('a', 10_050);
        await exportTo('a');
        good = linesOf();
        rmSync(folder, { recursive: true });
      });

      it('is NDJSON with a head, a checksum after 10,000 lines, and an end that says that it is not signed', () => {
        const lines = good.map((line) => JSON.parse(line));
        const { log, format, readers } = lines[0].export;
        assert.deepEqual([typeof log, format, readers], ['string', 1, {}]);
        assert.deepEqual(
          lines.flatMap(({ checksum }, n) => (checksum === undefined ? [] : [n])),
          [10_000],
        );
        const { events, key, signature } = lines.at(-1).end;
        assert.deepEqual([events, key, signature], [10_050, null, null]);
        assert.equal(lines.length, 10_050 + 3);
      });

      it('names the first line that is wrong, and stores nothing of its ten thousand', async () => {
        const altered = (n: number, from: string | RegExp, to: string): string[] =>
          good.map((line, at) => (at === n ? line.replace(from, to) : line));
        const cases: readonly (readonly [string, readonly string[], RegExp])[] = [
          ['an event that is altered', altered(4, '\\"g4\\"', '\\"g5\\"'), /^Error|line 5: .*not what was written/],
          [
            'an event of another tool that is altered',
            altered(10, 'position\\":10', 'position\\":11'),
            /line 11: .*not what was written/,
          ],
          ['a line that is no JSON', altered(6, '{', '['), /line 7: it is no JSON object/],
          ['a line that is missing', good.toSpliced(200, 1), /line \d+: /],
          ['lines in another order', good.toSpliced(200, 2, good[201]!, good[200]!), /line 202: position 200 follows/],
          ['a checksum that is altered', altered(10_000, /"checksum":"./, '"checksum":"x'), /line 10001: the checksum/],
          ['a checksum that is missing', good.toSpliced(10_000, 1), /line 10001: a checksum is missing/],
          ['an end that counts wrongly', altered(10_052, '10050', '10051'), /line 10053: the end counts 10051/],
          ['a digest that is altered', altered(10_052, /"digest":"./, '"digest":"-'), /line 10053: the digest/],
          ['a file without its end', good.slice(0, -1), /line 10053: the export has no end/],
          ['something after the end', [...good, '{}'], /line 10054: nothing follows/],
          ['another file', ['{"a":1}'], /line 1: this is no export/],
          ['a later format', altered(0, '"format":1', '"format":2'), /line 1: .*not 2/],
        ];
        for (const [n, [what, lines, message]] of sampled(cases, 3).entries()) {
          writeLines(lines);
          await assert.rejects(importTo(`b${n}`), message, what);
          assert.ok(!existsSync(fileOf(`b${n}`)), `${what}: there is no log`);
          const begun = join(folder, `b${n}`, 'importing', 'events.db');
          const store = await openSqliteReader(begun);
          const line = Number(/line (\d+)/.exec(String(message))?.[1] ?? 1);
          const stored = line > 10_053 ? 10_050 : 9_999;
          assert.equal(await store.head(), line > 10_001 ? stored : 0, what);
          await store.close();
        }
        // Cut in the middle of a line.
        writeFileSync(exported(), `${good.slice(0, 20).join('\n')}\n${good[20]!.slice(0, 30)}`);
        await assert.rejects(importTo('cut'), /line 21: the file is cut off here/);
      });

      it('goes on after a stop, and takes no other export then', async () => {
        writeLines(good.slice(0, 10_020));
        await assert.rejects(importTo('b'), /line 10021/);
        made('other', 30);
        await exportTo('other');
        await assert.rejects(importTo('b'), /line 2: an earlier import has stored another event here/);
        writeLines(good);
        const { output, text } = heard();
        await importFile(configOf('b'), exported(), never, output);
        assert.match(text(), /10050 events imported, 9999 were there already/);
        await exportTo('b');
        const events = (lines: readonly string[]) => lines.filter((line) => !/^\{"(export|checksum|end)"/.test(line));
        assert.equal(events(good).length, 10_050);
        assert.deepEqual(events(linesOf()), events(good));
      });
    });

    it('carries what was accepted of a damaged log, settings of streams, and their ends', async () => {
      made('a', 50);
      const db = openFile(fileOf('a'), { timeout: 0 });
      db.exec(`UPDATE events SET data = '{"platformGroups":["other"]}' WHERE position = 7`);
      db.close();
      await assert.rejects(exportTo('a'), /damaged at position 7/);
      acceptDamage(fileOf('a'));
      await exportTo('a');
      await importTo('b');
      assert.deepEqual(await eventsOf('b'), await eventsOf('a'));
    });

    it('is found wrong wherever one byte is another', async () => {
      made('a', 30);
      await exportTo('a');
      const good = readFileSync(exported());
      const passed: number[] = [];
      for (let n = 0; n < 8; n++) {
        const bytes = Buffer.from(good);
        const at = Math.floor((n * good.length) / 8) + (n % 7);
        bytes[at] = bytes[at]! ^ 1;
        writeFileSync(exported(), bytes);
        await importTo(`b${n}`).then(
          () => passed.push(at),
          (error: Error) => assert.match(error.message, /line/i),
        );
      }
      assert.deepEqual(passed, []);
    });

    it('refuses a log that has events, and a file that is not there', async () => {
      made('a', 3);
      made('b', 4);
      await exportTo('a');
      await assert.rejects(importTo('b'), /There is a log with 4 events/);
      await assert.rejects(importFile(configOf('c'), join(folder, 'nowhere'), never, quiet()), /There is no file/);
      await writing('d', async () => {
        await assert.rejects(importTo('d'), /Another process is writing/);
      });
    });

    it('brings back a past: readers of triggers and their cursors are at the head, reactions where they were', async () => {
      made('a', 40);
      await writing('a', async (store) => {
        await store.append(identityStream, -1, [identityEvent(store.id)]);
        await store.append('orders-2', -1, [newEvent(1), newEvent(2)]);
        await store.setCheckpoint('reactions', 42);
        await store.setCheckpoint('triggers', 30);
        await store.setCheckpoint('triggers:5f0', 10);
      });
      await exportTo('a');
      assert.deepEqual(JSON.parse(linesOf()[0]!).export.readers, { reactions: 42, triggers: 30, 'triggers:5f0': 10 });
      await importTo('b');
      await reading('b', async (store) => {
        // The identity is not carried, so positions after it are one less.
        assert.equal(await store.head(), 42);
        assert.equal(await store.checkpoint('reactions'), 41);
        assert.equal(await store.checkpoint('triggers'), 42);
        assert.deepEqual([...(await store.checkpointsOf('triggers')).values()], [42]);
        assert.equal(await store.checkpoint('stage-done'), undefined);
      });
    });

    it('out of and into EventStoreDB; no service starts there before the import is complete', async () => {
      made('a', 60);
      await exportTo('a');
      const server = await scriptedEventStore(memoryEventStore().handlers);
      try {
        const settings = { EVENTSTORE_URL: server.url, SECRET_KEY: 'x'.repeat(16), AUDIT_KEY: auditKey };
        const config = readConfig({ DATA_DIR: join(folder, 'b'), ...settings });
        await importFile(config, exported(), never, quiet());
        const remote = await openRemoteToCopy({ url: server.url, log: () => undefined });
        const ids = async () => (await eventsIn(remote)).map(({ id, stream, revision }) => [id, stream, revision]);
        assert.deepEqual(
          await ids(),
          (await eventsOf('a')).map(({ id, stream, revision }) => [id, stream, revision]),
        );
        assert.equal(await remote.checkpoint('triggers'), await lastPosition(remote));
        // Before anything is made, and without a word of what was imported.
        const { output, text } = heard();
        await assert.rejects(importFile(config, exported(), never, output), /has events already/);
        assert.equal(text(), '');
        assert.ok(!existsSync(join(folder, 'b', 'importing')));
        await remote.setCheckpoint('importing', 0);
        await assert.rejects(startService(settings, join(folder, 'c')), /An import into this event log has not come/);
        await importFile(config, exported(), never, quiet());
        assert.equal(await remote.checkpoint('importing'), undefined);
        await remote.close();
        await exportTo('b', settings);
        await importTo('back');
        // EventStoreDB keeps no times of other tools' events.
        const shownOf = async (name: string) =>
          (await eventsOf(name)).map((event) => contentOfEvent(event as StoredEvent));
        assert.deepEqual(await shownOf('back'), await shownOf('a'));
      } finally {
        await server.stop();
      }
    });
  });

  const lastPosition = async (store: LogReads): Promise<number> => {
    let last = 0;
    for await (const event of content(store, { skipped: new Set() })) last = event.position;
    return last;
  };

  describe('by backup and restore', () => {
    const backup = (): string => join(folder, 'backup.db');

    it('while the service runs: every change that was answered before is there, and the log has a new id', async () => {
      const service = await startService({}, join(folder, 'a'));
      const change = (name: string) =>
        service.ask('PATCH', `/group-mappings/ldap/${name}`, { updates: { platformGroups: [name] } });
      for (let n = 0; n < 20; n++) assert.equal((await change(`before-${n}`)).status, 200);
      let done = false;
      const changing = (async () => {
        for (let n = 0; !done; n++) assert.equal((await change(`meanwhile-${n % 50}`)).status, 200);
      })();
      const { output, text } = heard();
      await backupFile(configOf('a'), backup(), output);
      done = true;
      await changing;
      assert.match(text(), /events are in .*backup.db, and were checked\. Keep secret\.key elsewhere/);
      await assert.rejects(restoreFile(configOf('a'), backup(), quiet()), /Another process is writing/);
      await service.stop();

      const before = await idOf('a');
      await restoreFile(configOf('a'), backup(), quiet());
      assert.notEqual(await idOf('a'), before);
      const again = await startService({}, join(folder, 'a'));
      for (let n = 0; n < 20; n++)
        assert.equal((await again.ask('GET', `/group-mappings/ldap/before-${n}`)).status, 200);
      assert.equal(
        (await again.ask('PATCH', '/group-mappings/ldap/after', { updates: { platformGroups: ['x'] } })).status,
        200,
      );
      await again.stop();
    });

    it('keeps the log that was there, writes the note anew, and removes what it worked with', async () => {
      made('a', 30);
      await backupFile(configOf('a'), backup(), quiet());
      await writing('a', async (store) => {
        await store.append('orders-2', -1, [newEvent(1)]);
      });
      const kept = await eventsOf('a');
      const { output, text } = heard();
      await restoreFile(configOf('a'), backup(), output);
      assert.match(text(), /30 events restored from .*\nThe log that was there is .*events\.db\.replaced/);
      assert.equal((await eventsOf('a')).length, 30);
      const [note, other] = readNote(fileOf('a'));
      assert.deepEqual([note?.log, note?.position, other], [await idOf('a'), 30, undefined]);
      const store = await openSqliteReader(`${fileOf('a')}.replaced`);
      assert.deepEqual(await eventsIn(store), kept);
      await store.close();
      assert.ok(!existsSync(join(folder, 'a', 'restoring')));
    });

    it('done again, or after a kill, keeps each log that was there', async () => {
      made('a', 30);
      await backupFile(configOf('a'), backup(), quiet());
      await writing('a', async (store) => {
        await store.append('orders-2', -1, [newEvent(1)]);
      });
      const eventsAt = async (name: string) => {
        const store = await openSqliteReader(name);
        const events = await eventsIn(store);
        await store.close();
        return events.length;
      };
      // As after a kill between the two steps: the log has its second name already.
      linkSync(fileOf('a'), `${fileOf('a')}.replaced`);
      await restoreFile(configOf('a'), backup(), quiet());
      assert.ok(!existsSync(`${fileOf('a')}.replaced-2`));
      assert.equal(await eventsAt(`${fileOf('a')}.replaced`), 31);
      await restoreFile(configOf('a'), backup(), quiet());
      assert.deepEqual(
        [await eventsAt(`${fileOf('a')}.replaced`), await eventsAt(`${fileOf('a')}.replaced-2`)],
        [31, 30],
      );
    });

    it('brings back a past: readers at the head, and an identity of its own', async () => {
      made('a', 30);
      await writing('a', async (store) => {
        await store.append(identityStream, -1, [identityEvent(store.id)]);
        await store.setCheckpoint('reactions', 12);
        await store.setCheckpoint('triggers', 13);
        await store.setCheckpoint('triggers:5f0', 3);
      });
      await backupFile(configOf('a'), backup(), quiet());
      await restoreFile(configOf('b'), backup(), quiet());
      await reading('b', async (store) => {
        assert.equal(await readIdentity(store), store.id);
        assert.equal(await store.checkpoint('reactions'), 12);
        assert.equal(await store.checkpoint('triggers'), 31);
        assert.deepEqual([...(await store.checkpointsOf('triggers'))], [['triggers:5f0', 31]]);
        for await (const { events } of store.readAll(0)) assert.equal(events.length, 31);
      });
    });

    it('takes no backup of a damaged log, and keeps the earlier one', async () => {
      made('a', 30);
      await backupFile(configOf('a'), backup(), quiet());
      const before = readFileSync(backup());
      const db = openFile(fileOf('a'), { timeout: 0 });
      db.exec(`UPDATE events SET data = '{}' WHERE position = 9`);
      db.close();
      await assert.rejects(backupFile(configOf('a'), backup(), quiet()), /damaged at position 9/);
      assert.deepEqual(readFileSync(backup()), before);
      assert.ok(!existsSync(`${backup()}.new`));
    });

    it('replaces nothing by a backup that is damaged, cut off, or none', async () => {
      made('a', 30);
      await backupFile(configOf('a'), backup(), quiet());
      const before = readFileSync(fileOf('a'));
      const good = readFileSync(backup());
      const db = openFile(backup(), { timeout: 0 });
      db.exec(`UPDATE events SET metadata = '{}' WHERE position = 20`);
      db.close();
      await assert.rejects(restoreFile(configOf('a'), backup(), quiet()), /damaged at position 20/);
      for (const [bytes, message] of [
        [good.subarray(0, good.length / 2), /malformed|damaged|corrupt/i],
        [Buffer.from('nothing of the kind'), /is no backup of a log/],
        [Buffer.alloc(0), /is no backup of a log/],
      ] as const) {
        writeFileSync(backup(), bytes);
        await assert.rejects(restoreFile(configOf('a'), backup(), quiet()), message);
      }
      await assert.rejects(restoreFile(configOf('a'), join(folder, 'nowhere'), quiet()), /There is no file/);
      await assert.rejects(restoreFile(configOf('a'), fileOf('a'), quiet()), /is the log itself/);
      assert.deepEqual(readFileSync(fileOf('a')), before);
    });

    it('overwrites no file that is no backup, and is not for EventStoreDB', async () => {
      made('a', 3);
      writeFileSync(backup(), 'a letter');
      await assert.rejects(backupFile(configOf('a'), backup(), quiet()), /is there and is no backup of a log/);
      assert.equal(readFileSync(backup(), 'utf8'), 'a letter');
      const nowhere = join(folder, 'disk', 'backup.db');
      await assert.rejects(backupFile(configOf('a'), nowhere, quiet()), /There is no folder .*disk for the backup/);
      assert.ok(!existsSync(join(folder, 'disk')));
      await assert.rejects(backupFile(configOf('a'), fileOf('a'), quiet()), /cannot be the log itself/);
      await assert.rejects(backupFile(configOf('b'), backup(), quiet()), /There is no log at/);
      await assert.rejects(backupFile(configOf('a'), folder, quiet()), /is there and is no backup of a log/);
      const remote = readConfig({
        DATA_DIR: folder,
        EVENTSTORE_URL: 'esdb://localhost?tls=false',
        SECRET_KEY: 'x'.repeat(16),
        AUDIT_KEY: auditKey,
      });
      await assert.rejects(backupFile(remote, join(folder, 'c.db'), quiet()), /is for a log in a file/);
      await assert.rejects(restoreFile(remote, join(folder, 'c.db'), quiet()), /is for a log in a file/);
    });

    it('knows the log under another path, and the log of another service', async () => {
      made('a', 3);
      const service = await openSqliteStore({ file: fileOf('a') });
      await service.append('orders-9', -1, [newEvent(1)]);
      symlinkSync(join(folder, 'a'), join(folder, 'link'));
      await assert.rejects(
        backupFile(configOf('link'), fileOf('a'), quiet()),
        /is the log of a service, and no backup/,
      );
      made('b', 3);
      await assert.rejects(backupFile(configOf('b'), fileOf('a'), quiet()), /is the log of a service, and no backup/);
      await service.close();
      await assert.rejects(restoreFile(configOf('link'), fileOf('a'), quiet()), /is the log itself/);
      assert.equal((await eventsOf('a')).length, 4);
    });

    it('puts a log in the place of one that is damaged, and of a WAL that is left of one', async () => {
      made('a', 30);
      await backupFile(configOf('a'), backup(), quiet());
      mkdirSync(join(folder, 'b'));
      writeFileSync(fileOf('b'), 'x'.repeat(5000));
      writeFileSync(`${fileOf('b')}-wal`, 'y'.repeat(5000));
      await restoreFile(configOf('b'), backup(), quiet());
      assert.deepEqual(await eventsOf('b'), await eventsOf('a'));
      assert.equal(readFileSync(`${fileOf('b')}.replaced-wal`, 'utf8')[0], 'y');
    });
  });

  describe('by replay', () => {
    it('copies the log and finds the same documents in both', async () => {
      made('a', 200);
      const collections = await replayLog(`sqlite:${fileOf('a')}`, `sqlite:${fileOf('b')}`, never, quiet());
      const output = heard();
      assert.equal(await showCompared(collections, output.output), false);
      const lines = output
        .text()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual(
        lines.find(({ name }) => name === 'groupMappings'),
        { name: 'groupMappings', documents: 97, differences: [] },
      );
      assert.deepEqual(await eventsOf('b'), await eventsOf('a'));
    });

    it('tells which documents differ', async () => {
      made('a', 96);
      made('b', 98);
      const [one, other] = await Promise.all(
        ['a', 'b'].map((name) =>
          reading(name, async (store) => {
            const fold = await foldLog(store);
            await fold.foldTo();
            return fold;
          }),
        ),
      );
      const collections = await compareFolds(one!, other!);
      const { documents, differences } = collections.find(({ name }) => name === 'groupMappings')!;
      assert.equal(documents, 87);
      assert.deepEqual(differences, ['ldap m0', 'ldap m1']);
      assert.equal(await showCompared(collections, quiet()), true);
    });
  });

  it('the commands do it: export > file, import <file>, backup <file>, restore <file>, replay <from> <to>', async () => {
    made('a', 30);
    const run = (name: string, ...words: string[]) => runInProcess(words, { DATA_DIR: join(folder, name) });
    const { status, out, err } = await run('a', 'export');
    assert.equal(status, 0, err);
    writeFileSync(exported(), out);
    const results = [
      await run('b', 'import', exported()),
      await run('b', 'backup', join(folder, 'backup.db')),
      await run('c', 'restore', join(folder, 'backup.db')),
      await run('c', 'replay', `sqlite:${fileOf('c')}`, `sqlite:${fileOf('d')}`),
    ];
    assert.deepEqual(
      results.map((result) => [result.status, result.err.includes('Error')]),
      results.map(() => [0, false]),
      results.map((result) => result.err).join(''),
    );
    assert.deepEqual(await eventsOf('d'), await eventsOf('a'));
    writeFileSync(exported(), out.replace('"g3', '"g4').replace('\\"g3', '\\"g4'));
    const wrong = await run('e', 'import', exported());
    assert.deepEqual([wrong.status, /^line \d+: /.test(wrong.err)], [1, true], wrong.err);
  });
});

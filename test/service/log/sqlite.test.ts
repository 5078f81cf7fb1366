import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { EventStore, StoredEvent } from '../../../src/store/port.ts';
import { connect, openFile } from '../../../src/store/sqlite/log.ts';
import { openSqliteReader, openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts';
import { inodeOf, openTransactions } from '../../../src/store/sqlite/transactions.ts';
import { fromSource } from '../../support/fromSource.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { storedIn } from '../../support/logged.ts';
import { sampled } from '../../support/sample.ts';
import { gather, newEvent, newEvents, newStream, refused, storeContract } from '../../support/store.contract.ts';

storeContract('sqlite', (folder) => openSqliteStore({ file: join(folder, 'events.db') }));

const children: ChildProcess[] = [];

const child = (file: string, shell = ''): ChildProcess => {
  const program = fileURLToPath(new URL('../../support/crash/appendUntilRefused.ts', import.meta.url));
  const running = spawn(
    'bash',
    ['-c', `${shell} exec "$0" ${fromSource().join(' ')} "$1" "$2"`, process.execPath, program, file],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  children.push(running);
  return running;
};

/** What a child has been told is stored, by stream and revision, and its last words. */
const listen = async (running: ChildProcess, heard: (count: number) => void = () => undefined) => {
  const stored = new Map<string, string>();
  let ended: string | undefined;
  let errors = '';
  running.stderr!.on('data', (text: Buffer) => (errors += text));
  const closed = once(running, 'close');
  for await (const line of createInterface({ input: running.stdout! })) {
    const [word, stream, revision, id] = line.split(' ') as [string, string, string, string];
    if (word === 'stored') stored.set(`${stream} ${revision}`, id);
    else ended = line.slice(word.length + 1);
    heard(stored.size);
  }
  await closed;
  return { stored, ended, errors };
};

/** That the log has everything that was acknowledged, positions and revisions without gaps. */
const assertKept = (events: readonly StoredEvent[], stored: ReadonlyMap<string, string>): void => {
  const ids = new Map(events.map(({ stream, revision, id }) => [`${stream} ${revision}`, id]));
  for (const [key, id] of stored) assert.equal(ids.get(key), id, key);
  assert.deepEqual(
    events.map(({ position }) => position),
    events.map((_, n) => n + 1),
  );
  const next = new Map<string, number>();
  for (const { stream, revision } of events) {
    assert.equal(revision, next.get(stream) ?? 0, stream);
    next.set(stream, revision + 1);
  }
};

describe('the log in a SQLite file', () => {
  let folder: string;
  let file: string;
  let opened: EventStore[];
  const open = async (more: { readonly patienceMs?: number } = {}): Promise<SqliteStore> => {
    const store = await openSqliteStore({ file, ...more });
    opened.push(store);
    return store;
  };
  const openReader = async (): Promise<EventStore> => {
    const store = await openSqliteReader(file);
    opened.push(store);
    return store;
  };
  beforeEach(async () => {
    folder = join(await mkdtemp(join(tmpdir(), 'sqlite-')), 'data');
    file = join(folder, 'events.db');
    opened = [];
  });
  afterEach(async () => {
    for (const running of children.splice(0)) running.kill('SIGKILL');
    await Promise.all(opened.map((store) => store.close()));
    await rm(join(folder, '..'), { recursive: true });
  });

  describe('when it is opened', () => {
    it('is made empty, with an id of its own, in a folder and files for the owner only', async () => {
      const store = await open();
      assert.equal(await store.head(), 0);
      assert.deepEqual(await store.append('a-1', -1, [newEvent()]), { revision: 0, position: 1 });
      assert.equal(statSync(folder).mode & 0o777, 0o700);
      for (const name of await readdir(folder)) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
      const { id } = store;
      file = join(folder, 'other', 'events.db');
      assert.notEqual((await open()).id, id);
    });
    it('is in WAL mode with an fsync per commit, or refused', async () => {
      await open();
      const db = openFile(file, { timeout: 5000 });
      assert.deepEqual(db.prepare('PRAGMA journal_mode').get(), ['wal']);
      db.close();
      assert.throws(() => connect(':memory:'), /cannot be written durably: journal_mode is memory/);
    });
    it('is refused when the file is something else, or of a later version', async () => {
      await mkdir(folder, { recursive: true });
      await writeFile(file, 'no database at all, but long enough to look into'.repeat(100));
      await assert.rejects(open(), /not a database/);
      await rm(file);
      await assert.rejects(openReader(), refused('not_found'));
      await (await open()).close();
      const db = openFile(file, { timeout: 5000 });
      db.exec('UPDATE log SET version = 3');
      await assert.rejects(open(), /log of version 3; this program reads versions up to 2/);
      await assert.rejects(openReader(), /log of version 3/);
      db.exec('DROP TABLE log');
      await assert.rejects(openReader(), /is no log/);
      db.close();
    });
    it('is refused while it is open in this process', async () => {
      const store = await open();
      await assert.rejects(open(), (error: Error) => refused('unavailable')(error) && error.message.includes(folder));
      await store.append('a-1', -1, [newEvent()]);
      await store.close();
      assert.equal(await (await open()).head(), 1);
    });
    it('is refused to a second process, which names the folder', async () => {
      const store = await open();
      const { errors, stored } = await listen(child(file));
      assert.match(errors, new RegExp(`Another process is writing to the log in ${folder}`));
      assert.equal(stored.size, 0);
      await assert.rejects(open(), refused('unavailable'));
      await store.append('a-1', -1, [newEvent()]);
    });
    it('is refused until the process that has it is gone, even if that is killed', async () => {
      const other = child(file);
      let check: Promise<void> | undefined;
      await listen(other, () => {
        check ??= assert.rejects(open(), refused('unavailable')).finally(() => other.kill('SIGKILL'));
      });
      await check;
      assert.ok((await (await open()).head()) > 0);
    });
  });

  describe('while it is written', () => {
    it('shares one transaction and one fsync among the appends that wait', async () => {
      const store = await open();
      await Promise.all(Array.from({ length: 500 }, () => store.append(newStream(), -1, newEvents(2))));
      const { commits, appends, events } = store.stats();
      assert.deepEqual({ appends, events }, { appends: 500, events: 1000 });
      assert.ok(commits < 100, `${commits} commits`);
    });
    it('can be read through another connection, and changed by nobody else', async () => {
      const store = await open();
      const reader = await openReader();
      assert.equal(reader.id, store.id);
      let stop = false;
      const writing = Promise.all(
        Array.from({ length: 8 }, async () => {
          const stream = newStream();
          for (let revision = -1; !stop; revision += 2) await store.append(stream, revision, newEvents(2));
        }),
      );
      for (let seen = 0; seen < 500; ) {
        const events = await storedIn(reader);
        assertKept(events, new Map());
        assert.equal(events.length % 2, 0);
        seen = events.length;
        await new Promise(setImmediate);
      }
      stop = true;
      await writing;
      await assert.rejects(reader.append('a-1', -1, [newEvent()]), refused('unavailable'));
      await assert.rejects(reader.setCheckpoint('a', 1), refused('unavailable'));
      await assert.rejects(reader.removeCheckpoint('a'), refused('unavailable'));
    });
    it('can be followed through another connection', async () => {
      const store = await open();
      await store.append('a-1', -1, [newEvent()]);
      const enough = new AbortController();
      const seen: number[] = [];
      for await (const { events } of (await openReader()).follow(0, undefined, enough.signal)) {
        seen.push(...events.map(({ revision }) => revision));
        if (seen.length < 3) await store.append('a-1', seen.length - 1, [newEvent()]);
        else enough.abort();
      }
      assert.deepEqual(seen, [0, 1, 2]);
    });
    it('keeps the WAL short', async () => {
      const store = await open();
      await Promise.all(
        Array.from({ length: 256 }, async () => {
          const stream = newStream();
          for (let revision = -1; revision < 23; revision++)
            await store.append(stream, revision, [newEvent('x'.repeat(2000))]);
        }),
      );
      const size = statSync(`${file}-wal`).size;
      assert.ok(size < 32 * 1024 * 1024, `the WAL has ${size} bytes`);
      assert.ok(statSync(file).size > 6000 * 2000 * 0.5);
    });
    itInSoak('cuts the WAL again that a reader has let grow', async () => {
      const store = await open();
      const stream = newStream();
      let revision = -1;
      const append = async (megabytes: number): Promise<void> => {
        for (let n = 0; n < megabytes * 2; n++) await store.append(stream, revision++, [newEvent('x'.repeat(500_000))]);
      };
      const walSize = (): number => statSync(`${file}-wal`).size / 1024 / 1024;
      const db = openFile(file, { timeout: 5000 });
      db.exec('BEGIN');
      db.prepare('SELECT count(*) FROM events').get();
      await append(50);
      assert.ok(walSize() > 45);
      db.exec('COMMIT');
      db.close();
      await append(50);
      assert.ok(walSize() < 40, `the WAL has ${walSize()} MiB`);
      assert.equal((await gather(store.read(stream))).length, 200);
    });
    it('is opened to write only if it is as its writer left it', async () => {
      const store = await open();
      await store.append('a-1', -1, [newEvent()]);
      await store.close();
      const inode = inodeOf(file);
      const left = (position: number, id: string) => () =>
        openTransactions({ file }, { inode, acknowledged: { position, id } });
      assert.throws(left(2, 'x'), /lacks the event at position 2, which was acknowledged/);
      assert.throws(left(1, 'x'), /lacks the event at position 1, which was acknowledged/);
      await rename(file, `${file}.other`);
      await copyFile(`${file}.other`, file);
      assert.throws(
        () => openTransactions({ file }, { inode, acknowledged: undefined }),
        /is not the file that was opened/,
      );
    });
    it('refuses an append that another program holds up, and takes the next', async () => {
      const store = await open({ patienceMs: 20 });
      const db = openFile(file, { timeout: 5000 });
      db.exec('BEGIN IMMEDIATE');
      await assert.rejects(store.append('a-1', -1, [newEvent()]), refused('unavailable'));
      db.exec('ROLLBACK');
      db.close();
      assert.equal(store.fault(), undefined);
      assert.deepEqual(await store.append('a-1', -1, [newEvent()]), { revision: 0, position: 1 });
    });
    it('stops for good when another program has changed it', async () => {
      const store = await open();
      await store.append('a-1', -1, [newEvent()]);
      const db = openFile(file, { timeout: 5000 });
      db.exec("INSERT INTO events VALUES (2, 'a-1', 1, 'x', 'x', '{}', '{}')");
      db.close();
      await assert.rejects(store.append('a-1', 0, [newEvent()]), refused('unavailable'));
      await assert.rejects(store.append('a-2', -1, [newEvent()]), refused('unavailable'));
      assert.match(store.fault() ?? '', /UNIQUE/);
      assert.equal((await gather(store.read('a-1'))).length, 2);
    });
  });

  describe('when it is read', () => {
    it('gives long events in small parts', async () => {
      const store = await open();
      for (let n = 0; n < 12; n++)
        await store.append('a-1', n * 11 - 1, [newEvent('x'.repeat(400_000)), ...newEvents(10)]);
      const lengths: number[] = [];
      for await (const { events } of store.readAll(0))
        lengths.push(events.reduce((sum, { data }) => sum + data.length, 0));
      assert.ok(Math.max(...lengths) <= 2 * 1024 * 1024);
      assert.ok(lengths.length < 10);
      assert.equal((await gather(store.read('a-1'))).length, 132);
    });
    it('can be read backwards, a stream and the whole log', async () => {
      const store = await open();
      const stream = newStream();
      for (let n = 0; n < 3; n++) {
        await store.append(stream, 500 * n - 1, newEvents(500));
        await store.append(newStream(), -1, newEvents(300));
      }
      const all = await storedIn(store);
      const ofStream = await gather(store.read(stream));
      assert.deepEqual(await gather(store.readBack(stream, 1499)), ofStream.toReversed());
      assert.deepEqual(await gather(store.readBack(stream, 700)), ofStream.slice(0, 701).toReversed());
      assert.deepEqual(await gather(store.readBack(newStream(), 5)), []);
      assert.deepEqual(await gather(store.readBack(stream, -1)), []);
      assert.deepEqual(await gather(store.readAllBack(2401)), all.toReversed());
      assert.deepEqual(await gather(store.readAllBack(1000)), all.slice(0, 999).toReversed());
      assert.deepEqual(await gather(store.readAllBack(1)), []);
      assert.deepEqual(
        await store.newest(stream, 2),
        ofStream
          .slice(-2)
          .toReversed()
          .map(({ revision, position, id, type }) => ({ revision, position, id, type })),
      );
      assert.deepEqual(await store.newest(newStream(), 2), []);
    });
    it('catches a follower up from the file that has fallen behind further than memory reaches', async () => {
      const store = await open();
      await store.append('a-1', -1, [newEvent()]);
      const enough = new AbortController();
      const seen: StoredEvent[] = [];
      for await (const { events } of store.follow(0, undefined, enough.signal)) {
        if (seen.length === 0) for (let n = 0; n < 30; n++) await store.append('a-2', n * 100 - 1, newEvents(100));
        seen.push(...events);
        if (seen.length >= 3001) enough.abort();
      }
      assert.equal(seen.length, 3001);
      assertKept(seen, new Map());
    });
  });

  it('gives a follower that is far behind everything in order, and what comes meanwhile, until it has had enough', async () => {
    const most = 21_000;
    const store = await open();
    for (let n = 0; n < most / 1000; n++)
      await store.append(`a-${n % 7}`, 1000 * Math.floor(n / 7) - 1, newEvents(1000));
    const follow = async (): Promise<StoredEvent[]> => {
      const enough = new AbortController();
      const seen: StoredEvent[] = [];
      for await (const { events } of store.follow(0, undefined, enough.signal)) {
        seen.push(...events);
        if (seen.length === most + 10) enough.abort();
      }
      return seen;
    };
    const following = [follow(), follow()];
    await store.append('a-new', -1, newEvents(10));
    const all = await storedIn(store);
    for (const seen of await Promise.all(following)) assert.deepEqual(seen, all);
    const enough = new AbortController();
    let taken = 0;
    for await (const { events } of store.follow(0, undefined, enough.signal)) {
      taken += events.length;
      enough.abort();
    }
    assert.ok(taken > 0 && taken < most);
    for await (const _ of store.follow(0, undefined, new AbortController().signal)) break;
    taken = 0;
    for await (const { events } of store.follow(0, undefined, new AbortController().signal)) {
      if (taken === 0) await store.close();
      taken += events.length;
    }
    assert.ok(taken > 0 && taken < most);
  });

  describe('after a crash', () => {
    const rounds = Number(process.env.SOAK_ROUNDS ?? 1);

    it(`has everything that was acknowledged, killed at a random append (${rounds})`, async function () {
      this.timeout(rounds * 120_000);
      const stored = new Map<string, string>();
      for (let round = 0; round < rounds; round++) {
        const moment = 1 + Math.floor(Math.random() ** 2 * 8000);
        const running = child(file);
        const heard = await listen(running, (count) => {
          if (count >= moment) running.kill('SIGKILL');
        });
        assert.equal(heard.errors, '');
        for (const [key, id] of heard.stored) stored.set(key, id);
        const store = await open();
        assertKept(await storedIn(store), stored);
        await store.append(newStream(), -1, [newEvent()]);
        await store.close();
      }
    });
    for (const kilobytes of sampled([200, 3000, 40_000], 1)) {
      it(`has everything that was acknowledged before files could not grow beyond ${kilobytes} KB`, async () => {
        const { stored, ended, errors } = await listen(child(file, `ulimit -f ${kilobytes};`));
        assert.equal(errors, '');
        const { reasons, readable } = JSON.parse(ended!);
        assert.ok(reasons.length > 0);
        for (const reason of reasons)
          assert.match(
            reason,
            /^unavailable The log .*(Nothing was stored|a retry with the same Idempotency-Key settles it)$/,
          );
        assert.ok(stored.size > 0 && readable >= stored.size);
        const store = await open();
        assertKept(await storedIn(store), stored);
        await store.append(newStream(), -1, [newEvent()]);
      });
    }
  });
});

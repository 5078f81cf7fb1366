import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { link } from '@automation-platform/event-log';
import type { StoredEvent } from '../../../src/store/port.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { fromSource } from '../../support/fromSource.ts';
import { cannotKill, injecting } from '../../support/killing.ts';
import { temporaryFolder } from '../../support/process.ts';

/** A system call that fails, or kills the process, the n-th time that a thread makes it on one file of the log. */
type Fault = { readonly call: string; readonly file: string; readonly fault: string; readonly nth: number };

const allCalls = ['openat', 'pread64', 'pwrite64', 'fsync', 'fdatasync', 'ftruncate'] as const;
const files = ['events.db', 'events.db-wal', 'events.db-shm', 'events.db.head', 'lock.db'] as const;
const faults = ['error=EIO', 'error=ENOSPC', 'error=EINVAL', 'signal=KILL'] as const;

const program = fileURLToPath(new URL('../../support/crash/appendLinked.ts', import.meta.url));
const streams = 4;
const eventsEach = 20;
const patienceMs = 120_000;

/** Runs the program on the log in a folder until its end; `tracing`: how strace meddles with it. */
const run = async (folder: string, end: 'close' | 'kill', tracing: readonly string[] = []) => {
  const node = [process.execPath, ...fromSource(), program, join(folder, 'events.db'), String(eventsEach), end];
  const [command, ...args] = tracing.length > 0 ? ['strace', ...tracing, ...node] : node;
  const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let [out, err, late] = ['', '', false];
  child.stdout.on('data', (text: Buffer) => {
    out += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    err += text;
  });
  // The whole group: strace's end is not the end of what it traces.
  const timer = setTimeout(() => {
    late = true;
    process.kill(-child.pid!, 'SIGKILL');
  }, patienceMs);
  const [, signal] = await once(child, 'close');
  clearTimeout(timer);
  assert.ok(!late, `the program does not come to an end:\n${out}\n${err}`);
  const lines = out
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '));
  return {
    err,
    // strace ends as the program did.
    isKilled: signal === 'SIGKILL',
    said: (word: string) => lines.filter(([first]) => first === word),
    ids: (word: string) => lines.filter(([first]) => first === word).map(([, , , id]) => id!),
  };
};

/** Events of the log in a folder, which is opened as after a restart; positions, revisions and hash links hold. */
const eventsIn = async (folder: string): Promise<readonly StoredEvent[]> => {
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  try {
    const events: StoredEvent[] = [];
    for await (const batch of store.readAll(0)) events.push(...batch.events);
    const last = new Map<string, { readonly revision: number; readonly hash: string }>();
    for (const [n, { position, stream, revision, id, type, data, metadata }] of events.entries()) {
      const before = last.get(stream) ?? { revision: -1, hash: '' };
      const { hash, ...about } = JSON.parse(metadata) as { readonly hash: string };
      assert.deepEqual([position, revision], [n + 1, before.revision + 1]);
      assert.equal(hash, link({ stream, revision, id, type, data, metadata: JSON.stringify(about) }, before.hash));
      last.set(stream, { revision, hash });
    }
    return events;
  } finally {
    await store.close();
  }
};

/** Whole numbers below a limit, the same ones for the same seed. */
const numbers =
  (seed: number) =>
  (limit: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * limit);
  };

/** How often one thread makes a call on a file at most, out of what strace has written. */
const countsOf = (written: string): ReadonlyMap<string, number> => {
  const byThread = new Map<string, number>();
  const most = new Map<string, number>();
  for (const [, thread, call, file] of written.matchAll(/^(\d+) +(\w+)\(.*?\/(events\.db[-.\w]*|lock\.db)[>"]/gm)) {
    const count = (byThread.get(`${thread} ${call} ${file}`) ?? 0) + 1;
    byThread.set(`${thread} ${call} ${file}`, count);
    most.set(`${call} ${file}`, Math.max(count, most.get(`${call} ${file}`) ?? 0));
  }
  return most;
};

(cannotKill ? describe.skip : describe)(`the embedded log on a disk that fails${cannotKill}`, function () {
  this.timeout(patienceMs + 60_000);
  let folder: string;
  let counts: ReadonlyMap<string, number>;
  /** Ids of the events that every case begins with. */
  let first: readonly string[];
  const copyOfBase = (): string => {
    const copy = join(folder, 'data');
    rmSync(copy, { recursive: true, force: true });
    cpSync(join(folder, 'base'), copy, { recursive: true });
    return copy;
  };

  before(async () => {
    folder = temporaryFolder();
    mkdirSync(join(folder, 'base'));
    // As a process leaves its log that was killed: what is newest is in the WAL alone.
    await run(join(folder, 'base'), 'kill');
    first = (await eventsIn(copyOfBase())).map(({ id }) => id);
    assert.equal(first.length, streams * eventsEach);
    const calls = join(folder, 'calls');
    const data = copyOfBase();
    await run(data, 'close', [
      '-f',
      '-qqq',
      '-y',
      '-o',
      calls,
      ...files.flatMap((name) => ['-P', join(data, name)]),
      '-e',
      `trace=${allCalls.join(',')}`,
    ]);
    counts = countsOf(readFileSync(calls, 'utf8'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /**
   * Everything that was acknowledged is there after a restart, nothing that was certainly not stored; no read gave
   * less.
   */
  const survives = async ({ call, file, fault, nth }: Fault) => {
    const data = copyOfBase();
    const options = injecting({ calls: call, fault, nth });
    const heard = await run(data, 'close', ['-P', join(data, file), ...options]);
    const ids = new Set((await eventsIn(data)).map(({ id }) => id));
    const stored = heard.ids('stored');
    assert.deepEqual(
      [...first, ...stored].filter((id) => !ids.has(id)),
      [],
      'what was acknowledged is there',
    );
    assert.deepEqual(
      heard.ids('refused').filter((id) => ids.has(id)),
      [],
      'what was refused for certain is not there',
    );
    const [atStart, atEnd] = heard.said('read').map(([, events]) => Number(events));
    if (atStart !== undefined) assert.ok(atStart >= first.length, `at the start ${atStart} events are read`);
    if (atEnd !== undefined) assert.ok(atEnd >= first.length + stored.length, `at the end ${atEnd} events are read`);
    for (const [, code, ...words] of heard.said('failed')) assert.equal(code, 'unavailable', words.join(' '));
    if (heard.said('closed').length === 0 && !heard.isKilled) assert.match(heard.err, /Error: .+/);
    assert.doesNotMatch(heard.err, /TypeError|ReferenceError|UnhandledPromise/);
    return { ...heard, stored };
  };

  const all = streams * eventsEach;
  for (const [what, given] of Object.entries<Fault & { readonly heals?: true }>({
    'an fsync of the WAL fails': { call: 'fsync', file: 'events.db-wal', fault: 'error=EIO', nth: 6, heals: true },
    'a write of the WAL fails': {
      call: 'pwrite64',
      file: 'events.db-wal',
      fault: 'error=EIO',
      nth: 700,
      heals: true,
    },
    'there is no room for the WAL': {
      call: 'pwrite64',
      file: 'events.db-wal',
      fault: 'error=ENOSPC',
      nth: 700,
      heals: true,
    },
    'a checkpoint cannot write the file': { call: 'pwrite64', file: 'events.db', fault: 'error=EIO', nth: 2000 },
    'the fsync of a checkpoint fails': { call: 'fsync', file: 'events.db', fault: 'error=EIO', nth: 1 },
    'the WAL cannot be read at the start': { call: 'pread64', file: 'events.db-wal', fault: 'error=EIO', nth: 40 },
    'a read of events fails': { call: 'pread64', file: 'events.db', fault: 'error=EIO', nth: 2500 },
    'the note cannot be written': {
      call: 'pwrite64',
      file: 'events.db.head',
      fault: 'error=ENOSPC',
      nth: 3,
      heals: true,
    },
    'the lock cannot be opened': { call: 'openat', file: 'lock.db', fault: 'error=EIO', nth: 2 },
    'the process is killed while it writes the WAL': {
      call: 'pwrite64',
      file: 'events.db-wal',
      fault: 'signal=KILL',
      nth: 3000,
    },
  })) {
    it(`loses nothing when ${what}${given.heals ? ', and goes on by itself' : ''}`, async () => {
      const { stored, err, isKilled } = await survives(given);
      assert.equal(isKilled, given.fault === 'signal=KILL');
      if (given.heals) assert.equal(stored.length, all, err);
    });
  }

  const rounds = Number(process.env.SOAK_ROUNDS ?? 6);
  const seed = Number(process.env.SOAK_SEED ?? (process.env.SOAK_ROUNDS ? Date.now() % 1_000_000 : 7));
  it(`loses nothing by ${rounds} faults out of all there can be (SOAK_SEED=${seed})`, async function () {
    this.timeout(rounds * (patienceMs + 60_000));
    const below = numbers(seed);
    const places = [...counts].map(([place, count]) => ({ place: place.split(' ') as [string, string], count }));
    for (let round = 0; round < rounds; round++) {
      const {
        place: [call, file],
        count,
      } = places[below(places.length)]!;
      const fault = faults[below(faults.length)]!;
      const given = { call, file, fault, nth: 1 + below(count) };
      await survives(given).catch((error: Error) => {
        throw new Error(`${JSON.stringify(given)}: ${error.message}`, { cause: error });
      });
    }
  });
});

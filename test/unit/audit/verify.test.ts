import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type AnchorLine,
  type DigestSigned,
  type Finding,
  rewrittenLine,
  type SigningKeys,
  signedLine,
  type Verified,
  verifyLog,
} from '@automation-platform/log-proof';
import { isLinkedStream } from '../../../src/events/ownStreams.ts';
import type { EventStore, StoredEvent } from '../../../src/store/port.ts';
import { fileSource, storeSource } from '../../../src/store/sources.ts';
import { type Connection, openFile } from '../../../src/store/sqlite/log.ts';
import { noteOf } from '../../../src/store/sqlite/note.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { foreign, keysOf, linkedWriter, numbers, signingKey, signRest, writeLog } from '../../support/signedLog.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const soak = process.env.SOAK_ROUNDS !== undefined;
describe('what verify says of a log', function () {
  // Thousands of logs are verified one after the other.
  if (soak) this.timeout(3 * 3_600_000);
  let folder: string;
  let file: string;
  const own = signingKey();
  /** Position of the last event that a signature covers, and of the last event. */
  let signedTo: number;
  let head: number;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'verify-'));
    await writeLog(join(folder, 'good.db'), keysOf(own));
  });
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(async () => {
    file = join(folder, 'events.db');
    fresh();
    const source = fileSource(file);
    const last = JSON.parse((await source.proofs()).at(-1)!.data) as DigestSigned;
    const { find } = source.lookUps;
    signedTo = find!(last.upTo.stream, last.upTo.revision)!.position;
    ({ head } = source);
    await source.close();
  });

  let made = 0;
  const fresh = (): void => {
    // The driver closes a file when its statements are collected. Thousands of logs need that sooner than it happens.
    if (++made % 200 === 0) collect();
    for (const suffix of ['', '-wal', '-shm', '.head']) rmSync(file + suffix, { force: true });
    copyFileSync(join(folder, 'good.db'), file);
    copyFileSync(noteOf(join(folder, 'good.db')), noteOf(file));
  };

  const changed = <T>(change: (db: Connection) => T): T => {
    const db = openFile(file, { timeout: 0 });
    db.enableDefensive(false);
    try {
      return change(db);
    } finally {
      db.close();
    }
  };

  const verify = async (more: { key?: string; anchor?: readonly AnchorLine[] } = {}): Promise<Verified> => {
    const source = fileSource(file);
    const { key, anchor } = more;
    const { signal } = new AbortController();
    try {
      return await verifyLog({ source, linked: isLinkedStream, key, anchor, signal, told: () => undefined });
    } finally {
      await source.close();
    }
  };

  const at = ({ position, from = 0, to = 0 }: Finding, place: number): boolean =>
    position === undefined ? from <= place && place <= to : position === place;
  const named = (found: readonly Finding[], kinds: readonly string[], place?: number): boolean =>
    found.some((one) => kinds.includes(one.finding) && (place === undefined || at(one, place)));
  const shown = (found: readonly Finding[]): string => JSON.stringify(found, null, 1);

  const row = (db: Connection, position: number) =>
    db.prepare('SELECT stream, revision, id, type, data, metadata FROM events WHERE position = ?').get(position) as
      | [string, number, string, string, string, string]
      | undefined;

  /** Moves all events from a position on by so many positions, and their sums with them. */
  const shift = (db: Connection, from: number, by: number): void => {
    for (const table of ['events', 'sums']) {
      db.exec(`UPDATE ${table} SET position = -(position + ${by}) WHERE position >= ${from} AND position > 0`);
      db.exec(`UPDATE ${table} SET position = -position WHERE position < 0`);
    }
  };

  it('is nothing as long as nobody touches it, and how much is proved', async () => {
    const { findings, coverage, keys: believed } = await verify();
    assert.deepEqual(findings, []);
    assert.deepEqual(coverage, { verified: head, signed: signedTo, uncovered: head - signedTo });
    assert.ok(coverage.uncovered > 50 && coverage.signed >= 1000, JSON.stringify(coverage));
    assert.deepEqual(believed, [own.key]);
  });

  it('goes for a log in use', async () => {
    const store = await openSqliteStore({ file });
    try {
      await store.append('stranger-2', -1, [foreign(0)]);
      const { findings, coverage } = await verify();
      assert.deepEqual([findings, coverage.verified], [[], head + 1]);
    } finally {
      await store.close();
    }
  });

  const rounds = (sample: number, whole: number): number => (soak ? whole : sample);

  it(`single bytes that were flipped: altered, where they are`, async () => {
    const some = numbers(2);
    const texts = ['stream', 'id', 'type', 'data', 'metadata'];
    for (let n = 0; n < rounds(15, 10_000); n++) {
      fresh();
      const position = 1 + some(head);
      const column = texts[some(5)]!;
      const what = changed((db) => {
        const [value] = db.prepare(`SELECT ${column} FROM events WHERE position = ?`).get(position) as [string];
        const bytes = Buffer.from(value);
        const [byte, bit] = [some(bytes.length), some(8)];
        bytes[byte] = bytes[byte]! ^ (1 << bit);
        try {
          db.prepare(`UPDATE events SET ${column} = CAST(? AS TEXT) WHERE position = ?`).run(bytes, position);
        } catch (error) {
          // Another event has this revision of the other stream.
          assert.match(String(error), /UNIQUE/);
          return undefined;
        }
        return `bit ${bit} of byte ${byte} of ${column} at ${position}: ${value}`;
      });
      if (what === undefined) continue;
      const { findings } = await verify();
      assert.ok(named(findings, ['altered'], position), `${what}\n${shown(findings)}`);
    }
  });

  it('bits of revisions and positions that were flipped', async () => {
    const some = numbers(3);
    for (let n = 0; n < rounds(10, 1000); n++) {
      fresh();
      const position = 1 + some(head);
      const column = ['revision', 'position'][some(2)]!;
      const bit = some(20);
      const done = changed((db) => {
        const flipped = `((${column} | ${1 << bit}) - (${column} & ${1 << bit}))`;
        try {
          db.prepare(`UPDATE events SET ${column} = ${flipped} WHERE position = ?`).run(position);
          return true;
        } catch {
          return false;
        }
      });
      if (!done) continue;
      const { findings } = await verify();
      const kinds = column === 'position' ? ['missing'] : ['altered'];
      assert.ok(named(findings, kinds, position), `bit ${bit} of ${column} at ${position}\n${shown(findings)}`);
    }
  });

  it('rows that were removed: missing, where they were; at the end: cut', async () => {
    const some = numbers(4);
    for (let n = 0; n < rounds(6, 500); n++) {
      fresh();
      const position = 1 + some(head);
      changed((db) => db.exec(`DELETE FROM events WHERE position = ${position}`));
      const { findings } = await verify();
      const kind = position === head ? 'cut' : 'missing';
      assert.ok(named(findings, [kind], position), `row ${position} of ${head}\n${shown(findings)}`);
    }
  });

  it('rows that were removed without a gap: missing, by their stream or by the digests', async () => {
    const some = numbers(5);
    for (let n = 0; n < rounds(6, 500); n++) {
      fresh();
      const position = 1 + some(head - 1);
      changed((db) => {
        db.exec(`DELETE FROM events WHERE position = ${position}; DELETE FROM sums WHERE position = ${position}`);
        shift(db, position, -1);
      });
      const { findings } = await verify();
      // The note beside the log always shows that something is missing.
      assert.ok(named(findings, ['cut'], head), `row ${position}\n${shown(findings)}`);
      if (position <= signedTo) assert.ok(named(findings, ['missing']), `row ${position}\n${shown(findings)}`);
    }
  });

  it('rows that were swapped: reordered, or altered or reordered', async () => {
    const some = numbers(6);
    for (let n = 0; n < rounds(6, 1000); n++) {
      fresh();
      const one = 1 + some(signedTo);
      const other = 1 + some(head);
      if (one === other) continue;
      changed((db) => {
        for (const table of ['events', 'sums']) {
          db.exec(`UPDATE ${table} SET position = -1 WHERE position = ${one}`);
          db.exec(`UPDATE ${table} SET position = ${one} WHERE position = ${other}`);
          db.exec(`UPDATE ${table} SET position = ${other} WHERE position = -1`);
        }
      });
      const { findings } = await verify();
      const what = `rows ${one} and ${other}\n${shown(findings)}`;
      assert.ok(named(findings, ['reordered', 'altered or reordered']), what);
      assert.ok(!named(findings, ['altered']), what);
    }
  });

  it('rows that were inserted with the right links: inserted, by the digests', async () => {
    const some = numbers(7);
    for (let n = 0; n < rounds(6, 1000); n++) {
      fresh();
      const position = 1 + some(head);
      const stream = `commandTemplate-new${n}`;
      const { id, type, data, metadata } = linkedWriter()(stream, { n }).event;
      changed((db) => {
        shift(db, position, 1);
        db.prepare('INSERT INTO events VALUES (?, ?, 0, ?, ?, ?, ?)').run(position, stream, id, type, data, metadata);
      });
      const { findings, coverage } = await verify();
      const what = `at ${position}\n${shown(findings)}`;
      // The tail that no signature covers shows it by the note only: its event is elsewhere.
      assert.ok(named(findings, position <= signedTo ? ['inserted'] : ['cut']), what);
      if (position <= signedTo) assert.ok(coverage.signed < signedTo, what);
    }
  });

  it('tails that were cut: by the note, or by the anchor; without both it is not, and the coverage is smaller', async () => {
    const some = numbers(8);
    const source = fileSource(file);
    const anchor = (await source.proofs()).map(({ data }) =>
      signedLine({ log: source.id!, at: '2026-01-01T00:00:00.000Z' }, JSON.parse(data) as DigestSigned),
    );
    const signatures = (await source.proofs()).map(({ position }) => position);
    await source.close();
    for (let n = 0; n < rounds(4, 100); n++) {
      fresh();
      const last = 1 + some(head - 1);
      changed((db) =>
        db.exec(`DELETE FROM events WHERE position > ${last}; DELETE FROM sums WHERE position > ${last}`),
      );
      const byNote = await verify();
      assert.deepEqual(
        byNote.findings.map(({ from, to, finding }) => [from, to, finding]),
        [[last + 1, head, 'cut']],
      );
      rmSync(noteOf(file));
      const byAnchor = await verify({ anchor });
      const isShorter = last < signatures.at(-1)!;
      assert.deepEqual(
        byAnchor.findings.map(({ position, finding }) => [position, finding]),
        isShorter ? [[last, 'cut']] : [],
      );
      const byNothing = await verify();
      assert.deepEqual(byNothing.findings, []);
      assert.equal(byNothing.coverage.verified, last);
    }
  });

  it('a cut shows although the anchor was told afterwards that the log begins anew', async () => {
    const source = fileSource(file);
    const about = { log: source.id!, at: '2026-01-01T00:00:00.000Z' };
    const signatures = await source.proofs();
    await source.close();
    const anchor = signatures.map(({ data }) => signedLine(about, JSON.parse(data) as DigestSigned));
    const removed = { accounts: [], jobs: null, events: null };
    anchor.push(rewrittenLine(about, { removed, digest: null, key: null }));
    const last = signatures.at(-1)!.position - 1;
    changed((db) => db.exec(`DELETE FROM events WHERE position > ${last}; DELETE FROM sums WHERE position > ${last}`));
    rmSync(noteOf(file));
    assert.deepEqual(
      (await verify({ anchor })).findings.map(({ position, finding }) => [position, finding]),
      [[last, 'cut']],
    );
  });

  it('names the position and not the ones after it', async () => {
    changed((db) => db.exec("UPDATE events SET data = replace(data, 'happened', 'hapqened') WHERE position = 300"));
    const { findings, coverage } = await verify();
    const [db] = [changed((open) => row(open, 300)!)];
    assert.deepEqual(findings, [
      {
        position: 300,
        stream: db[0],
        revision: db[1],
        finding: 'altered',
        message: `Event ${db[1]} of stream ${db[0]} is not what was written`,
      },
    ]);
    assert.equal(coverage.signed, signedTo, 'the digest covers the link, which is as it was');
  });

  it('shows a second change after the first, in another signature, and in the same one by its link', async () => {
    const id = 'ffffffff-0000-4000-8000-000000000000';
    changed((db) => {
      // Two ranges that only digests show: all links of a stream with one event are made anew.
      for (const position of [130, 420]) {
        shift(db, position, 1);
        const { type, data, metadata } = linkedWriter()(`commandTemplate-at${position}`, {}).event;
        db.prepare('INSERT INTO events VALUES (?, ?, 0, ?, ?, ?, ?)').run(
          position,
          `commandTemplate-at${position}`,
          `${position}${id.slice(3)}`,
          type,
          data,
          metadata,
        );
      }
      db.exec("UPDATE events SET data = replace(data, 'happened', 'hapqened') WHERE position = 200");
    });
    rmSync(noteOf(file));
    const { findings } = await verify();
    const ranges = findings.filter(({ finding }) => finding === 'inserted');
    assert.deepEqual(ranges.map(({ from, to }) => [from! <= 130 && to! >= 130, from, to! - from!]).slice(0, 1), [
      [true, 101, 99],
    ]);
    assert.ok(ranges.some((one) => one.from! > 250 && at(one, 420)));
    assert.ok(named(findings, ['altered'], 200), shown(findings));
  });

  it('says when a signature is not by its key, and when its steps were changed', async () => {
    const change = (member: string, value: unknown): void =>
      changed((db) => {
        const [position, data] = db
          .prepare("SELECT position, data FROM events WHERE stream = 'digest-log' ORDER BY position DESC LIMIT 1")
          .get() as [number, string];
        const changedData = JSON.stringify({ ...JSON.parse(data), [member]: value });
        db.prepare('UPDATE events SET data = ? WHERE position = ?').run(changedData, position);
      });
    change('signature', 'A'.repeat(86));
    const forged = await verify();
    assert.ok(forged.findings.some(({ message }) => message === 'This signature is not by its key'));
    assert.ok(forged.coverage.signed < signedTo);
    fresh();
    change('steps', ['x', 'y']);
    const { findings } = await verify();
    assert.ok(
      findings.some(({ message }) => message.startsWith('The steps of this signature')),
      shown(findings),
    );
  });

  describe('with a key that is given', () => {
    const next = signingKey();
    const signAgain = async (more: SigningKeys): Promise<void> => {
      const store = await openSqliteStore({ file });
      await signRest(store, more);
      await store.close();
    };

    it('believes it, and what follows from it in either direction', async () => {
      assert.deepEqual((await verify({ key: own.key })).findings, []);
      await signAgain({ own: next, earlier: [own] });
      for (const key of [own.key, next.key]) {
        const { findings, coverage, keys: believed } = await verify({ key });
        assert.deepEqual(findings, []);
        assert.deepEqual(believed, [own.key, next.key]);
        assert.ok(coverage.signed > signedTo);
      }
    });

    it('reports a change of key that the old key does not prove', async () => {
      await signAgain(keysOf(next));
      const { findings } = await verify();
      assert.deepEqual(
        findings.map(({ finding, message }) => [finding, /^Nothing proves the change of key/.test(message)]),
        [['altered', true]],
      );
      const strict = await verify({ key: own.key });
      assert.ok(strict.findings.some(({ message }) => /by a key that is not believed/.test(message)));
      assert.equal(strict.coverage.signed, signedTo);
    });

    it('reports a log that somebody else has signed anew', async () => {
      changed((db) => db.exec("DELETE FROM events WHERE stream = 'digest-log'"));
      const { findings, coverage } = await verify({ key: next.key });
      assert.ok(named(findings, ['missing']));
      assert.equal(coverage.signed, 0);
    });
  });

  it('believes an anchor against a chain that was signed anew', async () => {
    const source = fileSource(file);
    const [first] = await source.proofs();
    const data = JSON.parse(first!.data) as DigestSigned;
    const line = signedLine({ log: source.id!, at: '2026-01-01T00:00:00.000Z' }, data);
    await source.close();
    const digest = Buffer.alloc(32, 1).toString('base64');
    const signature = own.sign(`automation-platform digest 1\n${line.events}\n${digest}`);
    const { findings, anchored } = await verify({ anchor: [{ ...line, digest, signature }] });
    assert.deepEqual(
      findings.map(({ from, finding }) => [from, finding]),
      [[1, 'altered or reordered']],
    );
    assert.equal(anchored, 1);
    const elsewhere = await verify({ anchor: [{ ...line, log: 'another log', digest, signature }] });
    assert.deepEqual([elsewhere.findings, elsewhere.anchored], [[], 0]);
    const copied = [line, { ...line, events: 1_000_000, digest, signature: '' }].map((one) => ({ ...one, log: 'old' }));
    assert.deepEqual((await verify({ anchor: copied })).anchored, 1, 'a line that nobody signed says nothing');
    const rewritten = { ...line, topic: 'logRewritten' as const };
    const longer = {
      ...line,
      events: 5000,
      digest,
      signature: own.sign(`automation-platform digest 1\n5000\n${digest}`),
    };
    assert.ok(named((await verify({ anchor: [line, longer] })).findings, ['cut']));
    const old = [line, longer].map((one) => ({ ...one, log: 'old' }));
    assert.ok(named((await verify({ anchor: [...old, line] })).findings, ['cut']));
    assert.deepEqual((await verify({ anchor: [...old, rewritten, line] })).findings, []);
    const copies = [rewritten, line, longer].map((one) => ({ ...one, log: 'copy' }));
    const original = await verify({ anchor: [line, ...copies] });
    assert.deepEqual(
      [original.findings, original.anchored],
      [[], 1],
      'what a copy signed later says nothing of its source',
    );
  });

  it('nothing, after EventStoreDB has scavenged checkpoints', async () => {
    const store = await openSqliteStore({ file });
    const scavenged = { position: head, stream: 'checkpoint-triggers', revision: 66, id: randomUUID() };
    const left: StoredEvent = { ...scavenged, type: 'checkpoint', data: '{"position":"7"}', metadata: '' };
    const readAll: EventStore['readAll'] = async function* (after, filter) {
      yield* store.readAll(after, filter);
      yield { events: [left], position: head };
    };
    const source = await storeSource({ ...store, readAll });
    const { signal } = new AbortController();
    const needs = { source, linked: isLinkedStream, key: undefined, anchor: undefined, signal };
    const { findings, coverage } = await verifyLog({ ...needs, told: () => undefined });
    await source.close();
    assert.deepEqual(findings, []);
    assert.ok(coverage.signed > 0);
  });
});

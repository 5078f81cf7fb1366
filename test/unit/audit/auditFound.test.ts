import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEvents } from '../../../src/audit/findEvents.ts';
import type { AuditSources } from '../../../src/audit/reading.ts';
import { auditIndex } from '../../../src/store/auditIndex/auditIndex.ts';
import { found } from '../../../src/store/auditIndex/found.ts';
import { indexed } from '../../../src/store/auditIndex/indexer.ts';
import type { NewEvent, StoredEvent } from '../../../src/store/port.ts';
import { type Connection, openFile } from '../../../src/store/sqlite/log.ts';
import { openSqliteStore } from '../../../src/store/sqlite/store.ts';

const eventBy = (actor: string): NewEvent => {
  const requestId = randomUUID();
  const about = { $correlationId: requestId, $causationId: requestId, requestId, operation: 'test' };
  return {
    id: randomUUID(),
    type: '@platform/operations-manager:automationChanged',
    data: '{}',
    metadata: JSON.stringify({
      ...about,
      at: new Date().toISOString(),
      actor: { id: actor, username: actor, provenance: 'local' },
    }),
  };
};

/** All pages of a search, and how many they were. */
const allPages = async (sources: AuditSources, wanted: Parameters<typeof findEvents>[1], limit = 25) => {
  const positions: number[] = [];
  let pages = 0;
  let cursor: string | undefined;
  for (;;) {
    const page = await findEvents(sources, wanted, { limit, cursor });
    pages++;
    positions.push(...page.results.map(({ position }) => position));
    if (page.cursor === null) return { positions, pages };
    cursor = page.cursor;
  }
};

/** A function that writes an event into the tables of terms. */
const writerOf = (db: Connection) => {
  const { begin, take, write } = found.writer(db);
  return (event: StoredEvent): void => {
    begin(event.position - 1);
    take(indexed(event));
    write();
  };
};

describe('a search of the log', function () {
  this.timeout(300_000);

  it('looks at so many positions a request: pages may be empty while the cursor leads on', async () => {
    const count = 6000;
    const db = openFile(':memory:', { timeout: 0 });
    db.exec(found.schema);
    const write = writerOf(db);
    const template = eventBy('a');
    const at = (position: number): StoredEvent => ({
      ...template,
      stream: 'automation-1',
      revision: position - 1,
      position,
    });
    db.exec('BEGIN');
    for (let position = 1; position <= count; position++) write(at(position));
    db.exec('COMMIT');
    let read = 0;
    const sources: AuditSources = {
      log: {
        at: async (position) => {
          read++;
          return at(position);
        },
        head: async () => count,
        read: async function* () {},
        readAll: async function* () {},
      },
      index: { read: async (_, work) => work(db) },
      mostLooked: 5000,
      // The caller sees but the oldest.
      sees: async ({ position }) => position <= 3,
    };
    const first = await findEvents(sources, { actor: 'a' }, { limit: 25 });
    assert.deepEqual(first.results, []);
    assert.ok(first.cursor !== null && read >= 5000 && read < 5600, String(read));
    const second = await findEvents(sources, { actor: 'a' }, { limit: 25, cursor: first.cursor });
    assert.deepEqual([second.results.map(({ position }) => position), second.cursor], [[3, 2, 1], null]);
    db.close();
  });

  it('by a source alone looks at the events of that source', async () => {
    const db = openFile(':memory:', { timeout: 0 });
    db.exec(found.schema);
    const write = writerOf(db);
    const events = Array.from({ length: 5000 }, (_, n): StoredEvent => {
      const source = n % 1000 === 7 ? 'itsm' : '@platform/operations-manager';
      return { ...eventBy('a'), type: `${source}:noted`, stream: `publishedEvent-${n}`, revision: 0, position: n + 1 };
    });
    events.forEach(write);
    let read = 0;
    const sources: AuditSources = {
      log: {
        at: async (position) => {
          read++;
          return events[position - 1];
        },
        head: async () => events.length,
        read: async function* () {},
        readAll: async function* () {},
      },
      index: { read: async (_, work) => work(db) },
      sees: async () => true,
    };
    const { positions, pages } = await allPages(sources, { source: 'itsm' });
    assert.deepEqual([positions, pages, read], [[4008, 3008, 2008, 1008, 8], 1, 5]);
    db.close();
  });

  it('finds the same with an index that two processes fill at once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'automation-platform-'));
    const file = join(folder, 'events.db');
    const log = await openSqliteStore({ file });
    const opened = () => auditIndex({ folder, log: { file }, warn: (message) => assert.fail(message) });
    const indexes = [opened(), opened()];
    const expected: number[] = [];
    for (let n = 0; n < 40; n++) {
      const actors = Array.from({ length: 50 }, (_, i) => (i % 3 === 0 ? 'ann' : 'bob'));
      const { position } = await log.append(`automation-${n}`, -1, actors.map(eventBy));
      expected.push(...actors.flatMap((actor, i) => (actor === 'ann' ? [position - 49 + i] : [])));
      const head = await log.head();
      await Promise.all(indexes.map((index) => index.read(head, () => undefined)));
    }
    const newestFirst = expected.toReversed();
    for (const index of indexes) {
      const sources: AuditSources = { log, index, sees: async () => true };
      assert.deepEqual((await allPages(sources, { actor: 'ann' }, 100)).positions, newestFirst);
      assert.equal((await allPages(sources, { actor: 'ann', resource: 'automation/7' })).positions.length, 17);
      assert.deepEqual((await allPages(sources, { source: '@platform/mop' })).positions, []);
    }
    await Promise.all(indexes.map((index) => index.stop()));
    await log.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeSnapshot } from '../../../src/projections/snapshots/snapshot.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts';
import { soon } from '../../support/cluster.ts';
import { startServer } from '../../support/process.ts';
import { noSmallDisk, type SmallDisk, smallDisk } from '../../support/smallDisk.ts';
import { gather, newEvent, newStream, refused } from '../../support/store.contract.ts';

const notStored = (error: unknown): boolean =>
  refused('unavailable')(error) && /Nothing was stored$/.test((error as Error).message);

(noSmallDisk ? describe.skip : describe)(
  `the embedded log on a full disk${noSmallDisk ? ` (${noSmallDisk})` : ''}`,
  function () {
    this.timeout(240_000);
    let disk: SmallDisk;
    let store: SqliteStore | undefined;
    const told: string[] = [];
    const open = async (): Promise<SqliteStore> => {
      const log = (message: string): void => {
        told.push(message);
      };
      store = await openSqliteStore({ file: join(disk.data, 'events.db') }, { log });
      return store;
    };
    beforeEach(() => {
      disk = smallDisk(24);
      told.length = 0;
    });
    afterEach(async () => {
      await store?.close();
      store = undefined;
      disk.remove();
    });

    const large = () => newEvent('x'.repeat(20_000));
    const idsOf = async (of: SqliteStore): Promise<readonly string[]> => {
      const events = await gather(
        (async function* () {
          for await (const batch of of.readAll(0)) yield batch.events;
        })(),
      );
      assert.deepEqual(
        events.map(({ position }) => position),
        events.map((_, n) => n + 1),
      );
      return events.map(({ id }) => id);
    };
    /** Appends to a stream until one is refused; the ids of those that were stored. */
    const appendUntilRefused = async (to: SqliteStore, stream: string): Promise<readonly string[]> => {
      for (const stored: string[] = []; ; ) {
        const event = large();
        try {
          await to.append(stream, stored.length - 1, [event]);
          stored.push(event.id);
        } catch (error) {
          assert.ok(notStored(error), String(error));
          return stored;
        }
      }
    };

    it('takes no changes, says so, is read, and goes on by itself once there is room', async () => {
      const log = await open();
      const stream = newStream();
      disk.fill();
      const stored = await appendUntilRefused(log, stream);
      await soon('it says why', () => /full/.test(log.fault() ?? ''));
      await assert.rejects(log.append(newStream(), -1, [newEvent()]), notStored);
      assert.deepEqual(await idsOf(log), stored);
      disk.empty();
      await soon('it takes changes', () => log.fault() === undefined);
      assert.deepEqual(await log.append(stream, stored.length - 1, [newEvent()]), {
        revision: stored.length,
        position: stored.length + 1,
      });
      assert.deepEqual(told, ['The log takes no changes', 'The log takes changes again']);
      const all = await idsOf(log);
      await log.close();
      assert.deepEqual(await idsOf(await open()), all);
    });

    it('answers each of many appends at once for certain', async () => {
      const log = await open();
      const events = Array.from({ length: 300 }, large);
      disk.fill();
      const outcomes = await Promise.allSettled(events.map((event) => log.append(newStream(), -1, [event])));
      const stored = new Set(await idsOf(log));
      for (const [n, outcome] of outcomes.entries()) {
        if (outcome.status === 'rejected') assert.ok(notStored(outcome.reason), String(outcome.reason));
        assert.equal(stored.has(events[n]!.id), outcome.status === 'fulfilled');
      }
      assert.ok(outcomes.some(({ status }) => status === 'rejected'));
    });

    it('takes no changes either when the WAL cannot be moved into the file, so that it stays short', async () => {
      const log = await open();
      const stored = await appendUntilRefused(log, newStream());
      assert.ok(statSync(join(disk.data, 'events.db-wal')).size < 20 * 1024 * 1024);
      assert.deepEqual(await idsOf(log), stored);
      disk.grow(100);
      await soon('it takes changes', () => log.fault() === undefined);
      await log.append(newStream(), -1, [newEvent()]);
      assert.equal((await idsOf(log)).length, stored.length + 1);
    });

    it('is closed while the disk is full, and has all that was stored when it is opened again', async () => {
      const log = await open();
      disk.fill();
      const stored = await appendUntilRefused(log, newStream());
      await log.close();
      disk.empty();
      assert.deepEqual(await idsOf(await open()), stored);
    });

    it('stays without changes, in words, when another file has taken the place of its file', async () => {
      const log = await open();
      disk.fill();
      await appendUntilRefused(log, newStream());
      renameSync(join(disk.data, 'events.db'), join(disk.data, 'other.db'));
      disk.empty();
      execFileSync('cp', [join(disk.data, 'other.db'), join(disk.data, 'events.db')]);
      await soon('it says so', () => /is not the file that was opened/.test(log.fault() ?? ''));
      await assert.rejects(log.append(newStream(), -1, [newEvent()]), notStored);
    });

    it('leaves no part of a snapshot there', async () => {
      const file = join(disk.data, 'read-models.snapshot');
      disk.fill();
      const entry = { id: 'a', text: 'x'.repeat(100_000), revision: 0, sorts: {}, filters: {} };
      await assert.rejects(
        writeSnapshot(file, { log: 'l', version: 'v' }, { position: 1, event: 'e' }, [['c', entry]]),
        /ENOSPC/,
      );
      assert.deepEqual(readdirSync(disk.data), []);
    });

    it('makes a service answer 503 to changes alone, until there is room; a stop meanwhile is a clean one', async () => {
      const change = (n: number) =>
        [
          `/group-mappings/ldap/full-${n}`,
          { updates: { platformGroups: Array.from({ length: 200 }, (_, i) => `group ${i} of it`) } },
        ] as const;
      let server = await startServer(disk.data);
      try {
        disk.fill();
        let acknowledged = 0;
        const fill = async (): Promise<void> => {
          for (; ; acknowledged++) {
            const { status, body } = await server.ask('PATCH', ...change(acknowledged));
            if (status === 200) continue;
            assert.deepEqual([status, body.metadata.errors[0].code], [503, 'unavailable']);
            assert.match(body.message, /Nothing was stored$/);
            return;
          }
        };
        await fill();
        const ready = async (status: number) =>
          soon(`ready is ${status}`, async () => (await server.ask('GET', '/health/ready')).status === status);
        await ready(503);
        const { body } = await server.ask('GET', '/health/status');
        assert.equal(body.status, 'degraded');
        assert.match(body.eventStore.fault, /full/);
        if (acknowledged > 0) assert.equal((await server.ask('GET', change(0)[0])).status, 200);
        disk.empty();
        await ready(200);
        assert.equal((await server.ask('PATCH', ...change(acknowledged))).status, 200);
        assert.equal((await server.ask('GET', '/health/status')).body.eventStore.fault, null);
        acknowledged++;
        disk.fill();
        await fill();
        assert.equal(await server.stop(), 0);
        disk.empty();
        server = await startServer(disk.data);
        for (let n = 0; n < acknowledged; n++) assert.equal((await server.ask('GET', change(n)[0])).status, 200);
        assert.equal((await server.ask('GET', change(acknowledged)[0])).status, 404);
      } finally {
        await server.stop('SIGKILL');
      }
    });
  },
);

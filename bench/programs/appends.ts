import { randomUUID } from 'node:crypto';
import { newLeadership } from '../../src/projections/engine/leadership.ts';
import { signer } from '../../src/runners/signing/signer.ts';
import { keysInPem, newKey, type SigningKey } from '../../src/store/proof/keys.ts';
import { digestStream } from '../../src/store/proof/lines.ts';
import { openSqliteStore, type SqliteStore } from '../../src/store/sqlite.ts';
import { connect, createTables } from '../../src/store/sqliteLog.ts';
import { type Append, appendAll, appendsOf } from '../sampleAppends.ts';

// Durable appends, by the store or by the bare driver: a process of its own for each measurement.

export type Appending = {
  readonly by: 'store' | 'signing store' | 'driver';
  readonly file: string;
  readonly count: number;
  readonly inFlight: number;
};

/** So many at the same time, each waiting for its own to be durable. */
const byStore = async (file: string, inFlight: number) => {
  const store = await openSqliteStore({ file });
  return {
    run: (appends: readonly Append[]): Promise<void> => appendAll(store, appends, inFlight),
    head: () => store.head(),
    close: () => store.close(),
  };
};

const newSigningKey = (): SigningKey => {
  const [key] = keysInPem(newKey());
  if (!key) throw new Error('There is no key');
  return key;
};

const signing = (store: SqliteStore) => {
  const leadership = newLeadership();
  leadership.set(true);
  return signer({
    store,
    keys: { own: newSigningKey(), earlier: [] },
    leadership,
    ready: async () => undefined,
    onSigned: () => undefined,
    now: Date.now,
    newId: randomUUID,
    log: () => undefined,
  });
};

/** By a store whose events are signed meanwhile. */
const bySigningStore = async (file: string, inFlight: number) => {
  const store = await openSqliteStore({ file });
  const signs = signing(store);
  let signatures = 0;
  signs.start();
  return {
    run: (appends: readonly Append[]): Promise<void> => appendAll(store, appends, inFlight),
    // Without the signatures.
    head: async () => {
      await signs.stop();
      for await (const events of store.read(digestStream)) signatures += events.length;
      if (signatures === 0) throw new Error('Nothing was signed');
      return (await store.head()) - signatures;
    },
    close: () => store.close(),
  };
};

/** So many with each transaction. */
const byDriver = async (file: string, inFlight: number) => {
  const db = connect(file);
  createTables(db);
  const insert = db.prepare(
    'INSERT INTO events (stream, revision, id, type, data, metadata) VALUES (?, ?, ?, ?, ?, ?)',
  );
  return {
    run: async (appends: readonly Append[]): Promise<void> => {
      for (let at = 0; at < appends.length; at += inFlight) {
        db.exec('BEGIN IMMEDIATE');
        for (const {
          stream,
          event: { id, type, data, metadata },
        } of appends.slice(at, at + inFlight))
          insert.run(stream, 0, id, type, data, metadata);
        db.exec('COMMIT');
      }
    },
    head: async () => (db.prepare('SELECT max(position) FROM events').get() as number[])[0]!,
    close: async () => {
      db.close();
    },
  };
};

const writers = { store: byStore, 'signing store': bySigningStore, driver: byDriver };

process.on('message', async ({ by, file, count, inFlight }: Appending) => {
  const appends = appendsOf(count * 1.25);
  const writer = await writers[by](file, inFlight);
  await writer.run(appends.slice(count));
  const start = performance.now();
  await writer.run(appends.slice(0, count));
  const rate = (count / (performance.now() - start)) * 1000;
  if ((await writer.head()) !== appends.length) throw new Error('Not everything was stored');
  await writer.close();
  process.send!(rate);
});

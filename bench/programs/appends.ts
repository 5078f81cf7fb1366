import { connect, createTables } from '../../src/store/sqlite/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { type Append, appendAll, appendsOf } from '../sampleAppends.ts';

// Durable appends, by the store or by the bare driver: a process of its own for each measurement.

export type Appending = {
  readonly by: 'store' | 'driver';
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

/** So many with each transaction. */
const byDriver = async (file: string, inFlight: number) => {
  const db = connect(file);
  createTables(db, file);
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

const writers = { store: byStore, driver: byDriver };

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

import Database from 'libsql';
import { projections } from '../../src/projections/all.ts';
import { collectionsOf } from '../../src/projections/engine/projector.ts';
import { runProjections } from '../../src/projections/engine/run.ts';
import { memoryReadStore } from '../../src/projections/index/memory.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

// A whole log read from the beginning: a process of its own for each measurement, which takes one order.

export type Replaying = { readonly by: 'projections' | 'driver'; readonly file: string };

/** Into read models in memory, until they are at the head: as at a start without a snapshot. Events per second. */
const byProjections = async (file: string): Promise<number> => {
  const store = await openSqliteStore({ file });
  const head = await store.head();
  const model = memoryReadStore({ collections: collectionsOf(projections) });
  const start = performance.now();
  const run = runProjections({
    store,
    model,
    projections,
    catchUp: Infinity,
    log: (message, about) => process.stderr.write(`${message} ${JSON.stringify(about)}\n`),
  });
  run.start();
  await run.reached(head, 600_000);
  const rate = (head / (performance.now() - start)) * 1000;
  const { total: parked } = await model.list('parked', { sort: 'name', order: 1, skip: 0, limit: 1 });
  if (!run.ready() || parked > 0) throw new Error('Not everything could be projected');
  await run.stop();
  await store.close();
  return rate;
};

const rowsAtOnce = 4096;

/**
 * Every column read, data and metadata parsed, nothing kept. Events per second. The driver is the one that the service
 * had when the goal was set: its successor reads faster, and that gain belongs to us.
 */
const byDriver = (file: string): number => {
  const db = new Database(file);
  const select = db
    .prepare(
      `SELECT position, stream, revision, id, type, data, metadata FROM events WHERE position > ? ORDER BY position LIMIT ${rowsAtOnce}`,
    )
    .raw();
  type Row = [
    position: number,
    stream: string,
    revision: number,
    id: string,
    type: string,
    data: string,
    metadata: string,
  ];
  const start = performance.now();
  let position = 0;
  let parsed = 0;
  const next = (): Row[] => select.all(position) as Row[];
  for (let rows = next(); rows.length > 0; rows = next()) {
    for (const [, , , , , data, metadata] of rows) if (JSON.parse(data) && JSON.parse(metadata)) parsed++;
    position = rows.at(-1)![0];
  }
  if (parsed !== position) throw new Error('Not everything was read');
  return (parsed / (performance.now() - start)) * 1000;
};

process.on('message', async ({ by, file }: Replaying) => {
  process.send!(await (by === 'projections' ? byProjections : byDriver)(file));
});

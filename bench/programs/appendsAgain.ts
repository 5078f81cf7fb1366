import type { NewEvent } from '../../src/store/port.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';

// Appends the events of the jobs of a log to other logs, in the same batches: each job's one after the other, all jobs at once.

export type AppendingAgain = { readonly from: string } | { readonly to: string };

type Row = { readonly topic: string; readonly data: { readonly more?: true } };

/** The appends of each job, in order. An append ends where its decision did not do all that could be done. */
const batchesIn = async (file: string): Promise<NewEvent[][][]> => {
  const store = await openSqliteStore({ file });
  const streams = new Map<string, NewEvent[][]>();
  for await (const { events } of store.readAll(0))
    for (const { stream, id, type, data, metadata } of events) {
      if (!stream.startsWith('job-')) continue;
      const batches = streams.get(stream) ?? [[]];
      streams.set(stream, batches);
      batches.at(-1)!.push({ id, type, data, metadata });
      if ((JSON.parse(String(data)) as Row['data']).more) batches.push([]);
    }
  await store.close();
  return [...streams.values()];
};

let all: NewEvent[][][] = [];

/** How many events a second are stored. */
const appendTo = async (file: string): Promise<number> => {
  const store = await openSqliteStore({ file });
  const start = performance.now();
  await Promise.all(
    all.map(async (batches, n) => {
      let revision = -1;
      for (const batch of batches) {
        await store.append(`job-${n}`, revision, batch);
        revision += batch.length;
      }
    }),
  );
  const took = performance.now() - start;
  await store.close();
  return (all.flat(2).length / took) * 1000;
};

process.on('message', async (order: AppendingAgain) => {
  if ('from' in order) all = await batchesIn(order.from);
  process.send!('to' in order ? await appendTo(order.to) : all.flat(2).length);
});
process.once('disconnect', () => process.exit());

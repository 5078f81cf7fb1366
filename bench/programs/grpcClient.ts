import { openEventStoreDb } from '../../src/store/eventstoredb/store.ts';
import { appendAll, appendsOf } from '../sampleAppends.ts';

// The client of EventStoreDB at work: appends with so many in flight, then reads all. Events per second.

export type GrpcClient = { readonly url: string; readonly count: number; readonly inFlight: number };
export type GrpcRates = { readonly appends: number; readonly reads: number };

process.on('message', async ({ url, count, inFlight }: GrpcClient) => {
  const store = await openEventStoreDb({ url, log: () => undefined });
  const appends = appendsOf(count * 1.25);
  const run = async (some: typeof appends): Promise<number> => {
    const start = performance.now();
    await appendAll(store, some, inFlight);
    return (some.length / (performance.now() - start)) * 1000;
  };
  await run(appends.slice(count));
  const appended = await run(appends.slice(0, count));
  const start = performance.now();
  let read = 0;
  for await (const { events } of store.readAll(0)) read += events.length;
  const reads = (read / (performance.now() - start)) * 1000;
  if (read < appends.length) throw new Error('Not everything was read');
  await store.close();
  process.send!({ appends: appended, reads } satisfies GrpcRates);
});

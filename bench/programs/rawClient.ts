import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { appendsOf } from '../sampleAppends.ts';

// The client of EventStoreDB as it is installed, in a process of its own: appends for a while, or reads everything
// once.

/** Appends keep so many in flight, each worker on a stream of its own, at the revision that it expects. */
export type RawWork = {
  readonly url: string;
  readonly appends?: { readonly inFlight: number; readonly milliseconds: number };
};
export type RawDone = { readonly count: number; readonly milliseconds: number };

const append = async (client: EventStoreDBClient, inFlight: number, milliseconds: number): Promise<number> => {
  const [{ event }] = appendsOf(1) as [ReturnType<typeof appendsOf>[number]];
  const [data, metadata] = [JSON.parse(event.data), JSON.parse(event.metadata)];
  const end = performance.now() + milliseconds;
  let count = 0;
  const worker = async (): Promise<void> => {
    const stream = `raw-${randomUUID()}`;
    for (let revision = -1n; performance.now() < end; count++) {
      const expectedRevision = revision < 0n ? NO_STREAM : revision;
      const stored = await client.appendToStream(stream, jsonEvent({ type: 'raw', data, metadata }), {
        expectedRevision,
      });
      revision = stored.nextExpectedRevision;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return count;
};

const read = async (client: EventStoreDBClient): Promise<number> => {
  let count = 0;
  for await (const { event } of client.readAll()) if (event && !event.type.startsWith('$')) count++;
  return count;
};

process.on('message', async ({ url, appends }: RawWork) => {
  const client = EventStoreDBClient.connectionString(url);
  const start = performance.now();
  const count = await (appends ? append(client, appends.inFlight, appends.milliseconds) : read(client));
  const milliseconds = performance.now() - start;
  await client.dispose();
  process.send!({ count, milliseconds } satisfies RawDone);
});

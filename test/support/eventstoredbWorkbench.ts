import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { ServerWritableStream, status } from '@grpc/grpc-js';
import { defined } from '../../src/domain/engine/defined.ts';
import type { Times } from '../../src/store/eventstoredb/connection.ts';
import { type EventStoreDb, openEventStoreDb } from '../../src/store/eventstoredb/store.ts';
import type { Batch, EventStore, Filter, StoredEvent } from '../../src/store/port.ts';
import { failure, type IStreamsServer, scriptedEventStore } from './scriptedEventStore.ts';
import { gather, newEvents, newStream } from './store.contract.ts';

export type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

/** Ends a call on the server's side with a failure. */
export const breakOff = (call: object, code: status): void =>
  void (call as NodeJS.EventEmitter).emit('error', failure(code));

/** Shows a test what the server is about to send: it may change the message, or keep it back by answering false. */
export const beforeSending = (call: ReadCall, look: (message: ReadResp) => unknown): void => {
  const write = call.write.bind(call);
  call.write = (message: ReadResp) => look(message) === false || write(message);
};

export const isSubscription = (call: ReadCall): boolean => call.request.getOptions()!.hasSubscription();

export const ids = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);
export const read = (store: EventStore, stream: string): Promise<StoredEvent[]> => gather(store.read(stream));
/** The events of batches. */
export const eventsOf = async function* (batches: AsyncIterable<Batch>): AsyncGenerator<readonly StoredEvent[]> {
  for await (const { events } of batches) yield events;
};
export const readAll = (store: EventStore, filter?: Filter): Promise<StoredEvent[]> =>
  gather(eventsOf(store.readAll(0, filter)));

/** Appends events to streams of their own, one after the other; their ids. */
export const fill = async (store: EventStore, count: number): Promise<string[]> => {
  const events = newEvents(count);
  for (const event of events) await store.append(newStream(), -1, [event]);
  return ids(events);
};

const quick: Times = { answer: 250, ping: 100, connect: 1000, tries: 3000, watch: 100 };

/** Servers and stores of a test, all ended after it; `lines` is what the stores have logged. */
export const workbench = () => {
  const bench = {
    ends: [] as (() => unknown)[],
    lines: [] as string[],
    serve: async (handlers: Partial<IStreamsServer>, options?: Parameters<typeof scriptedEventStore>[1]) => {
      const server = await scriptedEventStore(handlers, options);
      bench.ends.push(server.stop);
      return server;
    },
    open: async (url: string, times: Partial<Times> = {}, waits?: AbortSignal): Promise<EventStoreDb> => {
      const store = await openEventStoreDb({
        url,
        ...defined({ waits }),
        times: { ...quick, ...times },
        log: (message, about) => bench.lines.push(`${message} ${JSON.stringify(about)}`),
      });
      bench.ends.push(() => store.close());
      return store;
    },
    /** What a follower gets in the background. */
    following: (store: EventStore, after = 0, filter?: Filter) => {
      const stop = new AbortController();
      const batches: Batch[] = [];
      const done = (async () => {
        for await (const batch of store.follow(after, filter, stop.signal)) batches.push(batch);
      })();
      done.catch(() => undefined);
      bench.ends.push(async () => {
        stop.abort();
        await done.catch(() => undefined);
      });
      return {
        batches,
        done,
        events: (): StoredEvent[] =>
          batches.flatMap(({ events }) => [...events]).filter(({ type }) => type.startsWith('@test/')),
      };
    },
  };
  beforeEach(() => {
    bench.ends = [];
    bench.lines = [];
  });
  afterEach(async () => {
    for (const end of bench.ends.reverse()) await end();
  });
  return bench;
};

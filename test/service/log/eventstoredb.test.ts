import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { openEventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import type { Batch, EventStore, StoredEvent } from '../../../src/store/port.ts';
import { type GrpcLog, openGrpcLog } from '../../support/grpcLog.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { newEvents, storeContract } from '../../support/store.contract.ts';
import { twoWriters } from '../../support/twoWriters.ts';

const open = (url: string) => openEventStoreDb({ url, log: () => undefined });

/** A part of a store that others do not share: its ids and checkpoints begin with a prefix there. */
const partOf = (store: EventStore, prefix: string): EventStore => {
  const outer = (stream: string): string => stream.replace('-', `-${prefix}`);
  const inner = (events: readonly StoredEvent[]): StoredEvent[] =>
    events
      .filter(({ stream }) => stream.includes(`-${prefix}`))
      .map((event) => ({ ...event, stream: event.stream.replace(`-${prefix}`, '-') }));
  const batches = async function* (source: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    for await (const { events, position } of source) yield { events: inner(events), position };
  };
  return {
    ...store,
    append: (stream, expected, events) => store.append(outer(stream), expected, events),
    read: async function* (stream, from) {
      for await (const events of store.read(outer(stream), from)) yield inner(events);
    },
    readAll: (after, filter) => batches(store.readAll(after, filter)),
    follow: (after, filter, signal) => batches(store.follow(after, filter, signal)),
    checkpoint: (name) => store.checkpoint(prefix + name),
    checkpointsOf: async (reader) =>
      new Map([...(await store.checkpointsOf(prefix + reader))].map(([name, at]) => [name.slice(prefix.length), at])),
    setCheckpoint: (name, position) => store.setCheckpoint(prefix + name, position),
    removeCheckpoint: (name) => store.removeCheckpoint(prefix + name),
  };
};

/** Races over one log, which all share. Each reads it from its beginning, so these come first. */
const races = (name: string, url: () => string): void => {
  const part = async () => {
    const store = await open(url());
    return { store: partOf(store, `${randomUUID()}.`), close: store.close };
  };
  twoWriters(name, part, 3);
};

const holds = (name: string, url: () => string): void => {
  storeContract(name, () => open(url()));
  it(`${name}: gives the newest events first`, async () => {
    const store = await open(url());
    const stored: string[] = [];
    for (let n = 0; n < 3; n++) {
      const events = newEvents(20);
      await store.append(`thing-${randomUUID()}`, -1, events);
      stored.unshift(...events.map(({ id }) => id).toReversed());
    }
    const found: StoredEvent[] = [];
    for await (const events of store.readAllBack(Infinity)) if (found.push(...events) >= 60) break;
    assert.deepEqual(
      found.slice(0, 60).map(({ id }) => id),
      stored,
    );
    const [newest] = found;
    assert.ok(newest);
    for await (const [next] of store.readAllBack(newest.position)) {
      assert.equal(next?.id, stored[1]);
      break;
    }
    await store.close();
  });
};

// Other tests rely on this one doing as the real server; `npm run soak` finds out.
(process.env.SOAK_ROUNDS ? describe : describe.skip)('EventStoreDB as tests script it', () => {
  let server: Awaited<ReturnType<typeof scriptedEventStore>>;
  before(async () => {
    server = await scriptedEventStore(memoryEventStore().handlers);
  });
  after(() => server.stop());
  holds('EventStoreDB adapter over its protocol to arrays', () => server.url);
});

describe('EventStoreDB', () => {
  let log: GrpcLog;
  before(async () => {
    log = await openGrpcLog({ own: (stream) => !stream.startsWith('$') });
  });
  after(async () => {
    await log.close();
    assert.deepEqual(log.reported, []);
  });
  races('EventStoreDB adapter over gRPC to the embedded log', () => log.url());
  holds('EventStoreDB adapter over gRPC to the embedded log', () => log.url());
});

const real = process.env.TEST_ESDB_URL;
if (real) {
  races('EventStoreDB', () => real);
  holds('EventStoreDB', () => real);
}

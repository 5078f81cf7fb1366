import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { RequestError } from '../../src/domain/engine/requestError.ts';
import {
  type Appended,
  type Batch,
  checkSize,
  type EventStore,
  type Filter,
  type NewEvent,
  type StoredEvent,
  WrongRevision,
} from '../../src/store/port.ts';
import { follow, newest } from '../../src/store/sqlite/follow.ts';

/** The events and checkpoints of a log in memory. */
export const memoryContent = () => ({
  id: randomUUID(),
  events: [] as StoredEvent[],
  streams: new Map<string, StoredEvent[]>(),
  checkpoints: new Map<string, number>(),
});

const chunkSize = 256;

/**
 * A log in memory that passes the contract of logs, for tests that are about what happens above the log: a file costs a
 * thread and a connection. An append is settled in a later turn of the event loop.
 */
export const openMemoryLog = (content = memoryContent()): EventStore => {
  const { id, events, streams, checkpoints } = content;
  const news = newest(events.length);
  let closing = false;
  let closed = false;

  const refuseIf = (isOver: boolean): void => {
    if (isOver) throw new RequestError('unavailable', 'The log is closed');
  };
  const read = <Result>(find: () => Result): Result => {
    refuseIf(closed);
    return find();
  };
  /** Changes the content in the next turn. `close` lets the changes before it happen. */
  const change = async <Result>(make: () => Result): Promise<Result> => {
    refuseIf(closing);
    await nextTurn();
    return make();
  };

  const store = (stream: string, expected: number, added: readonly NewEvent[]): Appended => {
    const before = streams.get(stream) ?? [];
    const revision = expected + added.length;
    const last = before[revision];
    if (last && added.every((event, n) => before[expected + 1 + n]?.id === event.id))
      return { revision, position: last.position };
    if (before.length - 1 !== expected) throw new WrongRevision(stream, expected, before.length - 1);
    const stored = added.map(({ id, type, data, metadata }, n): StoredEvent => {
      const place = { stream, revision: before.length + n, position: events.length + 1 + n };
      return { ...place, id, type, data, metadata };
    });
    events.push(...stored);
    streams.set(stream, [...before, ...stored]);
    news.add(stored);
    news.wake();
    return { revision, position: events.length };
  };

  const set = (name: string, position: number | undefined): void => {
    if (position === undefined) checkpoints.delete(name);
    else checkpoints.set(name, position);
  };

  const chunks =
    (filter: Filter | undefined) =>
    (after: number, until: number): Batch => {
      const found = read(() => events.slice(after, Math.min(until, after + chunkSize)));
      const passing = filter ? found.filter(({ type }) => filter.some((prefix) => type.startsWith(prefix))) : found;
      return { events: passing, position: found.at(-1)?.position ?? until };
    };

  const inChunks = async function* (after: number, until: number, filter?: Filter): AsyncGenerator<Batch> {
    for (let position = after; position < until; await nextTurn()) {
      const batch = chunks(filter)(position, until);
      yield batch;
      position = batch.position;
    }
  };

  const reads = { chunks, closed: () => closed };
  return {
    id,
    append: async (stream, expected, added) => {
      checkSize(added);
      return change(() => store(stream, expected, added));
    },
    async *read(stream, from = 0) {
      const all = read(() => streams.get(stream) ?? []);
      for (let next = from; next < all.length; next += chunkSize) yield all.slice(next, next + chunkSize);
    },
    async *readCategory(category, until) {
      for (const stream of read(() => [...streams.keys()].sort())) {
        const found = streams.get(stream)?.filter(({ position }) => position <= until) ?? [];
        if (stream.startsWith(`${category}-`) && found.length > 0) yield found;
      }
    },
    readAll: (after, filter) => inChunks(after, read(news.head), filter),
    follow: (after, filter, signal) =>
      follow({ reads, news: { ...news, ahead: () => undefined } }, after, filter, signal),
    at: async (position) => read(() => events[position - 1]),
    head: async () => read(news.head),
    checkpoint: async (name) => read(() => checkpoints.get(name)),
    takeCheckpoint: async (name) => read(() => checkpoints.get(name)),
    checkpointsOf: async (reader) =>
      read(() => new Map([...checkpoints].filter(([name]) => name.startsWith(`${reader}:`)).sort())),
    setCheckpoint: (name, position) => change(() => set(name, position)),
    removeCheckpoint: (name) => change(() => set(name, undefined)),
    keepCheckpoint: (name, position) => change(() => set(name, position)),
    fault: () => undefined,
    connected: () => !closed,
    close: async () => {
      closing = true;
      await nextTurn();
      closed = true;
      news.wake();
    },
  };
};

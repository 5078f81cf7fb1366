import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { RequestError } from '../../src/domain/engine/requestError.ts';
import {
  type Batch,
  type EventStore,
  type Filter,
  type NewEvent,
  type StoredEvent,
  WrongRevision,
} from '../../src/store/port.ts';
import { anyCharacter } from './anyText.ts';
import { sampled } from './sample.ts';

export const newStream = (): string => `thing-${randomUUID()}`;

export const newEvent = (data: unknown = {}, type = '@test/things:thingChanged'): NewEvent => ({
  id: randomUUID(),
  type,
  data: JSON.stringify(data),
  metadata: JSON.stringify({ at: '2026-01-01T00:00:00.000Z' }),
});

export const newEvents = (count: number): NewEvent[] => Array.from({ length: count }, (_, n) => newEvent(n));

export const refused =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof RequestError && error.code === code;

/** Everything that an iteration of lists gives, in one list. */
export const gather = async <T>(lists: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const all: T[] = [];
  for await (const list of lists) all.push(...list);
  return all;
};

/** The events that a follower sees until it has been told of everything up to a position. */
const followTo = async (store: EventStore, after: number, until: number): Promise<StoredEvent[]> => {
  const enough = new AbortController();
  const events: StoredEvent[] = [];
  for await (const batch of store.follow(after, undefined, enough.signal)) {
    events.push(...batch.events);
    if (batch.position >= until) enough.abort();
  }
  return events;
};

const wrongRevision =
  (actual: number) =>
  (error: unknown): boolean =>
    error instanceof WrongRevision && error.actual === actual;

/**
 * That the events are in the order of the log, each once, and those of each stream complete from its first revision.
 */
const assertComplete = (events: readonly StoredEvent[], count: number): void => {
  assert.equal(events.length, count);
  const next = new Map<string, number>();
  let last = 0;
  for (const { stream, revision, position } of events) {
    assert.ok(position > last, `position ${position} comes after ${last}`);
    assert.equal(revision, next.get(stream) ?? 0, `revision of ${stream}`);
    next.set(stream, revision + 1);
    last = position;
  }
};

/**
 * What every event store must do. `open` is given a folder, empty for each test; opening the same folder again must
 * give the same log. The log may hold other events already. Nobody writes to it meanwhile but a server for itself (its
 * own streams and types begin with `$`): these events the store leaves out, so every test counts all that it is given.
 */
export const storeContract = (name: string, open: (folder: string) => Promise<EventStore>) =>
  describe(`event store: ${name}`, () => {
    let folder: string;
    let store: EventStore;
    let start: number;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'store-'));
      store = await open(folder);
      start = await store.head();
    });
    afterEach(async () => {
      await store.close();
      await rm(folder, { recursive: true });
    });

    const append = (stream: string, expected: number, events: readonly NewEvent[] = [newEvent()]) =>
      store.append(stream, expected, events);
    const read = (stream: string, from?: number) => gather(store.read(stream, from));
    const batches = async (after: number, filter?: Filter): Promise<Batch[]> => {
      const all: Batch[] = [];
      for await (const batch of store.readAll(after, filter)) all.push(batch);
      return all;
    };
    const readAll = async (after: number, filter?: Filter) =>
      (await batches(after, filter)).flatMap(({ events }) => events);
    /** Appends one event after the other to a stream of its own. */
    const chain = async (length: number): Promise<void> => {
      const stream = newStream();
      for (let revision = -1; revision < length - 1; revision++) await append(stream, revision);
    };

    describe('an append', () => {
      it('is given back in order, with revisions from 0 and ascending positions', async () => {
        const stream = newStream();
        const events = newEvents(3);
        const first = await append(stream, -1, events.slice(0, 2));
        const second = await append(stream, 1, events.slice(2));
        const stored = await read(stream);
        assert.deepEqual(
          stored.map(({ position: _, ...rest }) => rest),
          events.map((event, revision) => ({ ...event, stream, revision })),
        );
        assert.deepEqual(first, { revision: 1, position: stored[1]!.position });
        assert.deepEqual(second, { revision: 2, position: stored[2]!.position });
        assert.ok(
          start < stored[0]!.position && stored[0]!.position < first.position && first.position < second.position,
        );
      });
      it('keeps its texts byte for byte', async () => {
        const texts = [
          'Zoë',
          '日本語',
          '👩‍👩‍👧 𝒳 😀',
          'e\u0301',
          '\u0001\u001f\u007f\u0080\u2028\ufeff',
          '\\ " \' ; -- %',
          '__proto__',
          '',
          'x'.repeat(400 * 1024),
          [1e21, 5e-324, 0.1, -1, null, true],
        ];
        const events = texts.map((text) => newEvent({ text, [String(text).slice(0, 20)]: 1 }));
        const streams = await Promise.all(
          events.map(async (event) => {
            const stream = newStream();
            await append(stream, -1, [event]);
            return stream;
          }),
        );
        for (const [n, stream] of streams.entries()) {
          const [{ data, metadata } = newEvent()] = await read(stream);
          assert.deepEqual({ data, metadata }, { data: events[n]!.data, metadata: events[n]!.metadata });
        }
      });
      it('keeps any JSON byte for byte', () =>
        fc.assert(
          fc.asyncProperty(
            fc.array(
              fc.tuple(
                fc.jsonValue({ stringUnit: anyCharacter }),
                fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue({ stringUnit: anyCharacter })),
              ),
              { minLength: 1, maxLength: 5 },
            ),
            async (values) => {
              const stream = newStream();
              const events = values.map(([data, metadata]) => ({
                ...newEvent(data),
                metadata: JSON.stringify(metadata),
              }));
              await append(stream, -1, events);
              assert.deepEqual(
                (await read(stream)).map(({ id, type, data, metadata }) => ({ id, type, data, metadata })),
                events,
              );
            },
          ),
          { numRuns: process.env.SOAK_ROUNDS ? 1000 : 10 },
        ));
      it('is refused when the stream is at another revision, which the error names, and stores nothing', async () => {
        const stream = newStream();
        await assert.rejects(append(stream, 0), wrongRevision(-1));
        await append(stream, -1, newEvents(3));
        for (const expected of [-1, 0, 1, 3, 100])
          await assert.rejects(append(stream, expected, newEvents(2)), wrongRevision(2));
        assert.equal((await read(stream)).length, 3);
      });
      it('wins alone when many want the same revision', async () => {
        const stream = newStream();
        const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => append(stream, -1)));
        assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
        for (const outcome of outcomes) assert.ok(outcome.status === 'fulfilled' || wrongRevision(0)(outcome.reason));
        assert.equal((await read(stream)).length, 1);
      });
      it('is not disturbed by others that are refused', async () => {
        const streams = Array.from({ length: 40 }, newStream);
        const outcomes = await Promise.allSettled(
          streams.map((stream, n) => append(stream, n % 2 ? 7 : -1, newEvents(3))),
        );
        assert.deepEqual(
          outcomes.map(({ status }) => status),
          streams.map((_, n) => (n % 2 ? 'rejected' : 'fulfilled')),
        );
        assert.deepEqual(
          await Promise.all(streams.map(async (stream) => (await read(stream)).length)),
          streams.map((_, n) => (n % 2 ? 0 : 3)),
        );
      });
      it('is stored once when it is repeated, and answered as the first time', async () => {
        const stream = newStream();
        const events = newEvents(3);
        const appended = await append(stream, -1, events);
        assert.deepEqual(await append(stream, -1, events), appended);
        await append(stream, 2);
        assert.deepEqual(await append(stream, -1, events), appended);
        assert.equal((await read(stream)).length, 4);
        const last = await append(stream, 3, newEvents(1));
        assert.equal(last.revision, 4);
      });
      it('is stored once when it is repeated at the same time', async () => {
        const stream = newStream();
        const events = newEvents(2);
        const [first, ...more] = await Promise.all([
          append(stream, -1, events),
          append(stream, -1, events),
          append(stream, -1, events),
        ]);
        for (const other of more) assert.deepEqual(other, first);
        assert.equal((await read(stream)).length, 2);
      });
      it('is no repetition when an id differs', async () => {
        const stream = newStream();
        const [one, two, three] = newEvents(3) as [NewEvent, NewEvent, NewEvent];
        await append(stream, -1, [one, two]);
        for (const others of [
          [one, three],
          [three, two],
          [two, one],
          [one, two, three],
        ]) {
          await assert.rejects(append(stream, -1, others), wrongRevision(1));
        }
      });
      it('takes an event of 512 KiB and a change of 900 KiB, and no more', async () => {
        const empty = { ...newEvent(), type: 't', metadata: '{}' };
        const sized = (bytes: number): NewEvent => ({
          ...empty,
          id: randomUUID(),
          data: JSON.stringify('ä'.repeat((bytes - 5) / 2) + (bytes % 2 ? '' : 'a')).slice(0),
        });
        const stream = newStream();
        await append(stream, -1, [sized(512 * 1024)]);
        await append(stream, 0, [sized(450 * 1024), sized(450 * 1024)]);
        await assert.rejects(append(stream, 2, [sized(512 * 1024 + 1)]), refused('too_large'));
        await assert.rejects(
          append(stream, 2, [sized(450 * 1024), sized(450 * 1024), newEvent()]),
          refused('too_large'),
        );
        await assert.rejects(append(stream, 2, []), RangeError);
        assert.equal((await read(stream)).length, 3);
      });
    });

    describe('reading a stream', () => {
      it('begins at a revision, and gives nothing beyond the last', async () => {
        const stream = newStream();
        assert.deepEqual(await read(stream), []);
        await append(stream, -1, newEvents(5));
        assert.deepEqual(
          (await read(stream, 3)).map(({ revision }) => revision),
          [3, 4],
        );
        assert.deepEqual(await read(stream, 5), []);
      });
      it('shows an append as soon as it is acknowledged, to who knew the end of the stream', async () => {
        const stream = newStream();
        for (let revision = 0; revision < 20; revision++) {
          assert.deepEqual(await read(stream, revision), []);
          const { revision: last } = await append(stream, revision - 1);
          const found = await read(stream, revision);
          assert.deepEqual([last, ...found.map((event) => event.revision)], [revision, revision]);
        }
      });
      it('shows an append that was refused nowhere, and the one that won', async () => {
        const stream = newStream();
        await read(stream);
        const tries = await Promise.allSettled([append(stream, -1), append(stream, -1), append(stream, 0)]);
        const won = tries.filter(({ status }) => status === 'fulfilled').length;
        assert.equal((await read(stream)).length, won);
        assert.deepEqual(await read(stream, won), []);
      });
      it('gives a long one in several parts', async () => {
        const stream = newStream();
        for (let n = 0; n < 4; n++) await append(stream, 500 * n - 1, newEvents(500));
        let parts = 0;
        let next = 0;
        for await (const events of store.read(stream)) {
          for (const { revision } of events) assert.equal(revision, next++);
          parts++;
        }
        assert.equal(next, 2000);
        assert.ok(parts > 1);
      });
      it('is not confused by streams with similar names', async () => {
        const stream = newStream();
        for (const name of [stream, `${stream}0`, stream.toUpperCase(), `${stream}-%`]) await append(name, -1);
        assert.equal((await read(stream)).length, 1);
      });
    });

    describe('reading the log', () => {
      it('gives everything after a position, in order', async () => {
        await Promise.all(Array.from({ length: 10 }, () => chain(10)));
        const all = await readAll(start);
        assertComplete(all, 100);
        assert.deepEqual(await readAll(all[39]!.position), all.slice(40));
        assert.deepEqual(await readAll(all[99]!.position), []);
      });
      it('ends at what was stored when it was called', async () => {
        await chain(3);
        let count = 0;
        for await (const { events } of store.readAll(start)) {
          count += events.length;
          await chain(3);
        }
        assert.equal(count, 3);
      });
      it('can go on from the position of any part', async () => {
        for (let n = 0; n < 3; n++) await append(newStream(), -1, newEvents(400));
        const parts = await batches(start);
        const all = parts.flatMap(({ events }) => events);
        assert.ok(parts.length > 1);
        assert.equal(all.length, 1200);
        for (const [n, { position }] of sampled([...parts.entries()], 4)) {
          const seen = parts.slice(0, n + 1).flatMap(({ events }) => events).length;
          assert.deepEqual(
            (await readAll(position)).map(({ id }) => id),
            all.slice(seen).map(({ id }) => id),
          );
        }
      });
      it('gives only types that begin with one of the prefixes', async () => {
        const types = ['@a/one:x', '@a/two:x', '@a/one:y', '@b/one:x', '@A/one:x', '@a%one:x'];
        for (const type of types) await append(newStream(), -1, [newEvent({}, type)]);
        const typesOf = async (filter: Filter) => (await readAll(start, filter)).map(({ type }) => type);
        assert.deepEqual(await typesOf(['@a/one:']), ['@a/one:x', '@a/one:y']);
        assert.deepEqual(await typesOf(['@b/', '@a/two:x']), ['@a/two:x', '@b/one:x']);
        assert.deepEqual(await typesOf(['@a/', '@a/one:']), ['@a/one:x', '@a/two:x', '@a/one:y']);
        assert.deepEqual(await typesOf(['@a%']), ['@a%one:x']);
        assert.deepEqual(await typesOf(['one:']), []);
      });
      it('comes to the end also when nothing passes the filter', async () => {
        await chain(5);
        const parts = await batches(start, ['@none/']);
        assert.deepEqual(
          parts.flatMap(({ events }) => events),
          [],
        );
        assert.ok(parts.at(-1)!.position >= (await readAll(start)).at(-1)!.position);
      });
      it('finds the event at a position, and none where there is none', async () => {
        const { position } = await append(newStream(), -1, newEvents(2));
        const [first, second] = await readAll(start);
        assert.deepEqual(await store.at(first!.position), first);
        assert.deepEqual(await store.at(position), second);
        assert.equal(await store.at(position + 1), undefined);
        assert.equal(await store.at(0), undefined);
      });
      it('has its head at the newest event', async () => {
        const { position } = await append(newStream(), -1, newEvents(2));
        assert.equal(await store.head(), position);
        await assert.rejects(append(newStream(), 5), WrongRevision);
        assert.equal(await store.head(), position);
      });
    });

    describe('following the log', () => {
      it('goes from what is there to what is new without gap or repetition', async () => {
        await Promise.all(Array.from({ length: 10 }, () => chain(20)));
        const writing = Promise.all(Array.from({ length: 20 }, () => chain(20)));
        const seen = [];
        const enough = new AbortController();
        for await (const { events } of store.follow(start, undefined, enough.signal)) {
          seen.push(...events);
          if (seen.length >= 600) enough.abort();
        }
        await writing;
        assertComplete(seen, 600);
        assert.deepEqual(seen, await readAll(start));
      });
      it('serves several at once, from any position, at their own pace', async () => {
        await chain(50);
        const middle = await store.head();
        const followers = [start, middle, middle].map(async (after, n) => {
          const seen: StoredEvent[] = [];
          const enough = new AbortController();
          for await (const { events } of store.follow(after, undefined, enough.signal)) {
            seen.push(...events);
            if (n === 2) for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
            if (seen.length >= (n === 0 ? 450 : 400)) enough.abort();
          }
          return seen;
        });
        await Promise.all(Array.from({ length: 40 }, () => chain(10)));
        const all = await readAll(start);
        const [first, ...others] = await Promise.all(followers);
        assert.deepEqual(first, all);
        for (const seen of others) assert.deepEqual(seen, all.slice(50));
      });
      it('gives only types that begin with one of the prefixes, and its position passes over the others', async () => {
        const mixed = async () => {
          for (const type of ['@a/one:x', '@b/one:x', '@a/two:x', '@c/one:x'])
            await append(newStream(), -1, [newEvent({}, type)]);
          const last = await store.head();
          // A position may lag behind by some that do not pass.
          await append(
            newStream(),
            -1,
            Array.from({ length: 64 }, () => newEvent({}, '@c/one:x')),
          );
          return last;
        };
        let last = await mixed();
        const seen: string[] = [];
        const positions: number[] = [start];
        const enough = new AbortController();
        let more = false;
        for await (const { events, position } of store.follow(start, ['@a/', '@b/one:'], enough.signal)) {
          seen.push(...events.map(({ type }) => type));
          assert.ok(position >= positions.at(-1)!);
          positions.push(position);
          if (position < last) continue;
          if (more) enough.abort();
          else last = await mixed();
          more = true;
        }
        assert.deepEqual(seen, ['@a/one:x', '@b/one:x', '@a/two:x', '@a/one:x', '@b/one:x', '@a/two:x']);
      });
      it('delivers what was appended twice once, and all that came after it', async () => {
        const stream = newStream();
        const events = newEvents(2);
        await append(stream, -1, events);
        const { position } = await append(stream, 1);
        await append(stream, -1, events);
        assert.deepEqual(await followTo(store, start, position), await read(stream));
      });
      it('delivers nothing that cannot be read', async () => {
        const writing = Promise.all(Array.from({ length: 8 }, () => chain(10)));
        let seen = 0;
        const enough = new AbortController();
        for await (const { events } of store.follow(start, undefined, enough.signal)) {
          for (const event of events) assert.deepEqual(await store.at(event.position), event);
          seen += events.length;
          if (seen >= 80) enough.abort();
        }
        await writing;
      });
      it('ends when the signal aborts: before it begins, while it waits, and while there is more', async () => {
        await chain(10);
        assert.deepEqual(await gather(eventsOf(store.follow(start, undefined, AbortSignal.abort()))), []);
        const stop = new AbortController();
        const waiting = store.follow(await store.head(), undefined, stop.signal)[Symbol.asyncIterator]();
        const next = waiting.next();
        stop.abort();
        assert.equal((await next).done, true);
        const one = new AbortController();
        let parts = 0;
        for await (const _ of store.follow(start, undefined, one.signal)) {
          parts++;
          one.abort();
          await chain(2);
        }
        assert.equal(parts, 1);
      });
      it('ends when the store is closed, and nothing is left behind by those who went before', async () => {
        await chain(2);
        for await (const _ of store.follow(start, undefined, new AbortController().signal)) break;
        const waiting = store
          .follow(await store.head(), undefined, new AbortController().signal)
          [Symbol.asyncIterator]();
        const next = waiting.next();
        await store.close();
        assert.equal((await next).done, true);
      });
    });

    describe('a checkpoint', () => {
      it('is missing at first, then what was set last, by name', async () => {
        const name = `reaction ${randomUUID()} ä`;
        assert.equal(await store.checkpoint(name), undefined);
        await store.setCheckpoint(name, 17);
        await store.setCheckpoint(`${name}2`, 5);
        assert.equal(await store.checkpoint(name), 17);
        await Promise.all([
          store.setCheckpoint(name, 18),
          append(newStream(), -1),
          store.setCheckpoint(`${name}2`, 2 ** 50),
        ]);
        assert.equal(await store.checkpoint(name), 18);
        assert.equal(await store.checkpoint(`${name}2`), 2 ** 50);
        await store.setCheckpoint(name, 3);
        await store.close();
        store = await open(folder);
        assert.equal(await store.checkpoint(name), 3);
      });
      it('may be 0, which is not the same as none', async () => {
        const name = `zero:${randomUUID()}`;
        await store.setCheckpoint(name, 0);
        assert.equal(await store.checkpoint(name), 0);
      });
      it('is gone when it was removed, and may be set again', async () => {
        const name = `removed ${randomUUID()}`;
        await store.removeCheckpoint(name);
        await store.setCheckpoint(name, 17);
        await store.setCheckpoint(`${name}2`, 18);
        await store.removeCheckpoint(name);
        await store.removeCheckpoint(name);
        assert.equal(await store.checkpoint(name), undefined);
        assert.equal(await store.checkpoint(`${name}2`), 18);
        await store.close();
        store = await open(folder);
        assert.equal(await store.checkpoint(name), undefined);
        await store.setCheckpoint(name, 5);
        assert.equal(await store.checkpoint(name), 5);
      });
      it('that is taken can be kept and given up', async () => {
        const name = `taken:${randomUUID()}`;
        assert.equal(await store.takeCheckpoint(name), undefined);
        await store.keepCheckpoint(name, undefined);
        await store.keepCheckpoint(name, 7);
        await store.keepCheckpoint(name, 3);
        assert.equal(await store.takeCheckpoint(name), 3);
        assert.deepEqual(await store.checkpointsOf('taken'), new Map([[name, 3]]));
        await store.keepCheckpoint(name, undefined);
        assert.equal(await store.checkpoint(name), undefined);
        await store.keepCheckpoint(name, 9);
        await store.close();
        store = await open(folder);
        assert.equal(await store.checkpoint(name), 9);
      });
      it('is found by its reader when its name has a colon', async () => {
        const reader = `reader_%${randomUUID()}`;
        assert.deepEqual(await store.checkpointsOf(reader), new Map());
        const positions = Array.from({ length: 60 }, (_, n) => [`${reader}:${1000 + n}`, 2 * n] as const);
        await Promise.all(positions.map(([name, position]) => store.setCheckpoint(name, position)));
        for (const other of [reader, `${reader}2:a`, `x${reader}:a`, reader.toUpperCase(), `${reader.toUpperCase()}:a`])
          await store.setCheckpoint(other, 7);
        assert.deepEqual(await store.checkpointsOf(reader), new Map(positions));
        await store.setCheckpoint(`${reader}:1001`, 99);
        for (const [name] of positions.slice(2)) await store.removeCheckpoint(name);
        await store.removeCheckpoint(`${reader}:never`);
        await store.close();
        store = await open(folder);
        const left = new Map([
          [`${reader}:1000`, 0],
          [`${reader}:1001`, 99],
        ]);
        assert.deepEqual(await store.checkpointsOf(reader), left);
        await store.setCheckpoint(`${reader}:1005`, 1);
        assert.deepEqual(await store.checkpointsOf(reader), new Map([...left, [`${reader}:1005`, 1]]));
      });
    });

    describe('closing', () => {
      it('finishes what is under way and refuses what comes later', async () => {
        const under = Array.from({ length: 30 }, () => append(newStream(), -1));
        const closed = store.close();
        await assert.rejects(append(newStream(), -1), refused('unavailable'));
        await closed;
        assert.equal((await Promise.all(under)).length, 30);
        await assert.rejects(append(newStream(), -1), refused('unavailable'));
        await assert.rejects(store.setCheckpoint('x', 1), refused('unavailable'));
        await assert.rejects(store.removeCheckpoint('x'), refused('unavailable'));
        await assert.rejects(store.checkpointsOf('x'), refused('unavailable'));
        await assert.rejects(store.head(), refused('unavailable'));
        await assert.rejects(read(newStream()), refused('unavailable'));
        await assert.rejects(readAll(start), refused('unavailable'));
        assert.equal(store.fault(), undefined);
        await store.close();
      });
      it('keeps everything: the same log is there when it is opened again', async () => {
        const { id } = store;
        const stream = newStream();
        const events = newEvents(3);
        const appended = await append(stream, -1, events);
        const before = await readAll(start);
        await store.close();
        store = await open(folder);
        assert.equal(store.id, id);
        assert.deepEqual(await readAll(start), before);
        assert.deepEqual(await append(stream, -1, events), appended);
        await assert.rejects(append(stream, 0), wrongRevision(2));
        assert.ok((await append(stream, 2)).position > appended.position);
      });
    });
  });

const eventsOf = async function* (batches: AsyncIterable<Batch>) {
  for await (const { events } of batches) yield events;
};

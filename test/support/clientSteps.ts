import assert from 'node:assert/strict';
import { once } from 'node:events';
import type * as Kurrent from '@kurrent/kurrentdb-client';

type Client = Kurrent.KurrentDBClient;

/** What a step has: a client's library, as the newest one is typed, and connections of accounts of the tests. */
export type Tools = {
  readonly library: typeof Kurrent;
  readonly connect: (account: 'writer' | 'reader' | 'nobody') => Client;
  readonly passwordOf: (account: string) => string;
  /** Name of a stream of its own for every step. */
  readonly stream: string;
};

/** What a write expects, as both libraries name it. */
const at = <Expected extends Kurrent.AppendStreamState>(expected: Expected) => ({
  streamState: expected,
  expectedRevision: expected,
});

const events = async (
  found: AsyncIterable<Kurrent.ResolvedEvent>,
  count = Infinity,
): Promise<Kurrent.RecordedEvent[]> => {
  const all: Kurrent.RecordedEvent[] = [];
  for await (const { event } of found) {
    if (event) all.push(event);
    if (all.length >= count) break;
  }
  return all;
};

const texts = async (found: AsyncIterable<Kurrent.ResolvedEvent>, count?: number): Promise<unknown[]> =>
  (await events(found, count)).map(({ data }) => (data as { text?: unknown }).text);

const notes = ({ jsonEvent }: typeof Kurrent, ...all: readonly string[]) =>
  all.map((text) => jsonEvent({ type: `note-${text}`, data: { text }, metadata: { by: 'a test' } }));

const numbered = (count: number, from = 0): string[] => Array.from({ length: count }, (_, n) => String(from + n));

const refused = (work: Promise<unknown>, type: string, words: RegExp = /(?:)/): Promise<void> =>
  assert.rejects(work, (error: unknown) => {
    assert.equal((error as { type?: unknown }).type, type, String(error));
    assert.match((error as Error).message, words);
    return true;
  });

/** What clients of EventStoreDB do with a log, each in words. They run in a process that has one client alone. */
export const steps: Readonly<Record<string, (tools: Tools) => Promise<void>>> = {
  'append and read': async ({ library, connect, passwordOf, stream }) => {
    const { BACKWARDS, END, binaryEvent } = library;
    const writer = connect('writer');
    const credentials = { username: 'writer', password: passwordOf('writer') };
    assert.equal(
      (await writer.appendToStream(stream, notes(library, 'a', 'b'), at('no_stream'))).nextExpectedRevision,
      1n,
    );
    assert.equal(
      (await writer.appendToStream(stream, notes(library, 'c'), { ...at(1n), credentials })).nextExpectedRevision,
      2n,
    );
    await writer.appendToStream(stream, notes(library, 'd'), at('stream_exists'));
    await writer.appendToStream(stream, notes(library, 'e'), at('any'));
    await refused(writer.appendToStream(stream, notes(library, 'x'), at('no_stream')), 'wrong-expected-version');
    await refused(writer.appendToStream(stream, notes(library, 'x'), at(9n)), 'wrong-expected-version');
    const reader = connect('reader');
    assert.deepEqual(await texts(reader.readStream(stream)), ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual(await texts(reader.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 2 })), [
      'e',
      'd',
    ]);
    assert.deepEqual(await texts(reader.readStream(stream, { fromRevision: 3n })), ['d', 'e']);
    const [first] = await events(reader.readStream(stream));
    assert.deepEqual(
      [first!.type, first!.revision, first!.streamId, first!.metadata, first!.isJson],
      ['note-a', 0n, stream, { by: 'a test' }, true],
    );
    const all = (await events(reader.readAll())).filter(({ streamId }) => streamId === stream);
    assert.deepEqual(
      all.map(({ revision }) => revision),
      [0n, 1n, 2n, 3n, 4n],
    );
    assert.deepEqual(await texts(reader.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })), ['e']);
    await writer.appendToStream(stream, binaryEvent({ type: 'bytes', data: Uint8Array.from([0, 255, 128]) }));
    const [bytes] = await events(reader.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 }));
    assert.deepEqual([bytes!.isJson, [...(bytes!.data as Uint8Array)]], [false, [0, 255, 128]]);
  },
  'append a flood at any': async ({ library, connect, stream }) => {
    const writer = connect('writer');
    const value = numbered(process.env.SOAK_ROUNDS ? 2000 : 300);
    // All are sent at once, so the last one waits for all others.
    await Promise.all(value.map((text) => writer.appendToStream(stream, notes(library, text), { deadline: 120_000 })));
    assert.deepEqual((await texts(connect('reader').readStream(stream))).toSorted(), value.toSorted());
  },
  'subscribe to a stream, catch up and go on': async ({ library, connect, stream }) => {
    const writer = connect('writer');
    await writer.appendToStream(stream, notes(library, ...numbered(600)));
    const subscription = connect('reader').subscribeToStream(stream, { fromRevision: 9n });
    const caughtUp = once(subscription, 'caughtUp');
    const seen = texts(subscription, 593);
    await caughtUp;
    await writer.appendToStream(stream, notes(library, '600', '601', '602'));
    assert.deepEqual(await seen, numbered(593, 10));
  },
  'subscribe to the log with a filter': async ({ library, connect, stream }) => {
    const writer = connect('writer');
    await writer.appendToStream(stream, notes(library, 'a', 'b'));
    const filters = [
      library.streamNameFilter({ prefixes: [stream] }),
      library.streamNameFilter({ regex: `^${stream}$` }),
      library.eventTypeFilter({ regex: '^note-' }),
    ];
    const subscriptions = filters.map((filter) =>
      connect('reader').subscribeToAll({ filter, fromPosition: library.START }),
    );
    const seen = subscriptions.map(async (subscription) => {
      const mine: unknown[] = [];
      for await (const { event } of subscription) {
        if (event?.streamId === stream) mine.push((event.data as { text: unknown }).text);
        if (mine.length === 3) return mine;
      }
      return mine;
    });
    await Promise.all(subscriptions.map((subscription) => once(subscription, 'caughtUp')));
    await writer.appendToStream(stream, notes(library, 'c'));
    for (const texts of await Promise.all(seen)) assert.deepEqual(texts, ['a', 'b', 'c']);
  },
  'delete and tombstone': async ({ library, connect, stream }) => {
    const writer = connect('writer');
    const reader = connect('reader');
    await refused(texts(reader.readStream(stream)), 'stream-not-found');
    for (const expected of ['any', 'no_stream', 0n] as const)
      await refused(writer.deleteStream(stream, at(expected)), 'wrong-expected-version');
    await writer.appendToStream(stream, notes(library, 'a', 'b'));
    await refused(writer.deleteStream(stream, at(0n)), 'wrong-expected-version');
    assert.ok((await writer.deleteStream(stream, at(1n))).position);
    await refused(texts(reader.readStream(stream)), 'stream-not-found');
    assert.equal((await writer.appendToStream(stream, notes(library, 'c'), at('no_stream'))).nextExpectedRevision, 2n);
    assert.deepEqual(await texts(reader.readStream(stream)), ['c']);
    assert.ok((await writer.tombstoneStream(stream)).position);
    await refused(texts(reader.readStream(stream)), 'stream-deleted');
    await refused(writer.appendToStream(stream, notes(library, 'd')), 'stream-deleted');
    assert.ok((await writer.tombstoneStream(`${stream}-never`, at('no_stream'))).position);
  },
  'set and read the metadata of a stream': async ({ library, connect, stream }) => {
    const writer = connect('writer');
    await writer.appendToStream(stream, notes(library, 'a', 'b', 'c'));
    await writer.setStreamMetadata(stream, { maxCount: 2, owner: 'Zoë' });
    assert.deepEqual((await writer.getStreamMetadata(stream)).metadata, { maxCount: 2, owner: 'Zoë' });
    assert.deepEqual(await texts(writer.readStream(stream)), ['b', 'c']);
    await refused(
      writer.setStreamMetadata(stream, { acl: { readRoles: ['x'] } }),
      'unknown',
      /\$acl is the access list/,
    );
    await refused(
      writer.appendToStream(stream, library.jsonEvent({ type: '$>', data: '0@x' as never })),
      'unknown',
      /\$> are links/,
    );
  },
  'be told that there are no persistent subscriptions': async ({ library, connect, stream }) => {
    const writer = connect('writer');
    const settings = library.persistentSubscriptionToStreamSettingsFromDefaults();
    await refused(writer.createPersistentSubscriptionToStream(stream, 'group', settings), 'unknown', /UNIMPLEMENTED/);
    await refused(
      events(writer.subscribeToPersistentSubscriptionToStream(stream, 'group')),
      'unknown',
      /UNIMPLEMENTED/,
    );
  },
  'be refused without the right': async ({ library, connect, stream }) => {
    await refused(connect('reader').appendToStream(stream, notes(library, 'a')), 'access-denied');
    const nobody = connect('nobody');
    await refused(events(nobody.readAll()), 'access-denied');
    await refused(events(nobody.readStream(stream)), 'access-denied');
    await refused(events(nobody.subscribeToAll()), 'access-denied');
  },
};

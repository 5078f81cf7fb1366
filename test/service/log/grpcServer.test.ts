import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import {
  AccessDeniedError,
  type AppendExpectedRevision,
  type AppendToStreamOptions,
  BACKWARDS,
  binaryEvent,
  END,
  type EventData,
  EventStoreDBClient,
  eventTypeFilter,
  jsonEvent,
  MaxAppendSizeExceededError,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  streamNameFilter,
  UnavailableError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { passwordOf } from '../../support/accounts.ts';
import { type GrpcLog, openGrpcLog } from '../../support/grpcLog.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { processorTime } from '../../support/processorTime.ts';
import { gather, newEvent, newEvents, newStream } from '../../support/store.contract.ts';

const metadata = { at: '2026-01-01T00:00:00.000Z' };
const ownEvent = (data: unknown = {}, type = '@test/things:thingChanged') =>
  jsonEvent({ type, data: data as Record<string, never>, metadata });
const note = (text: unknown = 'hello', type = 'noteTaken') => jsonEvent({ type, data: { text: text as string } });
const notes = (count: number) => Array.from({ length: count }, (_, n) => note(n));
const foreignStream = (): string => `notes-${randomUUID()}`;

/** The rest of an iteration, at most so many. */
const take = async <T>(stream: AsyncIterable<T>, count = Infinity): Promise<T[]> => {
  const all: T[] = [];
  if (count < 1) return all;
  for await (const one of stream) {
    all.push(one);
    if (all.length >= count) break;
  }
  return all;
};

describe('the log by the protocol of EventStoreDB', () => {
  let log: GrpcLog;
  /** By the URL with account and password. A client costs as much as some tests of it. */
  const clients = new Map<string, EventStoreDBClient>();
  const connect = (account?: string, password?: string, to: GrpcLog = log): EventStoreDBClient => {
    const url = to.url(account, password);
    const client = clients.get(url) ?? EventStoreDBClient.connectionString(url);
    clients.set(url, client);
    return client;
  };
  /** The head when the test began. */
  let head: number;
  /** A log for each test of a `describe`, or for all of them. */
  const useLog = (open: typeof before | typeof beforeEach, close: typeof after | typeof afterEach): void => {
    open(async () => {
      log = await openGrpcLog();
    });
    beforeEach(async () => {
      head = await log.store.head();
    });
    close(async () => {
      await Promise.all([...clients.values()].map((client) => client.dispose()));
      clients.clear();
      await log.close();
      assert.deepEqual(log.reported, []);
    });
  };

  /** Both ways in which this client appends: as a batch, and (with credentials of the call) by itself. */
  const ways: Record<string, (account: string) => AppendToStreamOptions> = {
    'in a batch': () => ({}),
    'by itself': (account) => ({ credentials: { username: account, password: passwordOf(account) } }),
  };
  const wrong =
    (expected: AppendExpectedRevision, actual: bigint | 'no_stream') =>
    (error: unknown): boolean => {
      assert.ok(error instanceof WrongExpectedVersionError, String(error));
      assert.deepEqual([error.expectedVersion, error.actualVersion], [expected, actual]);
      return true;
    };

  for (const [way, credentials] of Object.entries(ways)) {
    // Rules on what is appended: both ways go through the same ones.
    const itOnce = way === 'in a batch' ? it : (): void => undefined;
    describe(`an append ${way}`, () => {
      useLog(before, after);
      const append = (
        stream: string,
        events: EventData | EventData[],
        expectedRevision: AppendExpectedRevision,
        account = 'node',
      ) => connect(account).appendToStream(stream, events, { expectedRevision, ...credentials(account) });

      it('to a stream of the platform stores the texts as they are', async () => {
        const stream = newStream();
        const events = [ownEvent({ n: 1, text: 'Zoë "\\\u2028😀', b: [1e21, null] }), ownEvent({ n: 2 })];
        const { nextExpectedRevision, position } = await append(stream, events, 'no_stream');
        assert.equal(nextExpectedRevision, 1n);
        assert.deepEqual(position, { commit: BigInt(head + 2), prepare: BigInt(head + 2) });
        assert.deepEqual(
          await gather(log.store.read(stream)),
          events.map(({ id, type, data }, revision) => ({
            id,
            type,
            data: JSON.stringify(data),
            metadata: JSON.stringify(metadata),
            stream,
            revision,
            position: head + 1 + revision,
          })),
        );
        assert.equal((await append(stream, ownEvent(), 1n)).nextExpectedRevision, 2n);
      });
      it('to a stream of the platform at the wrong revision is refused with the right one', async () => {
        const stream = newStream();
        await assert.rejects(append(stream, ownEvent(), 0n), wrong(0n, 'no_stream'));
        await append(stream, [ownEvent(), ownEvent()], 'no_stream');
        await assert.rejects(append(stream, ownEvent(), 'no_stream'), wrong('no_stream', 1n));
        await assert.rejects(append(stream, ownEvent(), 5n), wrong(5n, 1n));
      });
      itOnce('to a stream of the platform that is repeated is stored once', async () => {
        const stream = newStream();
        const events = [ownEvent(), ownEvent()];
        const first = await append(stream, events, 'no_stream');
        assert.deepEqual(await append(stream, events, 'no_stream'), first);
        assert.equal((await gather(log.store.read(stream))).length, 2);
      });
      itOnce('to a stream of the platform without a revision is refused', async () => {
        for (const expected of ['any', 'stream_exists'] as const)
          await assert.rejects(append(newStream(), ownEvent(), expected), /explicit revision/);
      });
      itOnce('to a stream of the platform of anything but its JSON is refused', async () => {
        const at = (event: EventData) => append(newStream(), event, 'no_stream');
        await assert.rejects(
          at(binaryEvent({ type: '@test/things:x', data: Buffer.from('{}'), metadata: Buffer.from('{}') })),
          /application\/json/,
        );
        await assert.rejects(at(jsonEvent({ type: '@test/things:x', data: {} })), /metadata must be JSON/);
        for (const text of [
          '{ }',
          'null',
          '{"a":1,"a":2}',
          '{"at":1.0}',
          '"x"',
          '',
          '{"$foreign":{"created":"x"}}',
          '\ufeff{}',
        ]) {
          await assert.rejects(
            at({ ...ownEvent(), metadata: Uint8Array.from(Buffer.from(text)) as never }),
            /metadata/,
            text,
          );
        }
        await assert.rejects(at(ownEvent({}, '$metadata')), /go to the stream of its name after/);
        assert.equal(await log.store.head(), head);
      });
      it('to a stream of the platform needs its permission', async () => {
        for (const account of ['writer', 'reader', 'nobody'])
          await assert.rejects(append(newStream(), ownEvent(), 'no_stream', account), AccessDeniedError);
        assert.equal(await log.store.head(), head);
      });
      it('to another stream goes by the rules of EventStoreDB', async () => {
        const stream = foreignStream();
        await assert.rejects(append(stream, note(), 'stream_exists', 'writer'), wrong('stream_exists', 'no_stream'));
        await assert.rejects(append(stream, note(), 0n, 'writer'), wrong(0n, 'no_stream'));
        assert.equal((await append(stream, note(1), 'no_stream', 'writer')).nextExpectedRevision, 0n);
        assert.equal((await append(stream, note(2), 'any', 'writer')).nextExpectedRevision, 1n);
        assert.equal((await append(stream, note(3), 'stream_exists', 'writer')).nextExpectedRevision, 2n);
        assert.equal((await append(stream, note(4), 2n, 'writer')).nextExpectedRevision, 3n);
        await assert.rejects(append(stream, note(), 'no_stream', 'writer'), wrong('no_stream', 3n));
        await assert.rejects(append(stream, note(), 1n, 'writer'), wrong(1n, 3n));
        await assert.rejects(append(stream, note(), 9n, 'writer'), wrong(9n, 3n));
        assert.deepEqual(
          (await take(connect('reader').readStream(stream))).map(({ event }) => event?.data),
          [1, 2, 3, 4].map((text) => ({ text })),
        );
      });
      itOnce('to another stream that is repeated is stored once, whatever was expected', async () => {
        for (const expected of ['any', 'no_stream', 0n, 'stream_exists'] as const) {
          const stream = foreignStream();
          if (expected === 0n || expected === 'stream_exists') await append(stream, note(), 'no_stream', 'writer');
          const events = notes(3);
          const first = await append(stream, events, expected, 'writer');
          await append(stream, note('later'), 'any', 'writer');
          assert.deepEqual(await append(stream, events, expected, 'writer'), first, String(expected));
          await assert.rejects(append(stream, [events[0]!, note()], expected, 'writer'), WrongExpectedVersionError);
          assert.equal((await gather(log.store.read(stream))).length, Number(first.nextExpectedRevision) + 2);
        }
      });
      itOnce('to another stream needs its permission', async () => {
        for (const account of ['reader', 'nobody'])
          await assert.rejects(append(foreignStream(), note(), 'any', account), AccessDeniedError);
      });
      itOnce(
        "of an event that pretends to be the platform's is refused, and so is what belongs to the system, in words",
        async () => {
          const types: readonly (readonly [string, RegExp])[] = [
            ['@platform/operations-manager:jobStarted', /the platform's own/],
            ['@platform/x', /the platform's own/],
            ['$>', /links to other events.*keeps none/],
            ['$streamDeleted', /tombstone the stream/],
            ['$metadata', /go to the stream of its name after \$\$/],
            ['$other', /\$other begins with \$.*the system's/],
          ];
          for (const [type, words] of types)
            await assert.rejects(append(foreignStream(), note(1, type), 'any'), words, type);
          for (const stream of ['$settings', '$ce-notes', '$$$x', '$$'])
            await assert.rejects(append(stream, note(1, '$metadata'), 'any'), /is a system stream/, stream);
          await assert.rejects(
            append(`$$${newStream()}`, note(1, '$metadata'), 'any'),
            /one of the platform's own streams: it has no metadata/,
          );
          await assert.rejects(
            append(`$$${foreignStream()}`, note(), 'any'),
            /takes events of the type \$metadata alone/,
          );
          for (const [metadata, words] of [
            [{ $acl: { $r: ['x'] } }, /\$acl is the access list of a stream, which this log does not have/],
            [{ $maxAge: 'x' }, /\$maxAge .*whole number from 1/],
            [{ $maxCount: 0 }, /\$maxCount .*whole number from 1/],
            [{ $tb: -1 }, /\$tb .*whole number from 0/],
          ] as const)
            await assert.rejects(
              append(`$$${foreignStream()}`, jsonEvent({ type: '$metadata', data: metadata }), 'any'),
              words,
            );
          assert.equal(await log.store.head(), head);
        },
      );
      it('that is too large is refused', async () => {
        for (const [stream, event] of [
          [newStream(), ownEvent('x'.repeat(513 * 1024))],
          [foreignStream(), note('x'.repeat(513 * 1024))],
        ] as const) {
          await assert.rejects(
            append(stream, event, 'no_stream'),
            (error: unknown) => error instanceof MaxAppendSizeExceededError && error.maxAppendSize === 512 * 1024,
          );
        }
        const tooMany = notes(3).map((event) => ({ ...event, data: { x: 'y'.repeat(400 * 1024) } }));
        await assert.rejects(
          append(foreignStream(), tooMany, 'any'),
          (error: unknown) => error instanceof MaxAppendSizeExceededError && error.maxAppendSize === 900 * 1024,
        );
        await assert.rejects(append(foreignStream(), [], 'any'), /at least one event/);
        await append(foreignStream(), note('x'.repeat(500 * 1024)), 'any');
      });
      it('keeps the bytes of strangers', async () => {
        const began = Date.now();
        const stream = foreignStream();
        const all = [
          randomBytes(1000),
          Buffer.from([0]),
          Buffer.from('a\0b'),
          Buffer.from('text'),
          Buffer.from('\ufeffbom'),
          Buffer.from([0xed, 0xa0, 0x80]),
          Buffer.from([]),
          Buffer.from('{"$payload":{"sha256":"x","parts":1}}'),
        ];
        for (const [n, data] of all.entries())
          await append(
            stream,
            binaryEvent({ type: 'bytes', data, metadata: all[(n + 1) % all.length]! }),
            'any',
            'writer',
          );
        const read = await take(connect('reader').readStream(stream));
        for (const [n, { event }] of read.entries()) {
          assert.deepEqual(Buffer.from(event!.data as Uint8Array), all[n]);
          assert.equal(event!.isJson, false);
          assert.ok(event!.created.getTime() >= began - 1 && event!.created.getTime() <= Date.now() + 1);
        }
        assert.deepEqual(Buffer.from(read[0]!.event!.metadata as Uint8Array), all[1]);
      });
    });
  }

  describe('batches of one call', () => {
    useLog(before, after);
    it('are stored in the order in which they come', async () => {
      for (const [stream, event] of [
        [newStream(), ownEvent],
        [foreignStream(), note],
      ] as const) {
        const client = connect();
        // The first one opens the call, and this client lets others go ahead of it.
        await client.appendToStream(stream, event('first'), { expectedRevision: 'no_stream' });
        const outcomes = await Promise.all(
          Array.from({ length: 100 }, (_, n) =>
            client.appendToStream(stream, event(n), { expectedRevision: BigInt(n) }),
          ),
        );
        assert.deepEqual(
          outcomes.map(({ nextExpectedRevision }) => nextExpectedRevision),
          outcomes.map((_, n) => BigInt(n + 1)),
        );
      }
    });
    it('may come in several messages', async () => {
      const stream = foreignStream();
      await connect().appendToStream(stream, notes(50), { expectedRevision: 'no_stream', batchAppendSize: 200 });
      assert.equal((await gather(log.store.read(stream))).length, 50);
    });
    it('that are late are not stored', async () => {
      await assert.rejects(connect().appendToStream(foreignStream(), note(), { deadline: -1000 }), {
        type: 'deadline-exceeded',
      });
      assert.equal(await log.store.head(), head);
    });
    it('of many at once to one stream are all stored', async () => {
      const stream = foreignStream();
      const several = [connect('node'), connect('writer'), connect()];
      await Promise.all(Array.from({ length: 90 }, (_, n) => several[n % 3]!.appendToStream(stream, note(n))));
      assert.equal((await gather(log.store.read(stream))).length, 90);
    });
    for (const [way, credentials] of Object.entries(ways)) {
      it(`of many at once to one stream are each answered for itself, ${way}`, async () => {
        const [stream, client, count] = [foreignStream(), connect('writer'), 120];
        await client.appendToStream(stream, note('first'));
        const append = (event: EventData, expectedRevision: AppendExpectedRevision) =>
          client.appendToStream(stream, event, { expectedRevision, ...credentials('writer') });
        const again = note('again');
        const outcomes = await Promise.allSettled(
          Array.from({ length: count }, (_, n) => {
            if (n % 40 === 0) return append(again, 'any');
            if (n % 40 === 1) return append(note(), 'no_stream');
            return append(note(n), n % 2 === 0 ? 'any' : 'stream_exists');
          }),
        );
        const stored = await gather(log.store.read(stream));
        assert.equal(stored.length, 1 + count - 3 - 2);
        const texts = new Set(stored.map(({ data }) => data));
        const revisions = new Set<bigint>();
        for (const [n, outcome] of outcomes.entries()) {
          if (n % 40 === 1) {
            assert.ok(outcome.status === 'rejected' && outcome.reason instanceof WrongExpectedVersionError);
            continue;
          }
          assert.ok(outcome.status === 'fulfilled', String((outcome as PromiseRejectedResult).reason));
          const { nextExpectedRevision, position } = outcome.value;
          const event = stored[Number(nextExpectedRevision)]!;
          assert.equal(BigInt(event.position), position!.commit);
          assert.equal(event.data, JSON.stringify({ text: n % 40 === 0 ? 'again' : n }));
          revisions.add(nextExpectedRevision);
        }
        assert.deepEqual([revisions.size, texts.size], [stored.length - 1, stored.length]);
      });
    }
    it('of many at once that are long and repeated are stored once', async () => {
      const stream = foreignStream();
      const client = connect('writer');
      const long = notes(600);
      const [first, , second] = await Promise.all([
        client.appendToStream(stream, long),
        client.appendToStream(stream, note('between')),
        client.appendToStream(stream, long),
      ]);
      assert.deepEqual(second, first);
      assert.deepEqual(await client.appendToStream(stream, long), first);
      assert.equal((await gather(log.store.read(stream))).length, 601);
    });
  });

  describe('reading', () => {
    useLog(beforeEach, afterEach);
    const revisions = async (stream: string, options: Parameters<EventStoreDBClient['readStream']>[1]) =>
      (await take(connect('reader').readStream(stream, options))).map(({ event }) => Number(event!.revision));
    const positions = async (options: Parameters<EventStoreDBClient['readAll']>[0]) =>
      (await take(connect('reader').readAll(options))).map(({ event }) => Number(event!.position!.commit));

    it('a stream goes forwards and backwards from any revision, as far as is wanted', async () => {
      const stream = newStream();
      for (let n = 0; n < 3; n++) await log.store.append(stream, 250 * n - 1, newEvents(250));
      const all = Array.from({ length: 750 }, (_, n) => n);
      assert.deepEqual(await revisions(stream, {}), all);
      assert.deepEqual(await revisions(stream, { fromRevision: 740n }), all.slice(740));
      assert.deepEqual(await revisions(stream, { fromRevision: 600n, maxCount: 3 }), [600, 601, 602]);
      assert.deepEqual(await revisions(stream, { fromRevision: 750n }), []);
      assert.deepEqual(await revisions(stream, { fromRevision: END }), []);
      assert.deepEqual(await revisions(stream, { direction: BACKWARDS, fromRevision: END }), all.toReversed());
      assert.deepEqual(await revisions(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 }), [749]);
      assert.deepEqual(
        await revisions(stream, { direction: BACKWARDS, fromRevision: 700n, maxCount: 700 }),
        all.slice(1, 701).toReversed(),
      );
      assert.deepEqual(await revisions(stream, { direction: BACKWARDS, fromRevision: 2n }), [2, 1, 0]);
      assert.deepEqual(await revisions(stream, { direction: BACKWARDS, fromRevision: START }), [0]);
      assert.deepEqual(
        await revisions(stream, { direction: BACKWARDS, fromRevision: 18446744073709551615n, maxCount: 1 }),
        [749],
      );
    });
    it('the log goes forwards from a position with its event, backwards without it', async () => {
      for (let n = 0; n < 3; n++) await log.store.append(newStream(), -1, newEvents(250));
      const all = Array.from({ length: 751 }, (_, n) => n + 1);
      const at = (position: number) => ({ commit: BigInt(position), prepare: BigInt(position) });
      assert.deepEqual(await positions({}), all);
      assert.deepEqual(await positions({ fromPosition: at(745) }), all.slice(744));
      assert.deepEqual(await positions({ fromPosition: at(3), maxCount: 2 }), [3, 4]);
      assert.deepEqual(await positions({ fromPosition: END }), []);
      assert.deepEqual(await positions({ direction: BACKWARDS, fromPosition: END }), all.toReversed());
      assert.deepEqual(
        await positions({ direction: BACKWARDS, fromPosition: at(700), maxCount: 650 }),
        all.slice(49, 699).toReversed(),
      );
      assert.deepEqual(await positions({ direction: BACKWARDS, fromPosition: START }), []);
    });
    it('gives an event of the platform as it is in the log', async () => {
      const stream = newStream();
      const { position } = await log.store.append(stream, -1, [
        { ...newEvent(), id: '6f9619ff-8b86-d011-b42d-00cf4fc964ff', data: '{"$payload":{"sha256":"00","parts":1}}' },
      ]);
      const [read] = await take(connect('reader').readStream(stream));
      assert.deepEqual(read, {
        event: {
          streamId: stream,
          id: '6f9619ff-8b86-d011-b42d-00cf4fc964ff',
          revision: 0n,
          type: '@test/things:thingChanged',
          data: { $payload: { sha256: '00', parts: 1 } },
          metadata,
          isJson: true,
          created: new Date(metadata.at),
          position: { commit: BigInt(position), prepare: BigInt(position) },
        },
        commitPosition: BigInt(position),
      });
    });
    it('a stream that is not there says so', async () => {
      for (const stream of [newStream(), foreignStream(), `$$${newStream()}`])
        await assert.rejects(take(connect('reader').readStream(stream)), StreamNotFoundError);
    });
    it('needs its permission', async () => {
      const client = connect('nobody');
      for (const read of [
        () => client.readStream('log-identity'),
        () => client.readAll(),
        () => client.subscribeToAll(),
        () => client.subscribeToStream('log-identity'),
      ])
        await assert.rejects(take(read()), AccessDeniedError);
    });
    it('finds the id of the log', async () => {
      const [read] = await take(connect('reader').readStream('log-identity'));
      assert.deepEqual([read?.event?.type, read?.event?.data], ['@platform/log:logIdentified', { id: log.store.id }]);
    });
  });

  describe('without the right password', () => {
    useLog(before, after);
    it('nothing is done', async () => {
      const strangers = [
        connect('node', 'wrong'),
        connect('stranger'),
        EventStoreDBClient.connectionString(log.url().replace(/node:[^@]*@/, '')),
      ];
      clients.set('without TLS', strangers[2]!);
      for (const client of strangers) {
        await assert.rejects(
          client.appendToStream(newStream(), ownEvent(), { expectedRevision: 'no_stream' }),
          AccessDeniedError,
        );
        await assert.rejects(client.deleteStream(foreignStream()), AccessDeniedError);
        await assert.rejects(client.tombstoneStream(foreignStream()), AccessDeniedError);
        await assert.rejects(take(client.readAll()), AccessDeniedError);
        await assert.rejects(take(client.subscribeToAll()), AccessDeniedError);
      }
      await assert.rejects(
        connect().appendToStream(newStream(), ownEvent(), {
          expectedRevision: 'no_stream',
          credentials: { username: 'node', password: 'wrong' },
        }),
        AccessDeniedError,
      );
      assert.equal(await log.store.head(), head);
    });
  });

  describe('streams of others', () => {
    useLog(before, after);
    const data = async (stream: string, client = connect('reader')) =>
      (await take(client.readStream(stream))).map(({ event }) => (event!.data as { text: unknown }).text);

    it('are deleted so that they can be written again, their revisions going on', async () => {
      const client = connect('writer');
      const stream = foreignStream();
      await client.appendToStream(stream, notes(3));
      await assert.rejects(client.deleteStream(stream, { expectedRevision: 1n }), wrong(1n, 2n));
      assert.ok((await client.deleteStream(stream, { expectedRevision: 2n })).position);
      await assert.rejects(data(stream), StreamNotFoundError);
      assert.ok(Number((await client.getStreamMetadata(stream)).metadata!.truncateBefore) > Number.MAX_SAFE_INTEGER);
      assert.equal(
        (await client.appendToStream(stream, note('again'), { expectedRevision: 'no_stream' })).nextExpectedRevision,
        3n,
      );
      assert.deepEqual(await data(stream), ['again']);
      assert.equal((await client.getStreamMetadata(stream)).metadata!.truncateBefore, 3);
      await client.setStreamMetadata(stream, { ...(await client.getStreamMetadata(stream)).metadata, maxCount: 5 });
      await client.appendToStream(stream, note('more'));
      assert.deepEqual(await data(stream), ['again', 'more']);
      assert.deepEqual(
        (await take(client.readStream(stream, { direction: BACKWARDS, fromRevision: END }))).map(
          ({ event }) => event!.revision,
        ),
        [4n, 3n],
      );
      await client.deleteStream(stream);
      await client.deleteStream(stream);
      await assert.rejects(
        client.appendToStream(stream, note(), { expectedRevision: 'stream_exists' }),
        StreamDeletedError,
      );
      await client.appendToStream(stream, note('third'), { expectedRevision: 4n });
      assert.deepEqual(await data(stream), ['third']);
    });
    it('that never were cannot be deleted, whatever is expected, but ended for ever', async () => {
      const client = connect('writer');
      const stream = foreignStream();
      for (const expectedRevision of ['any', 'no_stream', 0n] as const) {
        await assert.rejects(
          client.deleteStream(stream, { expectedRevision }),
          (error: unknown) =>
            error instanceof WrongExpectedVersionError &&
            error.streamName === stream &&
            error.actualVersion === 'no_stream' &&
            /^9 FAILED_PRECONDITION: Delete failed/.test(error.message),
        );
      }
      await assert.rejects(client.tombstoneStream(stream, { expectedRevision: 0n }), WrongExpectedVersionError);
      assert.equal(await log.store.head(), head);
      await client.tombstoneStream(stream, { expectedRevision: 'no_stream' });
      await assert.rejects(client.deleteStream(stream), StreamDeletedError);
      // Metadata are enough for a stream to be there.
      const other = foreignStream();
      await client.setStreamMetadata(other, { maxCount: 1 });
      await client.deleteStream(other, { expectedRevision: 'no_stream' });
    });
    it('come back also when the log has no more than the delete and what came later', async () => {
      const client = connect('writer');
      const stream = foreignStream();
      await client.appendToStream(stream, notes(2));
      await client.deleteStream(stream);
      const [, stored] = await gather(log.store.read(stream));
      await log.store.append(stream, 1, [{ ...stored!, id: randomUUID() }]);
      assert.deepEqual(await data(stream), [1]);
      assert.deepEqual(
        (await take(client.readStream(stream, { direction: BACKWARDS, fromRevision: END }))).map(
          ({ event }) => event!.revision,
        ),
        [2n],
      );
    });
    it('are ended for ever', async () => {
      const client = connect('writer');
      const stream = foreignStream();
      await client.appendToStream(stream, notes(3));
      await assert.rejects(client.tombstoneStream(stream, { expectedRevision: 7n }), wrong(7n, 2n));
      assert.ok((await client.tombstoneStream(stream, { expectedRevision: 2n })).position);
      const isDeleted = (error: unknown): boolean => error instanceof StreamDeletedError && error.streamName === stream;
      for (const expectedRevision of ['any', 'no_stream', 'stream_exists', 2n, 3n] as const) {
        await assert.rejects(client.appendToStream(stream, note(), { expectedRevision }), isDeleted);
        await assert.rejects(
          client.appendToStream(stream, note(), {
            expectedRevision,
            credentials: { username: 'node', password: passwordOf('node') },
          }),
          isDeleted,
        );
      }
      await assert.rejects(data(stream), isDeleted);
      await assert.rejects(take(client.subscribeToStream(stream)), isDeleted);
      await assert.rejects(client.deleteStream(stream), isDeleted);
      await assert.rejects(client.tombstoneStream(stream), isDeleted);
      await assert.rejects(client.setStreamMetadata(stream, { maxCount: 1 }), StreamDeletedError);
      await client.tombstoneStream(foreignStream());
    });
    it('and those of the platform differ: nobody deletes or hides these', async () => {
      const client = connect('node');
      const stream = newStream();
      await log.store.append(stream, -1, newEvents(3));
      for (const name of [stream, newStream(), 'log-identity', `$$${foreignStream()}`, '$settings']) {
        await assert.rejects(client.deleteStream(name), /platform's own|delete the stream|system stream/);
        await assert.rejects(client.tombstoneStream(name), /platform's own|delete the stream|system stream/);
      }
      await assert.rejects(
        client.setStreamMetadata(stream, { maxCount: 1 }),
        /platform's own streams: it has no metadata/,
      );
      assert.equal(await log.store.head(), head + 3);
    });
    it('are shown as their metadata say', async () => {
      const client = connect('writer');
      const stream = foreignStream();
      await client.appendToStream(stream, notes(6));
      await client.setStreamMetadata(stream, { maxCount: 4 });
      assert.deepEqual(await data(stream), [2, 3, 4, 5]);
      await client.setStreamMetadata(stream, { maxCount: 4, truncateBefore: 3, owner: 'Zoë' });
      assert.deepEqual(await data(stream), [3, 4, 5]);
      assert.deepEqual(
        (await take(client.readStream(stream, { direction: BACKWARDS, fromRevision: END }))).map(
          ({ event }) => event!.revision,
        ),
        [5n, 4n, 3n],
      );
      assert.deepEqual(
        (await take(client.subscribeToStream(stream, { fromRevision: START }), 3)).map(({ event }) => event!.revision),
        [3n, 4n, 5n],
      );
      assert.deepEqual((await client.getStreamMetadata(stream)).metadata, {
        maxCount: 4,
        truncateBefore: 3,
        owner: 'Zoë',
      });
      assert.equal((await take(client.readStream(`$$${stream}`))).length, 1);
      await client.setStreamMetadata(stream, { truncateBefore: 100 });
      assert.deepEqual(await data(stream), []);
      await client.setStreamMetadata(stream, {}, { expectedRevision: 2n });
      assert.equal((await data(stream)).length, 6);
      await assert.rejects(client.setStreamMetadata(stream, {}, { expectedRevision: 1n }), wrong(1n, 3n));
    });
    it('show only what is young enough', async () => {
      const client = connect('writer');
      const stream = foreignStream();
      await client.appendToStream(stream, notes(2));
      const [stored] = await gather(log.store.read(stream));
      const old = stored!.metadata.replace(
        /"created":"[^"]*"/,
        `"created":"${new Date(Date.now() - 7200_000).toISOString()}"`,
      );
      await log.store.append(stream, 1, [{ ...stored!, id: randomUUID(), metadata: old }]);
      assert.equal((await data(stream)).length, 3);
      await client.setStreamMetadata(stream, { maxAge: 3600 });
      assert.deepEqual(
        (await take(client.readStream(stream))).map(({ event }) => event!.revision),
        [0n, 1n],
      );
      assert.deepEqual(
        (await take(client.readStream(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 1 }))).map(
          ({ event }) => event!.revision,
        ),
        [1n],
      );
    });
    it('have names of any letters, but no empty or broken ones', async () => {
      const client = connect('writer');
      for (const stream of ['plain', 'Zoë-日本', 'x'.repeat(1024)]) {
        await client.appendToStream(stream, note());
        assert.deepEqual(await data(stream), ['hello']);
        await client.tombstoneStream(stream);
        await assert.rejects(take(client.readStream(stream)), StreamDeletedError);
      }
      for (const stream of ['', 'a\0b', 'a\nb', 'x'.repeat(1025)])
        await assert.rejects(client.appendToStream(stream, note()), /name/);
    });
  });

  describe('a subscription', () => {
    useLog(beforeEach, afterEach);
    it('to the log goes from what is there to what comes, and says when', async () => {
      await log.store.append(newStream(), -1, newEvents(2000).slice(0, 1200));
      const subscription = connect('reader').subscribeToAll({ fromPosition: START });
      const confirmed = once(subscription, 'confirmation');
      let atCaughtUp = 0;
      let count = 0;
      subscription.on('caughtUp', () => {
        atCaughtUp = count;
      });
      const seen: bigint[] = [];
      let written = false;
      for await (const { event } of subscription) {
        seen.push(event!.position!.commit);
        count++;
        if (count === 1201 && !written) {
          written = true;
          for (let n = 0; n < 3; n++) await log.store.append(newStream(), -1, newEvents(100));
        }
        if (count === 1501) break;
      }
      await confirmed;
      assert.deepEqual(
        seen,
        Array.from({ length: 1501 }, (_, n) => BigInt(n + 1)),
      );
      assert.ok(atCaughtUp >= 1);
    });
    it('to the log begins after a position, or with what comes', async () => {
      await log.store.append(newStream(), -1, newEvents(10));
      const client = connect('reader');
      const after = take(client.subscribeToAll({ fromPosition: { commit: 7n, prepare: 7n } }), 5);
      const atEnd = client.subscribeToAll({ fromPosition: END });
      const caughtUp = once(atEnd, 'caughtUp');
      const live = take(atEnd, 1);
      await caughtUp;
      await log.store.append(newStream(), -1, newEvents(1));
      assert.deepEqual(
        (await after).map(({ event }) => event!.position!.commit),
        [8n, 9n, 10n, 11n, 12n],
      );
      assert.deepEqual(
        (await live).map(({ event }) => event!.position!.commit),
        [12n],
      );
    });
    it('to a stream goes from what is there to what comes, and gives nothing else', async () => {
      const client = connect('reader');
      for (const stream of [newStream(), foreignStream()]) {
        const write = (count: number) =>
          stream.startsWith('notes')
            ? connect('writer').appendToStream(stream, notes(count))
            : log.store
                .newest(stream, 1)
                .then(([last]) => log.store.append(stream, last?.revision ?? -1, newEvents(count)));
        const early = take(client.subscribeToStream(stream), 7);
        await write(5);
        const after = client.subscribeToStream(stream, { fromRevision: 3n });
        const atEnd = client.subscribeToStream(stream, { fromRevision: END });
        const ready = Promise.all([once(after, 'caughtUp'), once(atEnd, 'caughtUp')]);
        const [restSeen, endSeen] = [take(after, 3), take(atEnd, 2)];
        await ready;
        await log.store.append(newStream(), -1, newEvents(3));
        await write(2);
        assert.deepEqual(
          (await early).map(({ event }) => event!.revision),
          [0n, 1n, 2n, 3n, 4n, 5n, 6n],
        );
        assert.deepEqual(
          (await restSeen).map(({ event }) => event!.revision),
          [4n, 5n, 6n],
        );
        assert.deepEqual(
          (await endSeen).map(({ event }) => event!.revision),
          [5n, 6n],
        );
      }
    });
    it('to a stream ends when the stream is ended', async () => {
      const stream = foreignStream();
      const client = connect('writer');
      await client.appendToStream(stream, note());
      const subscription = client.subscribeToStream(stream);
      const caughtUp = once(subscription, 'caughtUp');
      const ended = assert.rejects(take(subscription), StreamDeletedError);
      await caughtUp;
      await client.tombstoneStream(stream);
      await ended;
    });

    const filters = {
      'prefixes of types': {
        filter: () => eventTypeFilter({ prefixes: ['@test/a:', '@test/b:x'] }),
        right: ['a-1 @test/a:x', 'b-2 @test/b:x', 'a-1 @test/a:y'],
      },
      'a pattern of types': {
        filter: () => eventTypeFilter({ regex: '^@test/a:.$|B$' }),
        right: ['a-1 @test/a:x', 'a-1 @test/a:y', 'c-3 @test/B'],
      },
      'prefixes of streams': {
        filter: () => streamNameFilter({ prefixes: ['b-', 'c-'] }),
        right: ['b-2 @test/b:x', 'b-2 @test/b:y', 'c-3 @test/B'],
      },
      'a pattern of streams': {
        filter: () => streamNameFilter({ regex: '-[13]$' }),
        right: ['a-1 @test/a:x', 'a-1 @test/a:y', 'c-3 @test/B'],
      },
    };
    for (const [kind, { filter, right }] of Object.entries(filters)) {
      it(`can be filtered by ${kind}, from the beginning and live`, async () => {
        const write = async (): Promise<void> => {
          for (const [stream, type] of [
            ['a-1', '@test/a:x'],
            ['b-2', '@test/b:x'],
            ['b-2', '@test/b:y'],
            ['a-1', '@test/a:y'],
            ['c-3', '@test/B'],
          ] as const) {
            const [last] = await log.store.newest(stream, 1);
            await log.store.append(stream, last?.revision ?? -1, [newEvent({}, type)]);
          }
        };
        await write();
        const subscription = connect('reader').subscribeToAll({ filter: filter() });
        const caughtUp = once(subscription, 'caughtUp');
        const seen = take(subscription, 2 * right.length);
        await caughtUp;
        await write();
        assert.deepEqual(
          (await seen).map(({ event }) => `${event!.streamId} ${event!.type}`),
          [...right, ...right],
        );
      });
    }
    it('with a filter hears how far it has come', async () => {
      const until = async (
        count: number,
        interval: { readonly maxSearchWindow: number; readonly checkpointInterval: number },
      ): Promise<number[]> => {
        const reached: number[] = [];
        const subscription = connect('reader').subscribeToAll({
          filter: eventTypeFilter({
            prefixes: ['@test/rare:'],
            ...interval,
            checkpointReached: async (_, position) => {
              reached.push(Number(position.commit));
            },
          }),
        });
        const seen: number[] = [];
        subscription.on('data', ({ event }) => {
          seen.push(Number(event!.position!.commit));
          assert.ok(
            reached.every((position) => position <= seen.at(-1)!),
            'no checkpoint is ahead of an event',
          );
        });
        subscription.on('error', () => undefined);
        while (reached.length < count) await once(subscription, 'caughtUp').then(() => delay(20));
        await subscription.unsubscribe();
        return reached;
      };
      for (let n = 0; n < 4; n++)
        await log.store.append(newStream(), -1, [...newEvents(499), newEvent({}, '@test/rare:x')]);
      assert.equal(await log.store.head(), 2001);
      const reached = await until(1, { maxSearchWindow: 10, checkpointInterval: 20 });
      assert.equal(reached.at(-1), 2001);
      assert.ok(reached.length >= 4 && reached.length <= 11, String(reached));
      assert.deepEqual(await until(1, { maxSearchWindow: 10_000, checkpointInterval: 1 }), [2001]);
    });
    it('with a pattern that cannot be searched for quickly is refused', async () => {
      const client = connect('reader');
      const spent = processorTime();
      for (const regex of [
        '(',
        'a{1000}{1000}',
        '((a{100}){100}){100}',
        '(?=x)y',
        '(a)\\1',
        'x'.repeat(2000),
        '[\\p{L}\\d]{999}'.repeat(60),
      ]) {
        await assert.rejects(
          take(client.subscribeToAll({ filter: eventTypeFilter({ regex }) })),
          /regular expression/,
          regex,
        );
      }
      assert.ok(spent() < 10_000);
    });
    itInSoak('that does not read holds up nobody and nothing', async () => {
      const big = 'x'.repeat(100_000);
      for (let n = 0; n < 100; n++)
        await log.store.append(newStream(), -1, [newEvent(big), newEvent(big), newEvent(big)]);
      const slow = Array.from({ length: 8 }, () => connect('reader').subscribeToAll({}, { highWaterMark: 1 }));
      await Promise.all(slow.map((subscription) => once(subscription, 'readable')));
      global.gc?.();
      const before = process.memoryUsage().rss;
      for (let n = 0; n < 30; n++)
        await connect().appendToStream(newStream(), ownEvent(n), { expectedRevision: 'no_stream' });
      assert.equal((await take(connect('reader').readAll())).length, 331);
      // 240 MB if all of it waited for them.
      assert.ok(process.memoryUsage().rss - before < 150_000_000);
      await Promise.all(slow.map((subscription) => subscription.unsubscribe()));
    });
    it('goes on after the server was away', async () => {
      const folder = `${log.folder}-kept`;
      let other = await openGrpcLog({ folder });
      const port = other.port;
      try {
        const stream = newStream();
        await other.store.append(stream, -1, newEvents(3));
        const client = connect('node', undefined, other);
        const subscription = client.subscribeToAll();
        const caughtUp = once(subscription, 'caughtUp');
        const seen: bigint[] = [];
        const broken = assert.rejects(
          (async () => {
            for await (const { event } of subscription) seen.push(event!.position!.commit);
          })(),
          UnavailableError,
        );
        await caughtUp;
        await client.appendToStream(stream, ownEvent(), { expectedRevision: 2n });
        await other.close();
        await broken;
        other = await openGrpcLog({ folder, port });
        await client.appendToStream(stream, ownEvent(), { expectedRevision: 3n });
        const last = seen.at(-1)!;
        const more = await take(client.subscribeToAll({ fromPosition: { commit: last, prepare: last } }), 1);
        assert.deepEqual([...seen, ...more.map(({ event }) => event!.position!.commit)].slice(0, 6), [
          1n,
          2n,
          3n,
          4n,
          5n,
          6n,
        ]);
      } finally {
        await other.close();
        await rm(folder, { recursive: true });
      }
    });
  });

  describe('whoever discovers', () => {
    useLog(before, after);
    it('is sent to the one member', async () => {
      const client = EventStoreDBClient.connectionString(log.url().replace('esdb:', 'esdb+discover:'));
      clients.set('discovering', client);
      assert.equal((await take(client.readStream('log-identity'))).length, 1);
    });
  });
});

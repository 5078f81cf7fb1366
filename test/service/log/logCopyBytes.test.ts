import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { foreignState, foreignWrites } from '@automation-platform/esdb-server';
import { type Foreign, unwrapForeign, wrapForeign } from '@automation-platform/event-log';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import streams, { type BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { isOwnStream } from '../../../src/events/ownStreams.ts';
import { openEventStoreDbToCopy } from '../../../src/store/eventstoredb/copy.ts';
import type { CopyEnd } from '../../../src/store/moving/appends.ts';
import { copyLog } from '../../../src/store/moving/copyLog.ts';
import { maxEvent, type NewEvent, type StoredEvent } from '../../../src/store/port.ts';
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/store.ts';
import { openGrpcLog } from '../../support/grpcLog.ts';
import { storedIn } from '../../support/logged.ts';
import { created, memoryEventStore } from '../../support/memoryEventStore.ts';
import { temporaryFolder } from '../../support/process.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { newEvent } from '../../support/store.contract.ts';

const never = new AbortController().signal;
const json = 'application/json';
const binary = 'application/octet-stream';
const everything = '{"$tb":9223372036854775807}';

type Sent = {
  readonly id: string;
  readonly type: string;
  readonly contentType: string;
  readonly data: Buffer;
  readonly metadata: Buffer;
};

const sent = (
  data: string | Buffer,
  {
    contentType = json,
    metadata = '',
    type = 'seen',
  }: { contentType?: string; metadata?: string | Buffer; type?: string } = {},
): Sent => ({
  id: randomUUID(),
  type,
  contentType,
  data: Buffer.from(data as string),
  metadata: Buffer.from(metadata as string),
});

/** What tools may write. */
const bytes = [
  sent('{ "n": 1.0, "big": 9007199254740993 }', { metadata: '{"by" : "tool", "at": 12345678901234567890}' }),
  sent(Buffer.from([0, 255, 1, 254]), { contentType: binary, metadata: Buffer.from([255, 0]) }),
  sent('only text', { contentType: binary }),
  sent(Buffer.from([255, 254]), { metadata: 'no JSON' }),
  sent('', { contentType: binary }),
  sent('\ufeff"Zoë 🐘\\u0000"'),
  sent('a\0b', { metadata: '\0' }),
  sent('{"$payload":{"sha256":"x","parts":1}}'),
  sent('{"$payload":{"sha256":"y","parts":1}}', { metadata: '{"$foreign":{"created":"2026-01-01T00:00:00.000Z"}}' }),
];

const wrapped = (event: Sent): NewEvent => wrapForeign({ ...event, created: new Date('2026-03-01T00:00:00.000Z') });
const metadata = (data: string): Sent => sent(data, { type: '$metadata' });

/** As it is written, whatever the log. */
const told = ({ id, type, contentType, data, metadata }: Sent | (Foreign & { id: string; type: string })) => ({
  id,
  type,
  contentType,
  data: Buffer.from(data).toString('hex'),
  metadata: Buffer.from(metadata).toString('hex'),
});

/** What a file has of a stream. */
const inStream = (events: readonly StoredEvent[], stream: string) =>
  events.filter((event) => event.stream === stream).map((event) => told({ ...event, ...unwrapForeign(event)! }));

type Memory = ReturnType<typeof memoryEventStore>;

/** What a server has of a stream. */
const inServer = ({ all }: Memory, stream: string) =>
  all
    .filter((event) => event.stream === stream)
    .map(({ message }) =>
      told({
        id: message.getId()!.getString(),
        type: message.getMetadataMap().get('type')!,
        contentType: message.getMetadataMap().get('content-type')!,
        data: Buffer.from(message.getData_asU8()),
        metadata: Buffer.from(message.getCustomMetadata_asU8()),
      }),
    );

const message = ({ id, type, contentType, data, metadata }: Sent): BatchAppendReq.ProposedMessage => {
  const proposed = new streams.BatchAppendReq.ProposedMessage()
    .setId(new shared.UUID().setString(id))
    .setData(data)
    .setCustomMetadata(metadata);
  proposed.getMetadataMap().set('type', type).set('content-type', contentType);
  return proposed;
};

const own = (): Sent => {
  const { id, type, data, metadata } = newEvent({ text: 'ours' });
  return { id, type, contentType: json, data: Buffer.from(data), metadata: Buffer.from(metadata) };
};

describe('log copy, of what tools have written:', function () {
  this.timeout(120_000);
  let folder: string;
  let ends: (() => unknown)[];
  beforeEach(() => {
    [folder, ends] = [temporaryFolder(), []];
  });
  afterEach(async () => {
    for (const end of ends.reverse()) await end();
    rmSync(folder, { recursive: true });
  });

  const file = (name: string) => join(folder, name, 'events.db');
  const url = (name: string) => `sqlite:${file(name)}`;
  const withFile = async <T>(name: string, work: (store: SqliteStore) => Promise<T>): Promise<T> => {
    const store = await openSqliteStore({ file: file(name) });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  const inFile = (name: string) => withFile(name, storedIn);
  const copy = async (from: string, to: string, choices = {}): Promise<string> => {
    const output = new PassThrough();
    let text = '';
    output.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    await logCopy(from, to, never, { output, ...choices });
    return text;
  };
  /** A server of EventStoreDB's protocol, in arrays. */
  const server = async (options = {}) => {
    const memory = memoryEventStore(options);
    const { url, stop } = await scriptedEventStore(memory.handlers);
    ends.push(stop);
    return {
      memory,
      url,
      write: (stream: string, ...events: readonly Sent[]) => {
        for (const event of events) memory.keep(stream, [message(event)]);
      },
    };
  };
  const embedded = async () => {
    const log = await openGrpcLog({ own: isOwnStream });
    ends.push(() => log.close());
    return { store: log.store, url: log.url() };
  };

  it('bytes stay bytes, out of EventStoreDB into a file and into another', async () => {
    const [first, second] = [await server(), await server()];
    first.write('tool-1', ...bytes);
    first.write('automation-1', own());
    first.write('tool-1', sent('[1]'));
    assert.match(await copy(first.url, url('file')), /^11 events copied/m);
    const kept = await inFile('file');
    assert.deepEqual(inStream(kept, 'tool-1'), inServer(first.memory, 'tool-1'));
    for (const event of kept.filter(({ stream }) => stream === 'tool-1'))
      assert.equal(unwrapForeign(event)!.created.getTime(), created);
    assert.match(await copy(url('file'), second.url), /^11 events copied/m);
    for (const stream of ['tool-1', 'automation-1'])
      assert.deepEqual(inServer(second.memory, stream), inServer(first.memory, stream));
    assert.match(await copy(first.url, second.url), /^0 events copied, 11 were/m);
    assert.match(await copy(second.url, url('file')), /^0 events copied, 11 were/m);
  });

  it('bytes stay bytes, out of a file into EventStoreDB and back', async () => {
    const events = [...bytes, sent('plain', { contentType: 'text/plain' })];
    await withFile('first', (store) => store.append('tool-1', -1, events.map(wrapped)));
    const [one, two] = [await server(), await embedded()];
    for (const [n, to] of [one.url, two.url].entries()) {
      await copy(url('first'), to);
      assert.match(await copy(url('first'), to), /^0 events copied/m);
      await copy(to, url(`back${n}`));
      assert.match(await copy(url('first'), url(`back${n}`)), /^0 events copied/m);
    }
    assert.deepEqual(inServer(one.memory, 'tool-1'), events.map(told));
    assert.deepEqual(inStream(await storedIn(two.store), 'tool-1'), events.map(told));
    assert.deepEqual(inStream(await inFile('back1'), 'tool-1'), events.map(told));
    const plain = (event: Sent) => ({ ...event, contentType: event.contentType === json ? json : binary });
    assert.deepEqual(
      inStream(await inFile('back0'), 'tool-1'),
      events.map(plain).map(told),
      'EventStoreDB keeps whether it is JSON',
    );
  });

  it('events that are larger than the platform would store', async () => {
    const [first, second] = [await server(), await server()];
    const events = [
      sent(Buffer.alloc(maxEvent + 1, 255), { contentType: binary }),
      sent(JSON.stringify('x'.repeat(maxEvent))),
    ];
    first.write('tool-1', ...events);
    await copy(first.url, url('file'));
    assert.deepEqual(inStream(await inFile('file'), 'tool-1'), events.map(told));
    await copy(url('file'), second.url);
    assert.deepEqual(inServer(second.memory, 'tool-1'), events.map(told));
  });

  it('goes in smaller appends to a server that takes less at once, and says which event is too large for it', async () => {
    const [first, second] = [await server(), await server({ most: 1000 })];
    const events = Array.from({ length: 9 }, (_, n) => sent(Buffer.alloc(300, n), { contentType: binary }));
    first.write('tool-1', ...events);
    await copy(first.url, second.url);
    assert.deepEqual(inServer(second.memory, 'tool-1'), events.map(told));
    first.write('tool-1', sent(Buffer.alloc(1001), { contentType: binary }));
    await assert.rejects(
      copy(first.url, second.url),
      /\(event 9 of stream tool-1\): EventStoreDB takes 1000 bytes at once/,
    );
  });

  it('what is no event of the platform in one of its streams keeps its bytes too', async () => {
    const [first, second] = [await server(), await server()];
    const good = own();
    const events = [good, ...bytes, own()];
    first.write('automation-1', ...events);
    await copy(first.url, url('file'));
    const kept = await inFile('file');
    assert.deepEqual(
      [kept[0]!.data, kept[0]!.metadata, kept.length],
      [good.data.toString(), good.metadata.toString(), events.length],
    );
    await copy(url('file'), second.url);
    assert.deepEqual(inServer(second.memory, 'automation-1'), events.map(told));
  });

  /** Streams that are cut, deleted, written again, deleted for ever. */
  const settled = async () => {
    const one = await server();
    const { write, memory } = one;
    write('cut-1', sent('1'), sent('2'), sent('3'));
    write('$$cut-1', metadata('{"$tb": 1, "big": 9007199254740993 }'));
    write('deleted-1', sent('1'), sent('2'));
    write('$$deleted-1', metadata(everything));
    write('back-1', sent('1'));
    write('$$back-1', metadata('{"$maxCount":7}'), metadata('{"$maxCount":7,"$tb":9223372036854775807}'));
    write('back-1', sent('2'));
    write('tool-1', ...bytes);
    write('back-1', sent('3'));
    write('gone-1', sent('1'), sent('2'));
    write('$$gone-1', metadata('{"$maxAge":1000}'));
    memory.end('gone-1');
    memory.end('never-1');
    write('automation-1', own());
    return one;
  };
  const streamNames = [
    'cut-1',
    'deleted-1',
    'back-1',
    'tool-1',
    'gone-1',
    'automation-1',
    '$$cut-1',
    '$$deleted-1',
    '$$back-1',
  ];
  const states = (store: SqliteStore) =>
    Promise.all(
      ['cut-1', 'deleted-1', 'back-1', 'gone-1', 'never-1'].map(async (stream) => {
        const { last, first, deleted, tombstoned } = await foreignState(store, stream, Date.now());
        return [stream, tombstoned ? 'gone' : deleted ? 'deleted' : `${first}-${last}`];
      }),
    );
  const wanted = [
    ['cut-1', '1-2'],
    ['deleted-1', 'deleted'],
    ['back-1', '1-2'],
    ['gone-1', 'gone'],
    ['never-1', 'gone'],
  ];

  it('streams that were cut, deleted and deleted for ever are so in the copy', async () => {
    const [first, second, third] = [await settled(), await server(), await embedded()];
    const output = await copy(first.url, url('file'));
    assert.doesNotMatch(output, /left out/);
    assert.deepEqual(await withFile('file', states), wanted);
    const kept = await inFile('file');
    for (const stream of streamNames.filter((name) => name !== 'gone-1' && name !== 'automation-1'))
      assert.deepEqual(inStream(kept, stream), inServer(first.memory, stream), stream);
    assert.match(await copy(first.url, url('file')), /^0 events copied/m);

    for (const to of [second.url, third.url]) {
      await copy(url('file'), to);
      assert.match(await copy(url('file'), to), /^0 events copied/m);
      assert.match(await copy(first.url, to), /^0 events copied/m);
    }
    const newest = (memory: Memory, stream: string) =>
      inServer(memory, stream)
        .slice(stream.startsWith('$$') ? -1 : 0)
        .filter(({ type }) => type !== '$streamDeleted');
    for (const stream of streamNames)
      assert.deepEqual(newest(second.memory, stream), newest(first.memory, stream), stream);
    assert.deepEqual(
      second.memory.all.filter(({ revision }) => typeof revision === 'bigint').map(({ stream }) => stream),
      ['gone-1', 'never-1'],
    );
    assert.deepEqual(await states(third.store), wanted);
    await copy(second.url, url('back'));
    assert.deepEqual(await withFile('back', states), wanted);
  });

  it('a copy that was stopped anywhere goes on, also when streams were deleted or came back meanwhile', async () => {
    const first = await settled();
    const second = await server();
    const open = async (at: string) => {
      const end = await openEventStoreDbToCopy({ url: at, log: () => undefined });
      ends.push(() => end.close());
      return end;
    };
    const [from, to] = [await open(first.url), await open(second.url)];
    let left = 0;
    const used = () => {
      if (--left < 0) throw new Error('stopped');
    };
    const dying: CopyEnd = {
      ...to,
      append: async (...args) => {
        used();
        return to.append(...args);
      },
      end: async (stream) => {
        used();
        return to.end!(stream);
      },
    };
    const run = () => copyLog({ from, to: dying, signal: never, report: () => undefined });
    // How many of its steps each run gets.
    const stepsEach = process.env.SOAK_ROUNDS ? 1 : 3;
    let runs = 0;
    for (; ; runs++) {
      left = stepsEach;
      const done = await run().catch((error: unknown) => {
        assert.match(String(error), /stopped/);
      });
      if (done) break;
    }
    assert.ok(runs > 8 / stepsEach, `${runs} runs`);

    first.write('deleted-1', sent('3'));
    first.write('$$tool-1', metadata(everything));
    first.write('$$cut-1', metadata(everything));
    left = Infinity;
    assert.equal((await run()).copied, 4);
    first.write('$$cut-1', metadata('{"$maxCount":2}'));
    first.write('tool-1', sent('new'));
    assert.equal((await run()).copied, 3);
    assert.equal((await run()).copied, 0);
    for (const stream of ['$$tool-1', '$$cut-1', '$$deleted-1'])
      assert.deepEqual(inServer(second.memory, stream).at(-1), inServer(first.memory, stream).at(-1), stream);
  });

  it('a stream of the embedded log that came back without a word on it is not hidden by EventStoreDB', async () => {
    const second = await server();
    const [before, after] = [sent('1'), sent('2')];
    await withFile('first', async (store) => {
      await foreignWrites(store).append('tool-1', 'any', [wrapped(before)]);
      await foreignWrites(store).remove('tool-1', 'any');
      await store.append('tool-1', 0, [wrapped(after)]);
    });
    await copy(url('first'), second.url);
    assert.deepEqual(
      inServer(second.memory, '$$tool-1').map(({ data }) => Buffer.from(data, 'hex').toString()),
      ['{"$tb":1}'],
    );
    assert.match(await copy(url('first'), second.url), /^0 events copied/m);
  });

  it('refuses a target that has settings of streams which the source has not, and writes nothing', async () => {
    const [first, second] = [await server(), await server()];
    first.write('tool-1', sent('1'));
    second.write('$$tool-1', metadata('{"$maxCount":1}'));
    await assert.rejects(copy(first.url, second.url), /more than the source: metadata of stream tool-1$/);
    second.memory.end('tool-2');
    first.write('$$tool-1', metadata('{"$maxCount":1}'));
    await assert.rejects(copy(first.url, second.url), /more than the source: the end of stream tool-2$/);
    assert.deepEqual(inServer(second.memory, 'tool-1'), []);
  });

  it("names what it leaves out: what is EventStoreDB's own, and what was done to the platform's streams", async () => {
    const first = await server();
    first.write('automation-1', own(), own());
    first.write('$$automation-1', metadata('{"$tb":1}'));
    first.memory.end('automation-2');
    first.write('links-1', sent('0@automation-1', { type: '$>' }), sent('1@automation-1', { type: '$>' }));
    first.write('$settings', sent('{}', { type: 'settings' }));
    first.write('$$$stats', metadata('{}'));
    first.write('$$checkpoint-models', metadata('{"$maxCount":1}'));
    const output = await copy(first.url, url('file'));
    assert.match(output, /^2 events copied/m);
    assert.deepEqual(
      output.split('\n').filter((line) => line.startsWith('left out')),
      [
        "left out: metadata of automation-1, which is the platform's own",
        "left out: that automation-2, which is the platform's own, was deleted for ever: the copy has what is left of it",
        "left out: events of the type $>, which are EventStoreDB's own (2 times)",
      ],
    );
    assert.deepEqual(
      (await inFile('file')).map(({ stream }) => stream),
      ['automation-1', 'automation-1'],
    );
  });

  it('an event that only looks like the end of a stream ends none', async () => {
    const [first, second] = [await server(), await server()];
    first.write('tool-1', sent('1'), sent('', { contentType: binary, type: '$streamDeleted' }));
    const output = await copy(first.url, second.url);
    assert.match(output, /^left out: an event of the type \$streamDeleted in stream tool-1, which ends no stream$/m);
    assert.match(output, /^1 events copied/m);
    assert.deepEqual(
      second.memory.all.filter(({ stream }) => stream === 'tool-1').map(({ revision }) => revision),
      [0],
    );
    first.write('tool-1', sent('2'));
    await assert.rejects(
      copy(first.url, url('file')),
      /\(event 2 of stream tool-1\): the source lacks event 1, which was scavenged or is EventStoreDB's own/,
    );
  });

  it('a stream that has lost events ends the copy, or is left out and named', async () => {
    const first = await settled();
    const { scavenge } = first.memory;
    for (const stream of ['cut-1', 'gone-1', '$$back-1']) scavenge(stream, 0);
    await assert.rejects(
      copy(first.url, url('file')),
      /\(event 1 of stream cut-1\): the source lacks event 0, which was scavenged or is EventStoreDB's own; --skip-incomplete/,
    );
    const second = await server();
    for (const to of [url('other'), second.url]) {
      const output = await copy(first.url, to, { skipIncomplete: true });
      assert.match(
        output,
        /^left out: stream cut-1, which has lost events\nleft out: stream gone-1, which has lost events$/m,
      );
      assert.match(await copy(first.url, to, { skipIncomplete: true }), /^0 events copied/m);
    }
    assert.deepEqual(await withFile('other', states), [
      ['cut-1', '0--1'],
      ['deleted-1', 'deleted'],
      ['back-1', '1-2'],
      ['gone-1', 'gone'],
      ['never-1', 'gone'],
    ]);
    first.write('automation-1', own());
    scavenge('automation-1', 0);
    await assert.rejects(
      copy(first.url, url('third'), { skipIncomplete: true }),
      /\(event 1 of stream automation-1\): the source lacks event 0, which was scavenged or is EventStoreDB's own$/,
    );
  });
});

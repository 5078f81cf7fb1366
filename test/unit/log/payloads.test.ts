import assert from 'node:assert/strict';
import { Type } from 'typebox';
import { commandsOf, type Tools } from '../../../src/commands/engine/define.ts';
import { handler } from '../../../src/commands/engine/handle.ts';
import { streams as streamsOf } from '../../../src/commands/engine/streams.ts';
import { aggregate, type Event } from '../../../src/domain/engine/core.ts';
import { nothing } from '../../../src/domain/engine/topics.ts';
import { withPayloads } from '../../../src/store/payloads.ts';
import { type EventStore, maxAppend, maxEvent, type StoredEvent } from '../../../src/store/port.ts';
import { context } from '../../support/given.ts';
import { openFileLog } from '../../support/node.ts';

type Texts = readonly string[];

const note = aggregate<{ readonly texts: Texts }, Event<'noteTaken', { readonly text: string }>>({
  area: 'operations-manager',
  category: 'note',
  topics: { noteTaken: ['A note was taken', nothing] },
  initial: { texts: [] },
  evolve: { noteTaken: ({ texts }, { text }) => ({ texts: [...texts, text] }) },
  exists: ({ texts }) => texts.length > 0,
});

const take = commandsOf(note)({
  name: 'take',
  input: Type.Any(),
  on: 'any',
  decide: (_, texts: Texts) => texts.map((text) => ({ topic: 'noteTaken', data: { text } })),
});

describe('facts too large for an event', () => {
  let log: EventStore;
  let close: () => Promise<void>;
  beforeEach(async () => {
    ({ store: log, close } = await openFileLog());
  });
  afterEach(() => close());

  const writer = (raw: EventStore = log) => {
    const store = withPayloads(raw, () => true);
    const streams = streamsOf(store, [note], []);
    const handle = handler({
      store,
      streams,
      tools: {} as Tools,
      now: () => '2026-01-01T00:00:00.000Z',
      follow: async () => 0,
    }); // notes ask nothing
    return {
      take: (id: string, ...texts: Texts) =>
        handle(take, { id, input: texts, actor: context.actor, operation: 'test', requestId: 'r' }),
      texts: async (id: string) => ((await streams.refresh(`note-${id}`)).state as { texts: Texts }).texts,
    };
  };
  const stored = async (store: EventStore, stream: string): Promise<StoredEvent[]> => {
    const found: StoredEvent[] = [];
    for await (const events of store.read(stream)) found.push(...events);
    return found;
  };
  const payloadStreams = async (): Promise<Set<string>> => {
    const found = new Set<string>();
    for await (const { events } of log.readAll(0))
      for (const { stream } of events) if (stream.startsWith('payload-')) found.add(stream);
    return found;
  };
  // A character of two units at every place where a cut may fall.
  const large = '😀'.repeat(700_000);

  it('lie in parts that the one deciding event names, and are read whole everywhere', async () => {
    const { position } = await writer().take('a', large);
    const [event] = await stored(log, 'note-a');
    assert.ok(event!.data.length < 200, 'the event itself is small');
    assert.deepEqual(await writer().texts('a'), [large]);

    const store = withPayloads(log, () => true);
    const text = JSON.stringify({ text: large });
    assert.equal((await stored(store, 'note-a'))[0]!.data, text);
    assert.equal((await store.at(position))!.data, text);
    for (const source of [store.readAll(0), store.follow(0, undefined, new AbortController().signal)]) {
      for await (const { events } of source) {
        const found = events.find(({ stream }) => stream === 'note-a');
        if (!found) continue;
        assert.equal(found.data, text);
        break;
      }
    }
  });

  it('are stored once, however often and by whomever', async () => {
    await Promise.all([writer().take('a', large), writer().take('b', large), writer().take('c', large)]);
    assert.equal((await payloadStreams()).size, 1);
    for (const id of ['a', 'b', 'c']) assert.deepEqual(await writer().texts(id), [large]);
  });

  it('may come together with others, and so may many that are large only together', async () => {
    const texts = ['small', large, ...Array.from({ length: 40 }, (_, i) => `${i}`.repeat(100_000))];
    await writer().take('a', ...texts);
    assert.deepEqual(await writer().texts('a'), texts);
    const events = await stored(log, 'note-a');
    const sizes = events.map(
      ({ data, metadata, type }) => Buffer.byteLength(data) + Buffer.byteLength(metadata) + Buffer.byteLength(type),
    );
    assert.ok(Math.max(...sizes) <= maxEvent && sizes.reduce((sum, size) => sum + size) <= maxAppend);
  });

  it('leave nothing behind that counts when the writer dies between the parts', async () => {
    let left = 3;
    const dying: EventStore = {
      ...log,
      append: (...args) => (left-- > 0 ? log.append(...args) : Promise.reject(new Error('dead'))),
    };
    await assert.rejects(writer(dying).take('a', large), /dead/);
    assert.deepEqual(await writer().texts('a'), []);
    await writer().take('a', large);
    assert.deepEqual(await writer().texts('a'), [large]);
  });

  it('keep nobody from reading on when a part is missing', async () => {
    await writer().take('a', large);
    await writer().take('b', 'small');
    const cut: EventStore = {
      ...log,
      read: async function* (stream, from) {
        for await (const events of log.read(stream, from))
          yield stream.startsWith('payload-') ? events.slice(0, 1) : events;
      },
    };
    const found: string[] = [];
    for await (const { events } of withPayloads(cut, () => true).readAll(0))
      for (const { stream, incomplete: lacking } of events)
        if (stream.startsWith('note-')) found.push(`${stream} ${lacking === undefined ? 'whole' : 'lacking'}`);
    assert.deepEqual(found, ['note-a lacking', 'note-b whole']);
    await assert.rejects(writer(cut).texts('a'), /Event 0 of note-a .* missing or damaged/);
    assert.deepEqual(await writer(cut).texts('b'), ['small']);
  });

  it('are not believed when a part has been changed', async () => {
    await writer().take('a', large);
    const forged: EventStore = {
      ...log,
      read: async function* (stream, from) {
        for await (const events of log.read(stream, from))
          yield events.map((event) =>
            stream.startsWith('payload-') ? { ...event, data: event.data.replace('😀', '😁') } : event,
          );
      },
    };
    await assert.rejects(
      writer(forged).texts('a'),
      /Event 0 of note-a has content in payload-\w+ that is missing or damaged/,
    );
  });
});

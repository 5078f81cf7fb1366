import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { unwrapForeign } from '@automation-platform/event-log';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import type { StoredEvent } from '../../../src/store/port.ts';
import {
  beforeSending,
  breakOff,
  eventsOf,
  ids,
  type ReadCall,
  read,
  readAll,
  workbench,
} from '../../support/eventstoredbWorkbench.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { newEvent, newEvents } from '../../support/store.contract.ts';
import { until } from '../../support/until.ts';

describe('the adapter of EventStoreDB', () => {
  const { serve, open, following } = workbench();

  it('leaves no call behind when a reader has enough', async () => {
    const memory = memoryEventStore();
    let counts = false;
    const [asked, left] = [new Set<ReadCall>(), new Set<ReadCall>()];
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            if (counts && call.request.getOptions()!.getCount() !== '1') {
              asked.add(call);
              left.add(call);
              call.on('cancelled', () => left.delete(call));
              // As if there were more to come.
              call.end = () => call;
            }
            memory.handlers.read(call);
          },
        })
      ).url,
      { watch: 1e6 },
    );
    for (let n = 0; n < 6; n++) await store.append('thing-long', 500 * n - 1, newEvents(500));
    counts = true;
    for await (const _ of store.read('thing-long')) break;
    for await (const _ of store.follow(0, undefined, new AbortController().signal)) break;
    await assert.rejects(
      (async () => {
        for await (const _ of store.follow(0, undefined, new AbortController().signal)) throw new Error('enough');
      })(),
    );
    await until(() => left.size === 0, `all are cancelled: ${asked.size} ${left.size}`);
    assert.ok(asked.size >= 3);
  });

  it('reads on when a read breaks off', async () => {
    const memory = memoryEventStore();
    let broken = 0;
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            let sent = 0;
            beforeSending(call, () => {
              if (sent++ === 600 && broken++ < 2) breakOff(call, status.UNAVAILABLE);
            });
            memory.handlers.read(call);
          },
        })
      ).url,
    );
    for (let n = 0; n < 4; n++) await store.append('thing-long', 400 * n - 1, newEvents(400));
    assert.deepEqual(
      (await read(store, 'thing-long')).map(({ revision }) => revision),
      Array.from({ length: 1600 }, (_, n) => n),
    );
    const all = await readAll(store, ['@test/']);
    assert.equal(new Set(ids(all)).size, 1600);
    assert.equal(all.length, 1600);
    assert.ok(broken >= 2);
  });

  it('goes on with every read that breaks off after five events, however long it has taken by then', async () => {
    const memory = memoryEventStore();
    const server = await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        let sent = 0;
        beforeSending(call, () => {
          if (sent === 5) breakOff(call, status.UNAVAILABLE);
          return sent++ < 5;
        });
        memory.handlers.read(call);
      },
    });
    const tries = 300;
    const store = await open(server.url, { tries, watch: 1e6 });
    const sent = newEvents(40);
    await store.append('thing-long', -1, sent);
    const head = await store.head();
    const expected = ids(sent);
    const readings = {
      read: [store.read('thing-long'), expected],
      readAll: [eventsOf(store.readAll(0, ['@test/'])), expected],
      readAllBack: [store.readAllBack(head + 1), expected.toReversed()],
      follow: [eventsOf(store.follow(0, ['@test/'], new AbortController().signal)), expected],
    } as const;
    const found: Record<string, readonly string[]> = {};
    for (const [name, [reading, { length }]] of Object.entries(readings)) {
      const events: StoredEvent[] = [];
      const began = performance.now();
      for await (const some of reading) {
        events.push(...some.filter(({ type }) => type.startsWith('@test/')));
        await until(() => performance.now() - began > tries, 'the reader is at work');
        if (events.length >= length) break;
      }
      found[name] = ids(events);
    }
    assert.deepEqual(found, Object.fromEntries(Object.entries(readings).map(([name, [, all]]) => [name, all])));
  });

  it('reads what others stored, JSON or not', async () => {
    const memory = memoryEventStore();
    const store = await open((await serve(memory.handlers)).url);
    const proposed = new streams.BatchAppendReq.ProposedMessage();
    await store.append('thing-a', -1, [newEvent()]);
    const [{ message }] = [memory.all.at(-1)!];
    proposed.setId(message.getId()).setData(Buffer.from([0, 255, 1]));
    proposed.getMetadataMap().set('type', 'foreign').set('content-type', 'application/octet-stream');
    memory.store({ id: randomUUID(), stream: 'thing-a', expected: 0, messages: [proposed] });
    const event = (await read(store, 'thing-a'))[1]!;
    const { data, metadata, contentType } = unwrapForeign(event) ?? assert.fail();
    assert.deepEqual([event.type, [...data], [...metadata]], ['foreign', [0, 255, 1], []]);
    assert.equal(contentType, 'application/octet-stream');
    assert.deepEqual(await store.at(event.position), event);
  });

  it('is refused by a version that gives no positions, with the one that is needed', async () => {
    const memory = memoryEventStore({ positions: false });
    const { url } = await serve(memory.handlers);
    const store = await open(url);
    await store.append('thing-a', -1, [newEvent()]);
    await assert.rejects(read(store, 'thing-a'), /22\.10 or later/);
    await assert.rejects(open(url), /22\.10 or later/);
  });

  it('takes a position beyond 2^53 for an error', async () => {
    const memory = memoryEventStore();
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            beforeSending(call, (message) => {
              message.getEvent()?.getEvent()?.setCommitPosition('9007199254740992');
            });
            memory.handlers.read(call);
          },
        })
      ).url,
    );
    await store.append('thing-a', -1, [newEvent()]);
    await assert.rejects(read(store, 'thing-a'), /beyond 2\^53/);
    await assert.rejects(following(store).done, /beyond 2\^53/);
  });

  it('lists and removes checkpoints that two nodes set by turns', async () => {
    const { url } = await serve(memoryEventStore().handlers);
    const [one, two] = [await open(url), await open(url)];
    await Promise.all([1, 2, 3, 4].map((n) => (n % 2 ? one : two).setCheckpoint(`triggers:${n}`, n)));
    const all = [1, 2, 3, 4].map((n) => [`triggers:${n}`, n] as const);
    assert.deepEqual(await one.checkpointsOf('triggers'), new Map(all));
    await two.removeCheckpoint('triggers:1');
    await Promise.all([one.removeCheckpoint('triggers:2'), two.removeCheckpoint('triggers:2')]);
    assert.deepEqual(await one.checkpointsOf('triggers'), new Map(all.slice(2)));
    await one.setCheckpoint('triggers:1', 7);
    assert.deepEqual(await two.checkpointsOf('triggers'), new Map([['triggers:1', 7], ...all.slice(2)]));
    await two.setCheckpoint('triggers:2', 1);
    assert.equal(await one.checkpoint('triggers:2'), 1, 'a removed one counts for nothing');
  });

  it('keeps a checkpoint that is set on two nodes at the one that is ahead, and few old ones', async () => {
    const memory = memoryEventStore();
    const { url } = await serve(memory.handlers);
    const [one, two] = [await open(url), await open(url)];
    await one.setCheckpoint('reactions', 10);
    await two.setCheckpoint('reactions', 20);
    await one.setCheckpoint('reactions', 15);
    assert.equal(await two.checkpoint('reactions'), 20);
    await Promise.all([30, 40, 50].map((position) => one.setCheckpoint('reactions', position)));
    assert.equal(await two.checkpoint('reactions'), 50);
    assert.deepEqual(
      (await read(one, '$$checkpoint-reactions')).map(({ type, data }) => ({ type, data })),
      [{ type: '$metadata', data: '{"$maxCount":10}' }],
    );
    assert.equal(one.id, two.id);
  });
});

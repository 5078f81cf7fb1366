import assert from 'node:assert/strict';
import { TamperedStream, WrongRevision } from '../../../src/store/port.ts';
import { isSubscription, type ReadCall, read, readAll, workbench } from '../../support/eventstoredbWorkbench.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { newEvent, newEvents, newStream } from '../../support/store.contract.ts';
import { until } from '../../support/until.ts';

const touched =
  (stream: string) =>
  (error: unknown): boolean =>
    error instanceof TamperedStream && error.stream === stream;

describe('a stream of EventStoreDB that somebody has touched', () => {
  const bench = workbench();
  const { serve, open } = bench;

  /** A store, and the stream `thing-a` with five events in it. */
  const started = async () => {
    const memory = memoryEventStore();
    let reads = 0;
    let appends = 0;
    const { url } = await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        if (!isSubscription(call)) reads++;
        memory.handlers.read(call);
      },
      batchAppend: (call) => {
        call.on('data', () => appends++);
        memory.handlers.batchAppend(call);
      },
    });
    const store = await open(url, { watch: 1e6 });
    await store.append('thing-a', -1, newEvents(5));
    return { memory, store, counted: () => ({ reads, appends }) };
  };

  for (const [what, touch, least] of [
    ['was cut with $maxCount', (memory) => memory.metadata('thing-a', '{"$maxCount":2}'), 3],
    ['was cut with $tb', (memory) => memory.metadata('thing-a', '{"$tb":3}'), 3],
    ['was cut with $tb behind its end', (memory) => memory.metadata('thing-a', '{"$tb":9}'), 5],
    ['was deleted', (memory) => memory.softDelete('thing-a'), Infinity],
    [
      'was deleted and written to again',
      (memory) => {
        memory.softDelete('thing-a');
        memory.event('thing-a', 'other');
      },
      5,
    ],
    ['was deleted for ever', (memory) => void memory.end('thing-a'), Infinity],
    ['has lost an event in the middle', (memory) => memory.scavenge('thing-a', 2), 3],
    ['has lost its last event', (memory) => memory.scavenge('thing-a', 4), Infinity],
  ] as readonly [string, (memory: ReturnType<typeof memoryEventStore>) => void, number][]) {
    it(`is told when it ${what}, from every revision that misses something, and others are read`, async () => {
      const { memory, store } = await started();
      await store.append('thing-b', -1, newEvents(3));
      touch(memory);
      for (const from of [0, 1, 2])
        await assert.rejects(
          async () => {
            for await (const _ of store.read('thing-a', from));
          },
          touched('thing-a'),
          String(from),
        );
      if (least < 5) for await (const events of store.read('thing-a', least)) assert.equal(events[0]!.revision, least);
      assert.equal((await read(store, 'thing-b')).length, 3);
      assert.equal(store.connected(), true);
    });
  }

  it('takes one append that lands elsewhere, which is told and not tried again', async () => {
    const { memory, store, counted } = await started();
    memory.softDelete('thing-a');
    const { appends } = counted();
    await assert.rejects(store.append('thing-a', -1, newEvents(2)), touched('thing-a'));
    assert.equal(counted().appends, appends + 1);
  });

  it('refuses appends when it was deleted for ever, which is told and not tried again', async () => {
    const { memory, store, counted } = await started();
    memory.end('thing-a');
    const { appends } = counted();
    for (const expected of [-1, 4])
      await assert.rejects(store.append('thing-a', expected, [newEvent()]), touched('thing-a'));
    assert.equal(counted().appends, appends + 2);
    assert.equal(store.connected(), true);
  });

  it('is told when an append meets another revision, whose events are gone', async () => {
    const { memory, store } = await started();
    memory.metadata('thing-a', '{"$maxCount":1}');
    await assert.rejects(store.append('thing-a', 1, [newEvent()]), touched('thing-a'));
    await assert.rejects(
      store.append('thing-a', 3, [newEvent()]),
      (error) => error instanceof WrongRevision && error.actual === 4,
    );
  });

  it('may be one of checkpoints: those set last are there', async () => {
    const { memory, store } = await started();
    for (let n = 1; n <= 15; n++) await store.setCheckpoint('reactions', n);
    assert.equal(await store.checkpoint('reactions'), 15);
    assert.equal((await read(store, 'checkpoint-reactions')).length, 10);
    memory.softDelete('checkpoint-reactions');
    assert.equal(await store.checkpoint('reactions'), undefined);
    await store.setCheckpoint('reactions', 16);
    assert.equal(await store.checkpoint('reactions'), 16);
  });

  it('costs the others nothing: one question for a stream that is there, two for one that is not', async () => {
    const { store, counted } = await started();
    let { reads } = counted();
    assert.equal((await read(store, 'thing-a')).length, 5);
    assert.equal(counted().reads, reads + 1);
    for await (const _ of store.read('thing-a', 5)) assert.fail('nothing is there');
    assert.equal(counted().reads, reads + 2);
    ({ reads } = counted());
    assert.deepEqual(await read(store, newStream()), []);
    assert.equal(counted().reads, reads + 2);
  });

  it('does not keep those who follow or read the whole log from anything', async () => {
    const { memory, store } = await started();
    const follower = bench.following(store);
    memory.end('stranger-1');
    memory.softDelete('thing-a');
    await store.append('thing-b', -1, newEvents(3));
    memory.end('thing-a');
    const last = await store.append('thing-b', 2, newEvents(1));
    memory.end('stranger-2');
    await until(() => follower.events().length === 9, 'all are delivered');
    assert.equal((await readAll(store)).length, 9 + 1);
    assert.equal(await store.head(), last.position);
    await until(() => follower.batches.at(-1)!.position >= last.position, 'the head is reached');
  });
});

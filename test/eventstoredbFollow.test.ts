import assert from 'node:assert/strict';
import streams from '@eventstore/db-client/generated/streams_pb.js';
import { status } from '@grpc/grpc-js';
import {
  beforeSending,
  breakOff,
  fill,
  ids,
  isSubscription,
  type ReadCall,
  readAll,
  workbench,
} from './eventstoredbWorkbench.ts';
import { memoryEventStore } from './memoryEventStore.ts';
import { until } from './until.ts';

describe('following by the adapter of EventStoreDB', () => {
  const bench = workbench();
  const { serve, open, following } = bench;
  for (const [how, spoil] of Object.entries({
    breaks: (call: object) => breakOff(call, status.UNAVAILABLE),
    'is cancelled': (call: object) => breakOff(call, status.CANCELLED),
    'fails otherwise': (call: object) => breakOff(call, status.INTERNAL),
    ends: (call: object) => (call as { end(): void }).end(),
  })) {
    it(`goes on where it was when the subscription ${how}, again and again`, async () => {
      const memory = memoryEventStore();
      let subscriptions = 0;
      const store = await open(
        (
          await serve({
            ...memory.handlers,
            read: (call: ReadCall) => {
              if (isSubscription(call) && ++subscriptions <= 4) {
                let sent = 0;
                beforeSending(call, () => {
                  if (sent++ === 8) spoil(call);
                  return sent <= 8;
                });
              }
              memory.handlers.read(call);
            },
          })
        ).url,
      );
      const expected = await fill(store, 20);
      const follower = following(store);
      expected.push(...(await fill(store, 30)));
      await until(() => follower.events().length >= 50, 'all are delivered');
      assert.deepEqual(ids(follower.events()), expected);
      assert.ok(subscriptions > 4);
    });
  }

  it('has one subscription for all followers, wherever they begin and whatever they want', async () => {
    const memory = memoryEventStore();
    let subscriptions = 0;
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            if (isSubscription(call)) subscriptions++;
            memory.handlers.read(call);
          },
        })
      ).url,
    );
    const before = await fill(store, 300);
    const head = await store.head();
    const followers = [0, 1000, head].map((after) => following(store, after));
    const [some, none] = [following(store, 0, ['@test/']), following(store, head, ['@none/'])];
    const later = await fill(store, 50);
    const late = following(store, head);
    const end = await store.head();
    const all = [...followers, some, none, late];
    await until(() => all.every(({ batches }) => (batches.at(-1)?.position ?? 0) >= end), 'all have come to the end');
    const whole = [...before, ...later];
    const rest = ids((await readAll(store, ['@test/'])).filter(({ position }) => position > 1000));
    assert.deepEqual(
      all.map((follower) => ids(follower.events())),
      [whole, rest, later, whole, [], later],
    );
    assert.equal(subscriptions, 1);
  });

  it('reads what a subscription brings too slowly, without a word', async () => {
    const memory = memoryEventStore();
    let sent = 0;
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            if (isSubscription(call) && sent < 100)
              beforeSending(call, (message) => !message.hasEvent() || ++sent <= 100);
            memory.handlers.read(call);
          },
        })
      ).url,
      { watch: 1e6 },
    );
    const follower = following(store);
    await fill(store, 2);
    await until(() => follower.events().length === 2, 'the subscription has begun');
    for (let n = 0; n < 1200; n++) memory.event('orders-1', '@test/things:ordered');
    await until(() => follower.events().length === 1202, 'all are delivered');
    assert.deepEqual(
      follower.events().map(({ position }) => position),
      memory.all.slice(-1202).map(({ position }) => position),
    );
    assert.deepEqual(bench.lines, []);
  });

  it('goes on where it was when the subscription falls silent', async () => {
    const memory = memoryEventStore();
    let subscriptions = 0;
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            if (!isSubscription(call) || ++subscriptions > 2) memory.handlers.read(call);
          },
        })
      ).url,
    );
    const follower = following(store);
    const expected = await fill(store, 5);
    await until(() => follower.events().length >= 5, 'all are delivered');
    assert.deepEqual(ids(follower.events()), expected);
    assert.ok(bench.lines.some((line) => line.includes('has fallen silent')));
    await until(() => store.lag() === 0, 'the lag is gone');
  });

  it('leaves those alone who are at work, and measures how far they are behind', async () => {
    const memory = memoryEventStore();
    let looks = 0;
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            if (!isSubscription(call)) looks++;
            memory.handlers.read(call);
          },
        })
      ).url,
    );
    await fill(store, 5);
    const stop = new AbortController();
    for await (const { position } of store.follow(0, undefined, stop.signal)) {
      await fill(store, 5);
      await until(() => store.lag() >= 500, 'the lag is seen');
      assert.equal(store.lag(), (await store.head()) - position);
      const before = looks;
      await until(() => looks >= before + 5, 'five more looks of the watch');
      stop.abort();
    }
    assert.deepEqual(bench.lines, []);
  });

  it('comes to the head when nothing passes the filter, and is not taken for silent', async () => {
    const memory = memoryEventStore();
    let subscriptions = 0;
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            if (isSubscription(call)) subscriptions++;
            memory.handlers.read(call);
          },
        })
      ).url,
    );
    const follower = following(store, 0, ['@none/']);
    await fill(store, 3);
    const head = await store.head();
    await until(() => (follower.batches.at(-1)?.position ?? 0) >= head, 'the head is reached');
    await until(() => store.lag() === 0, 'the lag is gone');
    assert.deepEqual([follower.events(), subscriptions, bench.lines], [[], 1, []]);
  });

  it('never has a position ahead of what was delivered, however checkpoints come, and none of them stops it', async () => {
    const memory = memoryEventStore();
    let sendMore = (): void => undefined;
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            if (!isSubscription(call)) return memory.handlers.read(call);
            const checkpoint = (commit: string, prepare = commit) =>
              call.write(
                new streams.ReadResp().setCheckpoint(
                  new streams.ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(prepare),
                ),
              );
            beforeSending(call, (message) => {
              if (!message.hasEvent()) return;
              const position = message.getEvent()!.getEvent()!.getCommitPosition();
              checkpoint(String(Number(position) - 50));
              checkpoint('1');
              checkpoint('900000', '0');
              checkpoint('18446744073709551615');
            });
            sendMore = () => checkpoint('123456');
            memory.handlers.read(call);
          },
        })
      ).url,
    );
    await fill(store, 30);
    const stop = new AbortController();
    let [delivered, reached] = [0, 0];
    const all = await readAll(store, ['@test/']);
    for await (const { events, position } of store.follow(0, ['@test/'], stop.signal)) {
      delivered += events.length;
      assert.equal(delivered, all.filter((event) => event.position <= position).length);
      assert.ok(position >= reached);
      reached = position;
      if (delivered === 30) sendMore();
      if (position === 123456) stop.abort();
    }
  });
});

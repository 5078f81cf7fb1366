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

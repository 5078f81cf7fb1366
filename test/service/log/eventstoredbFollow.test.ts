import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
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
} from '../../support/eventstoredbWorkbench.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { numbers } from '../../support/sample.ts';
import { until } from '../../support/until.ts';

describe('following by the adapter of EventStoreDB', () => {
  const bench = workbench();
  const { open, following } = bench;

  /** A store over a server whose calls that read go by the script; `usual` answers one as EventStoreDB does. */
  const over = async (script: (call: ReadCall, usual: () => void) => void, times?: Parameters<typeof open>[1]) => {
    const memory = memoryEventStore();
    const read = (call: ReadCall) => script(call, () => memory.handlers.read(call));
    const { url } = await bench.serve({ ...memory.handlers, read });
    return { memory, store: await open(url, times) };
  };

  /** A script that counts the subscriptions. */
  const counting = () => {
    const counted = { subscriptions: 0, reads: 0 };
    const script = (call: ReadCall, usual: () => void): void => {
      if (isSubscription(call)) counted.subscriptions++;
      else counted.reads++;
      usual();
    };
    return Object.assign(counted, { script });
  };

  for (const [how, spoil, line] of [
    ['breaks', (call: object) => breakOff(call, status.UNAVAILABLE)],
    ['is cancelled', (call: object) => breakOff(call, status.CANCELLED), /was interrupted/],
    ['fails otherwise', (call: object) => breakOff(call, status.INTERNAL), /was interrupted/],
    ['ends', (call: object) => (call as { end(): void }).end()],
    ['falls silent', () => undefined, /has fallen silent/],
  ] as const) {
    it(`goes on where it was when the subscription ${how}, again and again`, async () => {
      let subscriptions = 0;
      const { store } = await over((call, usual) => {
        if (isSubscription(call) && ++subscriptions <= 4) {
          let sent = 0;
          beforeSending(call, () => {
            if (sent++ === 8) spoil(call);
            return sent <= 8;
          });
        }
        usual();
      });
      const expected = await fill(store, 20);
      const [follower, other] = [following(store), following(store, await store.head())];
      expected.push(...(await fill(store, 30)));
      await until(() => follower.events().length >= 50 && other.events().length >= 30, 'all are delivered');
      assert.deepEqual(ids(follower.events()), expected);
      assert.deepEqual(ids(other.events()), expected.slice(20));
      assert.ok(subscriptions > 4);
      if (line) assert.match(bench.lines.join('\n'), line);
      await until(() => store.lag() === 0, 'the lag is gone');
    });
  }

  it('has one subscription for all followers, wherever they begin and whatever they want', async () => {
    const counted = counting();
    const { store } = await over(counted.script);
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
    assert.equal(counted.subscriptions, 1);
  });

  it('reads what a subscription brings too slowly, without a word', async () => {
    let sent = 0;
    const script = (call: ReadCall, usual: () => void): void => {
      if (isSubscription(call) && sent < 100) beforeSending(call, (message) => !message.hasEvent() || ++sent <= 100);
      usual();
    };
    const { memory, store } = await over(script, { watch: 1e6 });
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

  it('leaves those alone who are at work, and measures how far they are behind', async () => {
    const counted = counting();
    const { store } = await over(counted.script);
    await fill(store, 5);
    const stop = new AbortController();
    for await (const { position } of store.follow(0, undefined, stop.signal)) {
      await fill(store, 5);
      await until(() => store.lag() >= 500, 'the lag is seen');
      assert.equal(store.lag(), (await store.head()) - position);
      const before = counted.reads;
      await until(() => counted.reads >= before + 5, 'five more looks of the watch');
      stop.abort();
    }
    assert.deepEqual(bench.lines, []);
  });

  it('comes to the head when nothing passes the filter, and is not taken for silent', async () => {
    const counted = counting();
    const { memory, store } = await over(counted.script);
    // Nobody gets the server's own events, by whatever name they ask.
    const filter = ['@none/', '$things'];
    const own = () => memory.event('things-1', '$things');
    own();
    const follower = following(store, 0, filter);
    await fill(store, 3);
    own();
    const head = await store.head();
    await until(() => (follower.batches.at(-1)?.position ?? 0) >= head, 'the head is reached');
    await until(() => store.lag() === 0, 'the lag is gone');
    const found = [follower.batches.flatMap(({ events }) => events), await readAll(store, filter)];
    assert.deepEqual([found, counted.subscriptions, bench.lines], [[[], []], 1, []]);
  });

  it('never has a position ahead of what was delivered, however checkpoints come, and none of them stops it', async () => {
    let sendMore = (): void => undefined;
    const { store } = await over((call, usual) => {
      if (!isSubscription(call)) return usual();
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
      usual();
    });
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

  const rounds = Number(process.env.SOAK_ROUNDS ?? 2);
  for (let seed = 1; seed <= rounds; seed++) {
    it(`brings each follower everything once, whatever breaks and whoever comes late, is slow or leaves (${seed})`, async () => {
      const random = numbers(seed);
      const below = (most: number): number => Math.floor(random() * most);
      const codes = [status.UNAVAILABLE, status.CANCELLED, status.INTERNAL, status.ABORTED];
      let isCalm = true;
      /** Breaks a call off after some messages, or ends it, or says nothing more. */
      const script = (call: ReadCall, usual: () => void): void => {
        const isLong = isSubscription(call) || call.request.getOptions()!.getCount() !== '1';
        const what = below(isLong ? 8 : 30);
        let left = isCalm || what > 5 || (what > 3 && !isSubscription(call)) ? Infinity : below(60);
        beforeSending(call, () => {
          if (left-- > 0) return true;
          const code = codes[what];
          if (code !== undefined) breakOff(call, code);
          else if (what === 4) call.end();
          return false;
        });
        usual();
      };
      const { memory, store } = await over(script, { watch: 50, tries: 60_000 });

      const large = JSON.stringify('x'.repeat(150_000));
      const storeSome = (count: number): void => {
        for (let n = 0; n < count; n++) {
          const kind = below(4);
          if (kind === 0) memory.event('$things-1', 'thing');
          else if (kind === 1) memory.event('foreign-1', `shop:${below(3)}`);
          else memory.event(`orders-${n}`, `@test/${'ab'[below(2)]}:ordered`, below(9) === 0 ? large : '{}');
        }
      };
      const stop = new AbortController();
      const follow = (filter: string[] | undefined) => {
        const after = below(memory.all.length * 100);
        const [slowness, most] = [below(3) * 10, below(2) ? 10 : Infinity];
        const follower = { filter, after, reached: after, positions: [] as number[] };
        const run = async (): Promise<void> => {
          let batches = 0;
          for await (const { events, position } of store.follow(follower.reached, filter, stop.signal)) {
            follower.positions.push(...events.map((event) => event.position));
            follower.reached = position;
            if (slowness > 0) await pause(slowness * Math.random());
            if (++batches === most) return run();
          }
        };
        return { done: run(), follower };
      };
      isCalm = false;
      storeSome(200);
      const all: ReturnType<typeof follow>[] = [];
      const reached = (): number => all.reduce((sum, { follower }) => sum + follower.reached, 0);
      for (const filter of [undefined, ['@test/a'], undefined, ['@test/b', 'shop:1'], undefined, ['@none/']]) {
        all.push(follow(filter));
        const before = reached();
        storeSome(below(2) ? 20 : 400);
        await until(() => reached() > before, 'somebody goes on');
      }
      memory.event('orders-1', '@test/a:ordered');
      const end = memory.all.at(-1)!.position;
      await until(() => all.every(({ follower }) => follower.reached >= end), 'all are at the end');
      stop.abort();
      await Promise.all(all.map(({ done }) => done));
      for (const { follower } of all) {
        const { after, filter = [''], positions } = follower;
        const expected = memory.all.filter(({ stream, position, message }) => {
          const type = message.getMetadataMap().get('type')!;
          return position > after && !stream.startsWith('$') && filter.some((prefix) => type.startsWith(prefix));
        });
        assert.deepEqual(
          positions,
          expected.map(({ position }) => position),
        );
      }
    });
  }
});

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { generate } from 'selfsigned';
import { type EventStoreDb, openEventStoreDb, redacted } from '../src/store/eventstoredb.ts';
import type { Times } from '../src/store/eventstoredbConnection.ts';
import { type Batch, type EventStore, type Filter, type StoredEvent, WrongRevision } from '../src/store/port.ts';
import { freePort } from './freePort.ts';
import { memoryEventStore, type Proposal } from './memoryEventStore.ts';
import { failure, type IStreamsServer, scriptedEventStore } from './scriptedEventStore.ts';
import { gather, newEvent, newEvents, newStream, refused } from './store.contract.ts';

type ReadCall = ServerWritableStream<ReadReq, ReadResp>;

const breakOff = (call: object, code: status): void => void (call as NodeJS.EventEmitter).emit('error', failure(code));
const isSubscription = (call: ReadCall): boolean => call.request.getOptions()!.hasSubscription();
const until = async (what: string, done: () => boolean): Promise<void> => {
  for (const deadline = Date.now() + 10_000; !done(); await new Promise(setImmediate)) assert.ok(Date.now() < deadline, what);
};

describe('the adapter of EventStoreDB', () => {
  const quick: Times = { answer: 250, tries: 3000, watch: 100 };
  let ends: (() => unknown)[];
  let lines: string[];
  beforeEach(() => { ends = []; lines = []; });
  afterEach(async () => { for (const end of ends.reverse()) await end(); });

  const serve = async (handlers: Partial<IStreamsServer>, options?: Parameters<typeof scriptedEventStore>[1]) => {
    const server = await scriptedEventStore(handlers, options);
    ends.push(server.stop);
    return server;
  };
  const open = async (url: string, times: Partial<Times> = {}): Promise<EventStoreDb> => {
    const store = await openEventStoreDb({ url, times: { ...quick, ...times }, log: (message, about) => lines.push(`${message} ${JSON.stringify(about)}`) });
    ends.push(() => store.close());
    return store;
  };
  const ids = (events: readonly { readonly id: string }[]): string[] => events.map(({ id }) => id);
  const read = (store: EventStore, stream: string) => gather(store.read(stream));
  /** What a follower gets in the background, until the test ends. */
  const following = (store: EventStore, after = 0, filter?: Filter) => {
    const stop = new AbortController();
    const batches: Batch[] = [];
    const done = (async () => { for await (const batch of store.follow(after, filter, stop.signal)) batches.push(batch); })();
    done.catch(() => undefined);
    ends.push(async () => { stop.abort(); await done.catch(() => undefined); });
    return { batches, done, stop, events: (): StoredEvent[] => batches.flatMap(({ events }) => [...events]).filter(({ type }) => type.startsWith('@test/')) };
  };

  describe('when an append fails', () => {
    /** The first try of each append of a test's own has this fate. */
    const withFate = (fate: Parameters<typeof memoryEventStore>[0] extends infer O ? Exclude<NonNullable<O>, undefined> : never) => memoryEventStore(fate);
    const first = (fate: (proposal: Proposal, call: object, usual: () => void) => void) => {
      const seen = new Set<string>();
      return (proposal: Proposal, call: object, usual: () => void): void => {
        const key = proposal.messages[0]!.getId()!.getString();
        if (!proposal.stream.startsWith('thing-') || seen.has(key)) return usual();
        seen.add(key);
        fate(proposal, call, usual);
      };
    };
    for (const remembers of [true, false]) {
      const fates: Record<string, (memory: () => ReturnType<typeof memoryEventStore>) => (proposal: Proposal, call: object, usual: () => void) => void> = {
        'is stored, and nobody answers': (memory) => (proposal) => void memory().store(proposal),
        'is lost, and nobody answers': () => () => undefined,
        'is stored, and answered when it is too late': (memory) => (proposal, call) => {
          const answer = memory().store(proposal);
          setTimeout(() => (call as { write(answer: unknown): void }).write(answer), 300);
        },
        'is stored, and the call is cancelled': (memory) => (proposal, call) => { memory().store(proposal); breakOff(call, status.CANCELLED); },
        'is lost, and the call is cancelled': () => (_, call) => breakOff(call, status.CANCELLED),
        'is stored, and EventStoreDB becomes unavailable': (memory) => (proposal, call) => { memory().store(proposal); breakOff(call, status.UNAVAILABLE); },
        'is lost, and EventStoreDB becomes unavailable': () => (_, call) => breakOff(call, status.UNAVAILABLE),
        'is stored, and the call ends': (memory) => (proposal, call) => { memory().store(proposal); (call as { end(): void }).end(); },
        'is stored, and something unheard of is reported': (memory) => (proposal, call) => { memory().store(proposal); breakOff(call, status.DATA_LOSS); },
      };
      for (const [what, fate] of Object.entries(fates)) {
        it(`that ${what}, it is stored once and acknowledged${remembers ? '' : ' (by an EventStoreDB that calls it a wrong revision)'}`, async () => {
          const memory: ReturnType<typeof memoryEventStore> = withFate({ remembers, script: first(fate(() => memory)) });
          const store = await open((await serve(memory.handlers)).url);
          const stream = newStream();
          const events = newEvents(2);
          const appended = await store.append(stream, -1, events);
          const stored = await read(store, stream);
          assert.deepEqual(ids(stored), ids(events));
          assert.deepEqual(appended, { revision: 1, position: stored[1]!.position });
          assert.equal((await store.append(stream, 1, [newEvent()])).revision, 2);
        });
      }
    }

    it('those under way with it are stored once each, too', async () => {
      let held: { proposal: Proposal; usual: () => void }[] = [];
      const memory: ReturnType<typeof memoryEventStore> = memoryEventStore({
        script: first((proposal, call, usual) => {
          held.push({ proposal, usual });
          if (held.length < 20) return;
          for (const [n, { proposal }] of held.entries()) if (n % 2) memory.store(proposal);
          breakOff(call, status.UNAVAILABLE);
        }),
      });
      const store = await open((await serve(memory.handlers)).url, { answer: 2000 });
      const streams = Array.from({ length: 20 }, newStream);
      const appended = await Promise.all(streams.map((stream) => store.append(stream, -1, [newEvent()])));
      for (const [n, stream] of streams.entries()) assert.deepEqual((await read(store, stream)).map(({ revision, position }) => ({ revision, position })), [appended[n]]);
    });

    it('those of another log in the process are not disturbed', async () => {
      let tries = 0;
      const calm = memoryEventStore({ script: (_, __, usual) => { tries++; setTimeout(usual, 100); } });
      const broken = memoryEventStore({ script: first((_, call) => breakOff(call, status.UNAVAILABLE)) });
      const one = await open((await serve(calm.handlers)).url);
      const two = await open((await serve(broken.handlers)).url);
      tries = 0;
      await Promise.all([one.append(newStream(), -1, [newEvent()]), two.append(newStream(), -1, [newEvent()])]);
      assert.equal(tries, 1);
    });

    it('it is refused as unavailable when that goes on for some seconds, and works when EventStoreDB is back', async () => {
      const port = await freePort();
      const memory = memoryEventStore();
      const server = await serve(memory.handlers, { port });
      const store = await open(server.url, { tries: 600 });
      assert.equal(store.connected(), true);
      server.stop();
      const stream = newStream();
      const events = newEvents(1);
      await assert.rejects(store.append(stream, -1, events), (error) => refused('unavailable')(error) && (error as { retryAfterSeconds?: number }).retryAfterSeconds === 1);
      await assert.rejects(store.head(), refused('unavailable'));
      assert.equal(store.connected(), false);
      await serve(memory.handlers, { port });
      assert.equal((await store.append(stream, -1, events)).revision, 0);
      assert.equal(store.connected(), true);
    });

    it('because another was faster, the revision is told, and nothing is tried again', async () => {
      let tries = 0;
      const memory = memoryEventStore({ script: (_, __, usual) => { tries++; usual(); } });
      const store = await open((await serve(memory.handlers)).url);
      const stream = newStream();
      await store.append(stream, -1, newEvents(3));
      tries = 0;
      await assert.rejects(store.append(stream, 0, newEvents(1)), (error) => error instanceof WrongRevision && error.actual === 2);
      assert.equal(tries, 1);
    });
  });

  it('gives the position of the last event, whichever the answer names', async () => {
    const memory: ReturnType<typeof memoryEventStore> = memoryEventStore({
      script: (proposal, call) => {
        const answer = memory.store(proposal);
        const position = answer.getSuccess()?.getPosition();
        if (proposal.messages.length > 1 && position) position.setCommitPosition(String(Number(position.getCommitPosition()) - 100));
        call.write(answer);
      },
    });
    const store = await open((await serve(memory.handlers)).url);
    assert.equal((await store.append(newStream(), -1, newEvents(2))).position, await store.head());
  });

  describe('when a TCP connection stalls', () => {
    /** A way to the server that can be made to swallow what goes through the connections there are. */
    const stallable = async (port: number) => {
      const pairs = new Set<readonly [Socket, Socket]>();
      const proxy = createServer((near) => {
        const far = connect(port, '127.0.0.1');
        const pair = [near, far] as const;
        pairs.add(pair);
        for (const [from, to] of [[near, far], [far, near]] as const) from.pipe(to).on('error', () => undefined), from.on('error', () => to.destroy());
      }).listen(0, '127.0.0.1');
      await once(proxy, 'listening');
      ends.push(() => { proxy.close(); for (const pair of pairs) for (const socket of pair) socket.destroy(); });
      return {
        url: `esdb://127.0.0.1:${(proxy.address() as AddressInfo).port}?tls=false`,
        connections: () => pairs.size,
        stall: () => { for (const [near, far] of pairs) { near.unpipe(); far.unpipe(); near.resume(); far.resume(); } },
      };
    };

    it('appends, reads and followers go on over a new one within moments', async () => {
      const way = await stallable((await serve(memoryEventStore().handlers)).port);
      const store = await open(way.url);
      const stream = newStream();
      await store.append(stream, -1, [newEvent()]);
      const follower = following(store);
      await until('the first is delivered', () => follower.events().length === 1);
      const before = way.connections();
      way.stall();
      await store.append(stream, 0, [newEvent()]);
      assert.equal((await read(store, stream)).length, 2);
      await until('the second is delivered', () => follower.events().length === 2);
      assert.ok(way.connections() > before);
      way.stall();
      assert.equal((await read(store, stream)).length, 2);
      way.stall();
      await until('the watch finds it out by itself', () => lines.some((line) => line.includes('interrupted')));
    });
  });

  describe('following', () => {
    const fill = async (store: EventStore, count: number): Promise<string[]> => {
      const events = newEvents(count);
      for (const event of events) await store.append(newStream(), -1, [event]);
      return ids(events);
    };

    for (const [how, spoil] of Object.entries({
      breaks: (call: object) => breakOff(call, status.UNAVAILABLE),
      'is cancelled': (call: object) => breakOff(call, status.CANCELLED),
      'fails otherwise': (call: object) => breakOff(call, status.INTERNAL),
      ends: (call: object) => (call as { end(): void }).end(),
    })) {
      it(`goes on where it was when the subscription ${how}, again and again`, async () => {
        const memory = memoryEventStore();
        let subscriptions = 0;
        const store = await open((await serve({
          ...memory.handlers,
          read: (call: ReadCall) => {
            if (isSubscription(call) && ++subscriptions <= 4) {
              let sent = 0;
              const write = call.write.bind(call);
              call.write = (message: ReadResp) => {
                if (sent++ === 8) spoil(call);
                return sent <= 8 && write(message);
              };
            }
            memory.handlers.read(call);
          },
        })).url);
        const expected = await fill(store, 20);
        const follower = following(store);
        expected.push(...await fill(store, 30));
        await until('all are delivered', () => follower.events().length >= 50);
        assert.deepEqual(ids(follower.events()), expected);
        assert.ok(subscriptions > 4);
      });
    }

    it('goes on where it was when the subscription falls silent', async () => {
      const memory = memoryEventStore();
      let subscriptions = 0;
      const store = await open((await serve({
        ...memory.handlers,
        read: (call: ReadCall) => { if (!isSubscription(call) || ++subscriptions > 2) memory.handlers.read(call); },
      })).url);
      const follower = following(store);
      const expected = await fill(store, 5);
      await until('all are delivered', () => follower.events().length >= 5);
      assert.deepEqual(ids(follower.events()), expected);
      assert.ok(lines.some((line) => line.includes('has fallen silent')));
      await until('the lag is gone', () => store.lag() === 0);
    });

    it('leaves those alone who are at work, and measures how far they are behind', async () => {
      const memory = memoryEventStore();
      const store = await open((await serve(memory.handlers)).url);
      await fill(store, 5);
      const stop = new AbortController();
      for await (const { position } of store.follow(0, undefined, stop.signal)) {
        await fill(store, 5);
        await until('the lag is seen', () => store.lag() >= 500);
        assert.equal(store.lag(), (await store.head()) - position);
        await new Promise((resolve) => setTimeout(resolve, 500));
        stop.abort();
      }
      assert.deepEqual(lines, []);
    });

    it('comes to the head when nothing passes the filter, and is not taken for silent', async () => {
      const memory = memoryEventStore();
      let subscriptions = 0;
      const store = await open((await serve({ ...memory.handlers, read: (call: ReadCall) => { if (isSubscription(call)) subscriptions++; memory.handlers.read(call); } })).url);
      const follower = following(store, 0, ['@none/']);
      await fill(store, 3);
      const head = await store.head();
      await until('the head is reached', () => (follower.batches.at(-1)?.position ?? 0) >= head);
      await until('the lag is gone', () => store.lag() === 0);
      assert.deepEqual([follower.events(), subscriptions, lines], [[], 1, []]);
    });

    it('never has a position ahead of what was delivered, however checkpoints come, and none of them stops it', async () => {
      const memory = memoryEventStore();
      let sendMore = (): void => undefined;
      const store = await open((await serve({
        ...memory.handlers,
        read: (call: ReadCall) => {
          if (!isSubscription(call)) return memory.handlers.read(call);
          const checkpoint = (commit: string, prepare = commit) => call.write(new streams.ReadResp().setCheckpoint(new streams.ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(prepare)));
          const write = call.write.bind(call);
          call.write = (message: ReadResp) => {
            if (message.hasEvent()) {
              const position = message.getEvent()!.getEvent()!.getCommitPosition();
              checkpoint(String(Number(position) - 50));
              checkpoint('1');
              checkpoint('900000', '0');
              checkpoint('18446744073709551615');
            }
            return write(message);
          };
          sendMore = () => checkpoint('123456');
          memory.handlers.read(call);
        },
      })).url);
      await fill(store, 30);
      const stop = new AbortController();
      let [delivered, reached] = [0, 0];
      const all = (await gather((async function* () { for await (const { events } of store.readAll(0, ['@test/'])) yield events; })()));
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

  it('leaves no call behind when a reader has enough', async () => {
    const memory = memoryEventStore();
    let [calls, cancelled] = [-100, 0];
    const store = await open((await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        calls++;
        call.on('cancelled', () => cancelled++);
        // As if there were more to come.
        if (calls > 0) call.end = () => call;
        memory.handlers.read(call);
      },
    })).url, { watch: 1e6 });
    for (let n = 0; n < 6; n++) await store.append('thing-long', 500 * n - 1, newEvents(500));
    [calls, cancelled] = [0, 0];
    for await (const _ of store.read('thing-long')) break;
    for await (const _ of store.follow(0, undefined, new AbortController().signal)) break;
    await assert.rejects((async () => { for await (const _ of store.follow(0, undefined, new AbortController().signal)) throw new Error('enough'); })());
    await until(`all are cancelled: ${calls} ${cancelled}`, () => cancelled === 3);
    assert.equal(calls, 3);
  });

  it('reads on when a read breaks off', async () => {
    const memory = memoryEventStore();
    let broken = 0;
    const store = await open((await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        let sent = 0;
        const write = call.write.bind(call);
        call.write = (message: ReadResp) => {
          if (sent++ === 600 && broken++ < 2) breakOff(call, status.UNAVAILABLE);
          return write(message);
        };
        memory.handlers.read(call);
      },
    })).url);
    for (let n = 0; n < 4; n++) await store.append('thing-long', 400 * n - 1, newEvents(400));
    assert.deepEqual((await read(store, 'thing-long')).map(({ revision }) => revision), Array.from({ length: 1600 }, (_, n) => n));
    const all = await gather((async function* () { for await (const { events } of store.readAll(0, ['@test/'])) yield events; })());
    assert.equal(new Set(ids(all)).size, 1600);
    assert.equal(all.length, 1600);
    assert.ok(broken >= 2);
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
    assert.deepEqual([event.type, event.data, event.metadata], ['foreign', '"AP8B"', '{}']);
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
    const store = await open((await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        const write = call.write.bind(call);
        call.write = (message: ReadResp) => { message.getEvent()?.getEvent()?.setCommitPosition('9007199254740992'); return write(message); };
        memory.handlers.read(call);
      },
    })).url);
    await store.append('thing-a', -1, [newEvent()]);
    await assert.rejects(read(store, 'thing-a'), /beyond 2\^53/);
    await assert.rejects(following(store).done, /beyond 2\^53/);
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
    assert.deepEqual((await read(one, '$$checkpoint-reactions')).map(({ type, data }) => ({ type, data })), [{ type: '$metadata', data: '{"$maxCount":10}' }]);
    assert.equal(one.id, two.id);
  });

  describe('and its URL', () => {
    it('shows neither user nor password', () => {
      for (const url of ['esdb://admin:s3cret@node:2113?tls=true', 'esdb+discover://admin:s3@cret@node', 'esdb://admin:s3cr/et?@node', 'admin:s3cret@node', 'esdb:admin:s3cret@node']) {
        assert.ok(!/s3|cret|admin/.test(redacted(url)), redacted(url));
        assert.ok(redacted(url).endsWith('node') || redacted(url).endsWith('node:2113?tls=true'));
      }
      assert.equal(redacted('esdb://node:2113?tls=false'), 'esdb://node:2113?tls=false');
    });

    it('is refused when it would not do what it says, without the password', async () => {
      const printed: unknown[] = [];
      const { warn } = console;
      console.warn = (...all) => void printed.push(...all);
      try {
        for (const [url, why] of [
          ['esdb://admin:s3cret@localhost:1?tls=false', /tls=false/],
          ['esdb://admin:s3cret@localhost:1?TLS=false', /tls=false/],
          ['esdb://admin:s3cret@localhost:1?throwOnAppendFailure=false', /throwOnAppendFailure/],
          ['esdb://admin:s3cret@localhost:1?tlsVerifyCert=false', /tlsCAFile/],
          ['esdb://admin:s3cret@localhost:1?surprise=1', /unknown setting/],
          ['esdb://admin:s3cret@localhost:1?nodePreference=x', /nodePreference|expected/],
          ['esdb://admin:s3@cret@localhost:x', /./],
          ['esdb://admin:s3cret%zz@localhost:1', /./],
          ['esdb://admin:s3cret@localhost:1?tlsCAFile=/nowhere', /certificate file/],
          ['http://admin:s3cret@localhost:1', /esdb:\/\//],
        ] as const) {
          await assert.rejects(openEventStoreDb({ url, log: () => undefined }), (error: Error) => {
            assert.match(error.message, why);
            for (let shown: unknown = error; shown instanceof Error; shown = shown.cause) assert.ok(!/s3|cret/.test(JSON.stringify([shown.message, shown.stack, shown])), shown.stack);
            return true;
          });
        }
      } finally { console.warn = warn; }
      assert.deepEqual(printed, []);
    });

    it('says so without the password when nobody is there', async () => {
      const port = await freePort();
      await assert.rejects(open(`esdb://admin:s3cret@127.0.0.1:${port}`, { tries: 300 }), (error: Error) => refused('unavailable')(error) && error.message.includes(`***@127.0.0.1:${port}`) && !error.message.includes('s3cret'));
    });

    it('gives user and password to EventStoreDB over TLS, whose certificate is checked', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'esdb-'));
      ends.push(() => rm(folder, { recursive: true }));
      const certificate = await generate([{ name: 'commonName', value: 'localhost' }], { extensions: [{ name: 'basicConstraints', cA: true }, { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }] });
      await writeFile(join(folder, 'ca.pem'), certificate.cert);
      const memory = memoryEventStore();
      const sent = new Set<string>();
      const { port } = await serve({
        read: (call: ReadCall) => { sent.add(String(call.metadata.get('authorization')[0])); memory.handlers.read(call); },
        batchAppend: (call) => { sent.add(String(call.metadata.get('authorization')[0])); memory.handlers.batchAppend(call); },
      }, { tls: { key: certificate.private, cert: certificate.cert } });
      const store = await open(`esdb://admin:s3cr%40et@127.0.0.1:${port}?tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`);
      await store.append('thing-a', -1, [newEvent()]);
      assert.deepEqual([...sent], [`Basic ${Buffer.from('admin:s3cr@et').toString('base64')}`]);
      await assert.rejects(open(`esdb://admin:s3cret@127.0.0.1:${port}`, { tries: 300 }), refused('unavailable'));
    });
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import rpc from '@eventstore/db-client/generated/status_pb.js';
import streams, { type BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import { Metadata, status } from '@grpc/grpc-js';
import any from 'google-protobuf/google/protobuf/any_pb.js';
import empty from 'google-protobuf/google/protobuf/empty_pb.js';
import { WrongRevision } from '../../../src/store/port.ts';
import {
  beforeSending,
  breakOff,
  fill,
  ids,
  isSubscription,
  type ReadCall,
  read,
  readAll,
  workbench,
} from '../../support/eventstoredbWorkbench.ts';
import { freePort } from '../../support/freePort.ts';
import { type AppendCall, memoryEventStore, type Proposal } from '../../support/memoryEventStore.ts';
import { failure } from '../../support/scriptedEventStore.ts';
import { newEvent, newEvents, newStream, refused } from '../../support/store.contract.ts';
import { until } from '../../support/until.ts';

/** An answer to an append that refuses it. */
const refusal = ({ id }: Proposal, type: string, details: Uint8Array, message = type) => {
  const packed = new any.Any();
  packed.pack(details, type);
  return new streams.BatchAppendResp()
    .setCorrelationId(new shared.UUID().setString(id))
    .setError(new rpc.Status().setMessage(message).setDetails(packed));
};

const timedOut = (proposal: Proposal) =>
  refusal(proposal, 'event_store.client.Timeout', new shared.Timeout().serializeBinary());
const wrongRevision = (proposal: Proposal, current: number) =>
  refusal(
    proposal,
    'event_store.client.WrongExpectedVersion',
    new shared.WrongExpectedVersion().setCurrentStreamRevision(String(current)).serializeBinary(),
  );

/** Fails a call as EventStoreDB does. */
const failAs = (call: object, code: status, details: string, about: Record<string, string> = {}): void => {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(about)) metadata.set(key, value);
  (call as NodeJS.EventEmitter).emit('error', { ...failure(code, details), metadata });
};

const tooSlow = (call: object): void =>
  failAs(
    call,
    status.ABORTED,
    'Operation timed out: Consumer too slow to handle event while live. Client resubscription required.',
  );

describe('a healthy EventStoreDB', () => {
  const bench = workbench();
  const { serve, open, following } = bench;

  /** Looks all the time whether a store says that it is connected. */
  const alwaysConnected = (store: { connected(): boolean }) => {
    const seen = new Set<boolean>();
    const timer = setInterval(() => seen.add(store.connected()), 1);
    bench.ends.push(() => clearInterval(timer));
    return () => assert.deepEqual([...seen], [true]);
  };

  it('may end subscriptions again and again: that is no outage, and nothing is left out', async () => {
    const memory = memoryEventStore();
    let subscriptions = 0;
    const server = await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        if (isSubscription(call) && ++subscriptions <= 5) {
          let sent = 0;
          beforeSending(call, () => {
            if (sent++ === 6) tooSlow(call);
            return sent <= 6;
          });
        }
        memory.handlers.read(call);
      },
    });
    const store = await open(server.url, { watch: 1e6 });
    const check = alwaysConnected(store);
    const follower = following(store);
    const expected = await fill(store, 60);
    await until(() => follower.events().length >= 60, 'all are delivered');
    assert.deepEqual(ids(follower.events()), expected);
    check();
    assert.equal(server.asked(), 1);
    assert.equal(subscriptions, 6);
    const lines = bench.lines.filter((line) => line.includes('interrupted'));
    assert.equal(lines.length, 1, bench.lines.join('\n'));
    assert.match(lines[0]!, /too slow/);
  });

  it('gets rid of what a follower has no time for, which reads the rest later', async () => {
    const memory = memoryEventStore();
    let [sent, read] = [0, 0];
    const server = await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        beforeSending(call, (message) => {
          if (!message.hasEvent()) return;
          if (isSubscription(call)) sent++;
          else read++;
        });
        memory.handlers.read(call);
      },
    });
    const store = await open(server.url, { watch: 1e6 });
    const wanted = 300;
    const data = JSON.stringify('x'.repeat(100_000));
    const stop = new AbortController();
    memory.event('stranger-large', 'large');
    let [revision, isBusy] = [-1, true];
    for await (const { events } of store.follow(0, ['large'], stop.signal)) {
      for (const event of events) assert.equal(event.revision, ++revision);
      if (isBusy) {
        for (let n = 0; n < wanted; n++) memory.event('stranger-large', 'large', data);
        await until(() => sent >= wanted, 'they are taken while the follower is at work');
        read = 0;
        isBusy = false;
      }
      if (revision === wanted) stop.abort();
    }
    assert.ok(read > wanted - 100, `${read} are read: no more than 8 MiB are kept`);
  });

  it('refuses on what it does not show yet: the append alone is tried again, until it does', async () => {
    let wait = 6;
    const other = newEvent();
    const memory: ReturnType<typeof memoryEventStore> = memoryEventStore({
      script: (proposal, call, usual) => {
        if (proposal.stream !== 'thing-raced' || proposal.expected !== 0 || wait < 0) return usual();
        if (--wait === 0) memory.event('thing-raced', other.type);
        call.write(wrongRevision(proposal, 1));
      },
    });
    const server = await serve(memory.handlers);
    const store = await open(server.url, { watch: 1e6 });
    await store.append('thing-raced', -1, [newEvent()]);
    const check = alwaysConnected(store);
    await assert.rejects(
      store.append('thing-raced', 0, [newEvent()]),
      (error) => error instanceof WrongRevision && error.actual === 1,
    );
    check();
    assert.equal(server.asked(), 1);
    assert.deepEqual(bench.lines, []);
  });

  it('does not show at once where the last of several events went: that is asked for again', async () => {
    const memory: ReturnType<typeof memoryEventStore> = memoryEventStore();
    let hidden = 3;
    const server = await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        const stream = call.request.getOptions()!.getStream()?.getStreamIdentifier()?.getStreamName_asU8();
        if (stream && Buffer.from(stream).toString() === 'thing-late' && hidden-- > 0) {
          call.write(new streams.ReadResp().setStreamNotFound(new streams.ReadResp.StreamNotFound()));
          return void call.end();
        }
        memory.handlers.read(call);
      },
    });
    const store = await open(server.url, { watch: 1e6 });
    const { position } = await store.append('thing-late', -1, newEvents(3));
    assert.equal(position, (await read(store, 'thing-late'))[2]!.position);
    assert.equal(server.asked(), 1);
  });

  for (const [what, answer] of Object.entries({
    'was too slow to store it': timedOut,
    'is busy': (proposal: Proposal) =>
      refusal(proposal, 'google.protobuf.Empty', new empty.Empty().serializeBinary(), 'Server Is Busy'),
    'does not know why': (proposal: Proposal) =>
      refusal(proposal, 'event_store.client.Unknown', new shared.Unknown().serializeBinary()),
  })) {
    it(`may answer an append that it ${what}: it is tried again over the same connection, and others go on`, async () => {
      let left = 4;
      const memory = memoryEventStore({
        script: (proposal, call, usual) => {
          if (proposal.stream === 'thing-slow' && left-- > 0) call.write(answer(proposal));
          else usual();
        },
      });
      const server = await serve(memory.handlers);
      const store = await open(server.url, { watch: 1e6 });
      const check = alwaysConnected(store);
      const slow = store.append('thing-slow', -1, newEvents(2));
      await store.append(newStream(), -1, [newEvent()]);
      assert.equal((await slow).revision, 1);
      check();
      assert.equal(server.asked(), 1);
    });
  }

  for (const [what, fail] of Object.entries({
    'with a deadline': (call: object) => breakOff(call, status.DEADLINE_EXCEEDED),
    'as busy': (call: object) => failAs(call, status.UNAVAILABLE, 'Server Is Too Busy'),
    'with a cancellation': (call: object) => breakOff(call, status.CANCELLED),
  })) {
    it(`may fail a read ${what}: it is read again over the same connection`, async () => {
      const memory = memoryEventStore();
      let left = 0;
      const server = await serve({
        ...memory.handlers,
        read: (call: ReadCall) => {
          if (left-- > 0) fail(call);
          else memory.handlers.read(call);
        },
      });
      const store = await open(server.url, { watch: 1e6 });
      await store.append('thing-a', -1, newEvents(3));
      const check = alwaysConnected(store);
      left = 4;
      assert.equal((await read(store, 'thing-a')).length, 3);
      check();
      assert.equal(server.asked(), 1);
    });
  }

  it('may leave one call without an answer while it answers others: that one is made again, the connection stays', async () => {
    const memory = memoryEventStore({
      script: (proposal, _, usual) => {
        if (proposal.stream !== 'thing-lost' || lost-- <= 0) usual();
      },
    });
    let lost = 1;
    const server = await serve(memory.handlers);
    const store = await open(server.url, { watch: 1e6 });
    const check = alwaysConnected(store);
    assert.equal((await store.append('thing-lost', -1, [newEvent()])).revision, 0);
    check();
    // Once for the connection, once when it was suspected.
    assert.equal(server.asked(), 2);
    assert.deepEqual(bench.lines, []);
  });

  it('is told no time of ours with appends: its clock may differ', async () => {
    const requests: BatchAppendReq[] = [];
    const memory = memoryEventStore();
    const store = await open(
      (
        await serve({
          ...memory.handlers,
          batchAppend: (call: AppendCall) => {
            call.on('data', (request: BatchAppendReq) => requests.push(request));
            memory.handlers.batchAppend(call);
          },
        })
      ).url,
    );
    await store.append('thing-a', -1, [newEvent()]);
    for (const request of requests) assert.equal(request.getOptions()!.hasDeadline(), false);
    assert.ok(requests.length > 0);
  });

  it('may take less at once than we send: too_large, with its limit', async () => {
    const memory = memoryEventStore({
      script: (proposal, call, usual) => {
        if (!proposal.stream.startsWith('thing-')) return usual();
        call.write(
          refusal(
            proposal,
            'event_store.client.MaximumAppendSizeExceeded',
            new shared.MaximumAppendSizeExceeded().setMaxappendsize(1000).serializeBinary(),
          ),
        );
      },
    });
    const store = await open((await serve(memory.handlers)).url);
    await assert.rejects(
      store.append(newStream(), -1, [newEvent()]),
      (error) => refused('too_large')(error) && /1000/.test((error as Error).message),
    );
    assert.equal(store.connected(), true);
  });

  it('has events of its own: they are asked for by nobody, whatever is in them, and count for nothing', async () => {
    const memory = memoryEventStore();
    let delivered = 0;
    const server = await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        beforeSending(call, (message) => {
          if (isSubscription(call) && message.getEvent()?.getEvent()?.getMetadataMap().get('type')?.startsWith('$'))
            delivered++;
        });
        memory.handlers.read(call);
      },
    });
    const store = await open(server.url);
    const follower = following(store);
    memory.end('stranger-1');
    const [first] = await fill(store, 1);
    for (let n = 0; n < 100; n++) memory.event('$ce-thing', '$>', 'not even JSON');
    memory.event('$projections-x-result', 'Result');
    const [second] = await fill(store, 1);
    const head = await store.head();
    memory.event('$projections-x-result', 'Result');
    memory.event('$ce-thing', '$>');
    memory.end('stranger-2');
    assert.equal(await store.head(), head);
    assert.equal((await store.at(head))!.id, second);
    await until(() => follower.events().length === 2, 'both are delivered');
    assert.deepEqual(ids(follower.events()), [first, second]);
    assert.deepEqual(
      (await readAll(store)).map(({ type }) => type).filter((type) => type !== '@platform/log:logIdentified'),
      ['@test/things:thingChanged', '@test/things:thingChanged'],
    );
    assert.deepEqual(await readAll(store, ['$>']), []);
    await until(() => store.lag() === 0, 'the lag is gone');
    assert.deepEqual([delivered, bench.lines], [0, []]);
  });

  it('may hold numbers of strangers that are too large to count with: nobody is stopped', async () => {
    const memory = memoryEventStore();
    const server = await serve({
      ...memory.handlers,
      read: (call: ReadCall) => {
        beforeSending(call, (message) => {
          const event = message.getEvent()?.getEvent();
          if (event?.getMetadataMap().get('type') === 'stranger')
            event.setStreamRevision('9223372036854775807').setCommitPosition('18446744073709551615');
        });
        memory.handlers.read(call);
      },
    });
    const store = await open(server.url);
    const follower = following(store);
    memory.event('stranger-1', 'stranger');
    await fill(store, 1);
    memory.event('stranger-1', 'stranger');
    const [last] = await fill(store, 1);
    await until(() => follower.events().length === 2, 'both are delivered');
    assert.equal((await readAll(store)).at(-1)!.id, last);
    memory.event('stranger-1', 'stranger');
    assert.equal((await store.at(await store.head()))!.id, last);
  });
});

describe('a cluster of EventStoreDB', () => {
  const bench = workbench();
  const { serve, open, following } = bench;

  /** Three nodes over one log, of which `leading` leads; appends to another are answered as a cluster does. */
  const cluster = async () => {
    let leading: number | undefined;
    const took: number[] = [];
    const ports: number[] = [];
    const nodes = new WeakMap<object, number>();
    const memory = memoryEventStore({
      script: (proposal, call, usual) => {
        const n = nodes.get(call)!;
        if (leading === ports[n]) {
          took.push(n);
          return usual();
        }
        if (leading === undefined)
          return void call.write(
            refusal(
              proposal,
              'google.protobuf.Empty',
              new empty.Empty().serializeBinary(),
              'No leader info available in response',
            ),
          );
        failAs(call, status.NOT_FOUND, 'Leader info available', {
          exception: 'not-leader',
          'leader-endpoint-host': '127.0.0.1',
          'leader-endpoint-port': String(leading),
        });
      },
    });
    const servers: Awaited<ReturnType<typeof serve>>[] = [];
    for (let n = 0; n < 3; n++) {
      ports.push(await freePort());
      servers.push(
        await serve(
          {
            ...memory.handlers,
            batchAppend: (call: AppendCall) => {
              assert.deepEqual(call.metadata.get('requires-leader'), ['true']);
              nodes.set(call, n);
              memory.handlers.batchAppend(call);
            },
          },
          { port: ports[n]!, leader: () => leading },
        ),
      );
    }
    return {
      servers,
      took,
      ports,
      lead: (n: number | undefined) => {
        leading = n === undefined ? undefined : ports[n];
      },
      url: `esdb://${ports.map((port) => `127.0.0.1:${port}`).join(',')}?tls=false`,
    };
  };

  it('is asked who leads when a node does not: appends go there, and that is no outage', async () => {
    const { lead, took, url, servers } = await cluster();
    lead(0);
    const store = await open(url, { watch: 1e6 });
    const follower = following(store);
    const stream = newStream();
    await store.append(stream, -1, [newEvent()]);
    for (const [revision, node] of [
      [0, 2],
      [1, 1],
      [2, 0],
    ] as const) {
      lead(node);
      took.length = 0;
      assert.equal((await store.append(stream, revision, [newEvent()])).revision, revision + 1);
      assert.deepEqual(took, [node]);
      assert.equal(store.connected(), true);
    }
    await until(() => follower.events().length === 4, 'all are delivered');
    assert.ok(servers.every(({ asked }) => asked() <= 2));
    assert.equal(bench.lines.filter((line) => line.includes('does not lead')).length, 1, bench.lines.join('\n'));
  });

  it('is asked who leads when the leader is dead', async () => {
    const { lead, took, url, servers } = await cluster();
    lead(0);
    const store = await open(url, { watch: 1e6 });
    const stream = newStream();
    await store.append(stream, -1, [newEvent()]);
    servers[0]!.stop();
    const appended = store.append(stream, 0, [newEvent()]);
    setTimeout(() => lead(1), 500);
    assert.equal((await appended).revision, 1);
    assert.equal(took.at(-1), 1);
  });

  it('is asked all at once: a node that hangs delays nobody', async () => {
    const { lead, url, ports, servers } = await cluster();
    lead(1);
    servers[0]!.stop();
    // It takes connections and says nothing.
    const sockets = new Set<Socket>();
    const hanging = createServer((socket) => void sockets.add(socket.on('error', () => undefined))).listen(
      ports[0],
      '127.0.0.1',
    );
    bench.ends.push(() => {
      hanging.close();
      for (const socket of sockets) socket.destroy();
    });
    await once(hanging, 'listening');
    for (let n = 0; n < 5; n++) {
      const store = await open(`${url}&gossipTimeout=1000`, { watch: 1e6 });
      await store.append(newStream(), -1, [newEvent()]);
      await store.close();
    }
  });

  it('is read from another node while none leads', async () => {
    const { lead, url } = await cluster();
    lead(2);
    const store = await open(url, { watch: 1e6 });
    await store.append('thing-a', -1, [newEvent()]);
    lead(undefined);
    const other = await open(`${url}&maxDiscoverAttempts=2`, { watch: 1e6 });
    assert.equal((await read(other, 'thing-a')).length, 1);
    await assert.rejects(other.append('thing-a', 0, [newEvent()]), refused('unavailable'));
  });
});

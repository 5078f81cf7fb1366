import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { generate } from 'selfsigned';
import { openEventStoreDb } from '../src/store/eventstoredb.ts';
import { connections, usualTimes } from '../src/store/eventstoredbConnection.ts';
import { redacted } from '../src/store/eventstoredbUrl.ts';
import { read, type ReadCall, workbench } from './eventstoredbWorkbench.ts';
import { freePort } from './freePort.ts';
import { openGrpcLog } from './grpcLog.ts';
import { memoryEventStore } from './memoryEventStore.ts';
import { newEvent, newStream, refused } from './store.contract.ts';
import { until } from './until.ts';

describe('the connection to EventStoreDB', () => {
  const bench = workbench();
  const { serve, open, following } = bench;

  it('has a URL that is shown without user and password', () => {
    for (const url of ['esdb://admin:s3cret@node:2113?tls=true', 'esdb+discover://admin:s3@cret@node', 'esdb://admin:s3cr/et?@node', 'admin:s3cret@node', 'esdb:admin:s3cret@node']) {
      assert.ok(!/s3|cret|admin/.test(redacted(url)), redacted(url));
      assert.ok(redacted(url).endsWith('node') || redacted(url).endsWith('node:2113?tls=true'));
    }
    assert.equal(redacted('esdb://node:2113?tls=false'), 'esdb://node:2113?tls=false');
  });

  it('is refused when its URL would not do what it says, without the password', async () => {
    const printed: unknown[] = [];
    const { warn } = console;
    console.warn = (...all) => void printed.push(...all);
    try {
      for (const [url, why] of [
        ['esdb://admin:s3cret@localhost:1?tls=false', /tls=false/],
        ['esdb://admin:s3cret@localhost:1?TLS=false', /tls=false/],
        ['esdb://admin:s3cret@localhost:1?throwOnAppendFailure=false', /throwOnAppendFailure/],
        ['esdb://admin:s3cret@localhost:1?tlsVerifyCert=false', /tlsCAFile/],
        ['esdb://admin:s3cret@localhost:1?surprise=1', /option that is not known/],
        ['esdb://admin:s3cret@localhost:1?nodePreference=x', /nodePreference|expected/],
        ['esdb://admin:s3@cret@localhost:x', /./],
        ['esdb://admin:s3cret%zz@localhost:1', /./],
        ['esdb://admin:s3cret@localhost:1?tlsCAFile=/nowhere', /does not exist/],
        ['http://admin:s3cret@localhost:1', /must be .*esdb:\/\//],
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

  it('goes to the node that the members name', async () => {
    const log = await openGrpcLog();
    bench.ends.push(log.close);
    const store = await open(log.url().replace('esdb://', 'esdb+discover://'), { answer: 2000 });
    const stream = newStream();
    await store.append(stream, -1, [newEvent()]);
    assert.equal((await read(store, stream)).length, 1);
    const nowhere = `esdb+discover://127.0.0.1:${await freePort()}?tls=false&maxDiscoverAttempts=2`;
    await assert.rejects(open(nowhere, { tries: 600 }), refused('unavailable'));
  });

  it('does not end the process when there is no member to go to while a call breaks', async () => {
    const { client } = connections(`esdb+discover://127.0.0.1:${await freePort()}?tls=false&maxDiscoverAttempts=1`, usualTimes).current();
    const inner = client as unknown as { getChannel(): Promise<unknown>; handleError(client: object, error: Error): Promise<void> }; // what the client does by itself
    const channel = inner.getChannel();
    const handled = inner.handleError({ getChannel: () => undefined }, Object.assign(new Error('broken'), { code: status.UNAVAILABLE, details: '' }));
    await assert.rejects(channel);
    // The client does not wait for it: if it rejected, Node would end the process.
    await handled;
  });

  it('gives user and password to EventStoreDB over TLS, whose certificate is checked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'esdb-'));
    bench.ends.push(() => rm(folder, { recursive: true }));
    const certificate = await generate([{ name: 'commonName', value: 'localhost' }], { extensions: [{ name: 'basicConstraints', cA: true }, { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }] });
    await writeFile(join(folder, 'ca.pem'), certificate.cert);
    const memory = memoryEventStore();
    const sent = new Set<string>();
    const { port } = await serve({
      read: (call: ReadCall) => { sent.add(String(call.metadata.get('authorization')[0])); memory.handlers.read(call); },
      batchAppend: (call) => { sent.add(String(call.metadata.get('authorization')[0])); memory.handlers.batchAppend(call); },
    }, { tls: { key: certificate.private, cert: certificate.cert } });
    const store = await open(`esdb://admin:s3cr%40et@localhost:${port}?tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`);
    await store.append('thing-a', -1, [newEvent()]);
    assert.deepEqual([...sent], [`Basic ${Buffer.from('admin:s3cr@et').toString('base64')}`]);
    await assert.rejects(open(`esdb://admin:s3cret@localhost:${port}`, { tries: 300 }), refused('unavailable'));
  });

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
    bench.ends.push(() => { proxy.close(); for (const pair of pairs) for (const socket of pair) socket.destroy(); });
    return {
      url: `esdb://127.0.0.1:${(proxy.address() as AddressInfo).port}?tls=false`,
      connections: () => pairs.size,
      stall: () => { for (const [near, far] of pairs) { near.unpipe(); far.unpipe(); near.resume(); far.resume(); } },
    };
  };

  it('is replaced within moments when it stalls: appends, reads and followers go on', async () => {
    const way = await stallable((await serve(memoryEventStore().handlers)).port);
    const store = await open(way.url);
    // Connections to the same place may share a TCP connection: this one keeps the stalled one.
    await open(way.url, { watch: 1e6 });
    const stream = newStream();
    await store.append(stream, -1, [newEvent()]);
    const follower = following(store);
    await until(() => follower.events().length === 1, 'the first is delivered');
    const before = way.connections();
    way.stall();
    await store.append(stream, 0, [newEvent()]);
    assert.equal((await read(store, stream)).length, 2);
    await until(() => follower.events().length === 2, 'the second is delivered');
    assert.ok(way.connections() > before);
    way.stall();
    assert.equal((await read(store, stream)).length, 2);
    way.stall();
    await until(() => bench.lines.some((line) => line.includes('interrupted')), 'the watch finds it out by itself');
  });
});

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metadata, status } from '@grpc/grpc-js';
import { generate } from 'selfsigned';
import { openEventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import { redacted, serverAt } from '../../../src/store/eventstoredb/url.ts';
import { type ReadCall, read, workbench } from '../../support/eventstoredbWorkbench.ts';
import { freePort } from '../../support/freePort.ts';
import { openGrpcLog } from '../../support/grpcLog.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { openProxy } from '../../support/proxy.ts';
import { newEvent, newStream, refused } from '../../support/store.contract.ts';
import { until } from '../../support/until.ts';

describe('the connection to EventStoreDB', () => {
  const bench = workbench();
  const { serve, open, following } = bench;

  it('has a URL that is shown without user and password', () => {
    for (const url of [
      'esdb://admin:s3cret@node:2113?tls=true',
      'esdb+discover://admin:s3@cret@node',
      'esdb://admin:s3cr/et?@node',
      'admin:s3cret@node',
      'esdb:admin:s3cret@node',
    ]) {
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
          for (let shown: unknown = error; shown instanceof Error; shown = shown.cause)
            assert.ok(!/s3|cret/.test(JSON.stringify([shown.message, shown.stack, shown])), shown.stack);
          return true;
        });
      }
    } finally {
      console.warn = warn;
    }
    assert.deepEqual(printed, []);
  });

  it('says so without the password when nobody is there', async () => {
    const port = await freePort();
    await assert.rejects(
      open(`esdb://admin:s3cret@127.0.0.1:${port}`, { tries: 300 }),
      (error: Error) =>
        refused('unavailable')(error) &&
        error.message.includes(`***@127.0.0.1:${port}`) &&
        !error.message.includes('s3cret'),
    );
  });

  it('is waited for at a start while it answers too slowly, and not if nobody is there', async () => {
    const { port } = await serve(memoryEventStore().handlers);
    const proxy = await openProxy(port);
    bench.ends.push(proxy.close);
    proxy.stall();
    const url = `esdb://127.0.0.1:${proxy.port}?tls=false`;
    const leaving = new AbortController();
    const given = open(url, { tries: 200 }, leaving.signal);
    // Whoever does not wait gives up meanwhile.
    for (let n = 0; n < 2; n++) await assert.rejects(open(url, { tries: 200 }), refused('unavailable'));
    proxy.resume();
    assert.equal(typeof (await given).id, 'string');
    proxy.stall();
    const broken = open(url, { tries: 200 }, leaving.signal);
    leaving.abort();
    await assert.rejects(broken, refused('unavailable'));
    const nowhere = `esdb://127.0.0.1:${await freePort()}?tls=false`;
    await assert.rejects(open(nowhere, { tries: 300 }, new AbortController().signal), refused('unavailable'));
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

  it('asks for members a second, unless its URL says otherwise', () => {
    assert.equal(serverAt('esdb+discover://nodes?tls=false').gossip.timeout, 1000);
    assert.equal(serverAt('esdb://a,b:2114?tls=false&gossipTimeout=7').gossip.timeout, 7000);
    assert.deepEqual(serverAt('esdb://a,b:2114?tls=false').hosts, ['a:2113', 'b:2114']);
  });

  /** A certificate of localhost that is its own authority. */
  const certified = () =>
    generate([{ name: 'commonName', value: 'localhost' }], {
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
      ],
    });

  it('gives user and password to EventStoreDB over TLS, whose certificate is checked', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'esdb-'));
    bench.ends.push(() => rm(folder, { recursive: true }));
    const certificate = await certified();
    await writeFile(join(folder, 'ca.pem'), certificate.cert);
    const memory = memoryEventStore();
    const sent = new Set<string>();
    const { port } = await serve(
      {
        read: (call: ReadCall) => {
          sent.add(String(call.metadata.get('authorization')[0]));
          memory.handlers.read(call);
        },
        batchAppend: (call) => {
          sent.add(String(call.metadata.get('authorization')[0]));
          memory.handlers.batchAppend(call);
        },
      },
      { tls: { key: certificate.private, cert: certificate.cert } },
    );
    const store = await open(
      `esdb://admin:s3cr%40et@localhost:${port}?tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`,
    );
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
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        from.pipe(to).on('error', () => undefined);
        from.on('error', () => to.destroy());
      }
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    bench.ends.push(() => {
      proxy.close();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    });
    return {
      url: `esdb://127.0.0.1:${(proxy.address() as AddressInfo).port}?tls=false`,
      connections: () => pairs.size,
      stall: () => {
        for (const [near, far] of pairs) {
          near.unpipe();
          far.unpipe();
          near.resume();
          far.resume();
        }
      },
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
    const again = way.connections();
    way.stall();
    await until(() => way.connections() > again, 'the watch finds it out by itself');
  });

  describe('says what is wrong, at start and while running', () => {
    const told = async (url: string, message: RegExp): Promise<void> => {
      bench.lines.length = 0;
      await assert.rejects(open(url, { tries: 600 }), (error: Error) => {
        assert.match(error.message, message);
        assert.ok(!error.message.includes('s3cret'));
        assert.ok(error.message.includes(redacted(url)), error.message);
        return refused('unavailable')(error);
      });
      assert.ok(!bench.lines.join().includes('s3cret'));
    };
    const tls = async () => {
      const folder = await mkdtemp(join(tmpdir(), 'esdb-'));
      bench.ends.push(() => rm(folder, { recursive: true }));
      const certificate = await certified();
      await writeFile(join(folder, 'ca.pem'), certificate.cert);
      return {
        options: { tls: { key: certificate.private, cert: certificate.cert } },
        ca: `tlsCAFile=${encodeURIComponent(join(folder, 'ca.pem'))}`,
      };
    };
    const refusing = (code: status, about: Record<string, string>, which: (call: ReadCall) => boolean) => {
      const memory = memoryEventStore();
      return {
        ...memory.handlers,
        read: (call: ReadCall) => {
          const metadata = new Metadata();
          for (const [key, value] of Object.entries(about)) metadata.set(key, value);
          if (which(call)) (call as NodeJS.EventEmitter).emit('error', { code, details: 'no', metadata });
          else memory.handlers.read(call);
        },
      };
    };
    const denied = [status.PERMISSION_DENIED, { exception: 'access-denied' }] as const;
    const ofAll = (call: ReadCall): boolean => call.request.getOptions()!.hasAll();

    it('nobody is there', async () => {
      const port = await freePort();
      await told(
        `esdb://admin:s3cret@127.0.0.1:${port}`,
        /No server answers \(.*ECONNREFUSED.*hosts and ports in EVENTSTORE_URL/,
      );
      await told(
        `esdb+discover://127.0.0.1:${port}?tls=false&maxDiscoverAttempts=2`,
        /No server answers \(.*ECONNREFUSED/,
      );
      assert.equal(bench.lines.filter((line) => line.includes('cannot be reached')).length, 1);
      assert.match(bench.lines[0]!, /ECONNREFUSED.*"url":"esdb\+discover:\/\/127/);
    });
    it('the certificate is not trusted', async () => {
      const { options } = await tls();
      const { port } = await serve(memoryEventStore().handlers, options);
      await told(`esdb://admin:s3cret@localhost:${port}`, /certificate is not trusted.*tlsCAFile in EVENTSTORE_URL/);
      assert.match(bench.lines[0]!, /"user":"admin"/);
    });
    it('the certificate is for another host', async () => {
      const { options, ca } = await tls();
      const { port } = await serve(memoryEventStore().handlers, options);
      await told(`esdb://admin:s3cret@127.0.0.1:${port}?${ca}`, /certificate is not trusted.*host name/);
    });
    it('the server has no TLS', async () => {
      const { port } = await serve(memoryEventStore().handlers);
      await told(`esdb://admin:s3cret@localhost:${port}`, /answers without TLS.*tls=false/);
    });
    it('the server has TLS', async () => {
      const { options } = await tls();
      const { port } = await serve(memoryEventStore().handlers, options);
      await told(`esdb://localhost:${port}?tls=false`, /ends or ignores connections.*tls in EVENTSTORE_URL is false/);
      assert.equal(bench.lines.length, 1, bench.lines.join('\n'));
    });
    it('user and password are wrong', async () => {
      const { options, ca } = await tls();
      const { port } = await serve(
        refusing(status.UNAUTHENTICATED, {}, () => true),
        options,
      );
      await told(
        `esdb://admin:s3cret@localhost:${port}?${ca}`,
        /does not accept user and password \(the user is admin\).*EVENTSTORE_URL/,
      );
    });
    it('the user may not read the log', async () => {
      const { options, ca } = await tls();
      const { port } = await serve(refusing(...denied, ofAll), options);
      await told(
        `esdb://node:s3cret@localhost:${port}?${ca}`,
        /does not let the service read \$all \(the user is node\)/,
      );
    });
    it('nobody is named who may', async () => {
      const { port } = await serve(refusing(...denied, (call) => !ofAll(call)));
      await told(
        `esdb://localhost:${port}?tls=false`,
        /does not let the service read stream log-identity \(EVENTSTORE_URL names no user\)/,
      );
    });
    it('while running, once for each cause, and when it is over', async () => {
      let refuses = false;
      const port = await freePort();
      const handlers = refusing(...denied, (call) => refuses && ofAll(call));
      const server = await serve(handlers, { port });
      const store = await open(server.url, { tries: 300 });
      following(store);
      refuses = true;
      await until(() => bench.lines.some((line) => /cannot be asked.*read \$all/.test(line)), 'the refusal is told');
      assert.equal(store.connected(), false);
      refuses = false;
      await until(() => bench.lines.some((line) => line.includes('answers again')), 'its end is told');
      server.stop();
      await until(() => bench.lines.some((line) => line.includes('broken')), 'the break is told');
      await until(() => bench.lines.some((line) => line.includes('ECONNREFUSED')), 'the cause is told');
      await assert.rejects(store.head(), refused('unavailable'));
      await serve(handlers, { port });
      await until(() => store.connected(), 'it is connected again');
      const causes = bench.lines
        .filter((line) => !/answers again|interrupted/.test(line))
        .map((line) => /"reason":"([^"]*)"/.exec(line)![1]);
      assert.equal(new Set(causes).size, causes.length, bench.lines.join('\n'));
      assert.ok(bench.lines.filter((line) => line.includes('interrupted')).length <= 1, bench.lines.join('\n'));
    });
  });
});

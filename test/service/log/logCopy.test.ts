import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { link } from '@automation-platform/event-log';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { loadSample } from '../../../src/demo/load.ts';
import { isOwnStream } from '../../../src/events/ownStreams.ts';
import { keyStream } from '../../../src/secrets/keyCheck.ts';
import { openEventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import { type Copied, copyLog, type Progress } from '../../../src/store/moving/copyLog.ts';
import { slimmed, withPayloads } from '../../../src/store/payloads.ts';
import { type EventStore, maxAppend, maxEvent, type NewEvent, type StoredEvent } from '../../../src/store/port.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { runInProcess } from '../../support/command.ts';
import { openGrpcLog } from '../../support/grpcLog.ts';
import { storedIn } from '../../support/logged.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { temporaryFolder } from '../../support/process.ts';
import { sampled } from '../../support/sample.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { adminPassword, startService } from '../../support/service.ts';
import { dying } from '../../support/stopping.ts';
import { newEvent } from '../../support/store.contract.ts';

const never = new AbortController().signal;

/** The event at the place of a reader. */
const eventAt = async (store: EventStore, reader: string): Promise<StoredEvent | undefined> =>
  store.at((await store.checkpoint(reader)) ?? 0);

/** What stays when an event is copied. */
const content = (events: readonly StoredEvent[]) => events.map(({ position: _, ...event }) => event);

describe('copying a log', () => {
  let folder: string;
  let from: EventStore;
  let to: EventStore;
  const opened: EventStore[] = [];
  const open = async (name: string): Promise<EventStore> => {
    const store = await openSqliteStore({ file: join(folder, name, 'events.db') });
    opened.push(store);
    return store;
  };
  const copy = (
    needs: { from?: EventStore; to?: EventStore; signal?: AbortSignal; report?: (progress: Progress) => void } = {},
  ): Promise<Copied> => copyLog({ from, to, signal: never, report: () => undefined, ...needs });
  beforeEach(async () => {
    folder = temporaryFolder();
    [from, to] = [await open('from'), await open('to')];
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    rmSync(folder, { recursive: true });
  });

  /** Two streams, by turns and in runs. */
  const fill = async (): Promise<void> => {
    await from.append('automation-a', -1, [newEvent({ n: 1 })]);
    await from.append('automation-b', -1, [newEvent({ n: 2 }), newEvent({ n: 3 })]);
    await from.append('automation-a', 0, [newEvent({ n: 4 })]);
    await from.append('automation-a', 1, [newEvent({ n: 5 }), newEvent({ text: 'Zoë 🐘' })]);
    await from.append('automation-b', 1, [newEvent({ n: 6 })]);
  };

  it('takes every event with its stream, revision, id, type and texts, in order', async () => {
    await fill();
    const { found, copied, source, target } = await copy();
    assert.deepEqual([found, copied, source.events], [0, 7, 7]);
    assert.deepEqual(source, target);
    assert.deepEqual(content(await storedIn(to)), content(await storedIn(from)));
  });

  it('gives a digest that anybody can calculate', async () => {
    await fill();
    const lines = (await storedIn(from)).map(
      ({ stream, revision, id, type, data, metadata }) =>
        `${JSON.stringify([stream, revision, id, type, data, metadata])}\n`,
    );
    assert.equal((await copy()).target.digest, hash('sha256', lines.join(''), 'hex'));
  });

  it('of nothing is nothing', async () => {
    const { found, copied, source } = await copy();
    assert.deepEqual([found, copied, source.events, await to.head()], [0, 0, 0, 0]);
  });

  it('done again copies nothing, and goes on with what has come since', async () => {
    await fill();
    await copy();
    const head = await to.head();
    assert.equal((await copy()).copied, 0);
    assert.equal(await to.head(), head);
    await from.append('automation-c', -1, [newEvent()]);
    const { found, copied } = await copy();
    assert.deepEqual([found, copied], [7, 1]);
  });

  it('puts a run of events of one stream into one append, as large as an append may be', async () => {
    const sizes = [400, 400, 400, 10, 10];
    for (const [n, size] of sizes.entries())
      await from.append('automation-a', n - 1, [newEvent('x'.repeat(size * 1024))]);
    await from.append('automation-b', -1, [newEvent('x'.repeat(maxEvent - 200))]);
    await from.append('automation-a', 4, [newEvent()]);
    const appends: string[] = [];
    const counting: EventStore = {
      ...to,
      append: (stream, expected, events) => {
        appends.push(`${stream} ${expected} +${events.length}`);
        return to.append(stream, expected, events);
      },
    };
    await copy({ to: counting });
    assert.deepEqual(appends, ['automation-a -1 +2', 'automation-a 1 +3', 'automation-b -1 +1', 'automation-a 4 +1']);
    assert.ok(maxAppend < 3 * 400 * 1024);
  });

  it('killed at any append, before or after it is stored, goes on where it was', async () => {
    await fill();
    for (const moment of ['before', 'after'] as const) {
      for (let n = 1; ; n++) {
        const target = await open(`${moment}${n}`);
        const dead = dying(target, n, moment);
        dead.arm();
        const killed = copy({ to: dead.store });
        const ended = await Promise.race([dead.dead.then(() => 'killed'), killed.then(() => 'whole')]);
        if (ended === 'whole') {
          assert.equal(n, 5, 'four appends in all');
          break;
        }
        dead.bury();
        await assert.rejects(killed, /dead/);
        const there = (await storedIn(target)).length;
        const { found, copied } = await copy({ to: target });
        assert.deepEqual([found, found + copied], [there, 7]);
        assert.deepEqual(content(await storedIn(target)), content(await storedIn(from)));
      }
    }
  });

  it('ends between two appends when it is stopped', async () => {
    await fill();
    const stop = new AbortController();
    await assert.rejects(
      copy({
        signal: stop.signal,
        report: ({ events }) => {
          if (events === 4) stop.abort(new Error('stopped'));
        },
      }),
      /^Error: stopped$/,
    );
    const there = content(await storedIn(to));
    assert.ok(there.length > 0 && there.length < 7);
    assert.deepEqual(there, content(await storedIn(from)).slice(0, there.length));
    assert.equal((await copy()).copied, 7 - there.length);
  });

  it('tells how far it is', async () => {
    await fill();
    const told: Progress[] = [];
    await copy({ report: (progress) => told.push(progress) });
    assert.deepEqual(
      told.map(({ step, position, head, events }) => `${step} ${position}/${head} ${events}`),
      ['copying', 'verifying'].flatMap((step) => [1, 2, 3, 4, 5, 6, 7].map((n) => `${step} ${n}/7 ${n}`)),
    );
  });

  describe('refuses a target that is no part of the source, names the place and writes nothing:', () => {
    const original: NewEvent = {
      id: '5a0f3a4e-0f5d-4a9c-9d3e-3f1c6e1b2a10',
      type: '@test/things:thingChanged',
      data: '{"n":1}',
      metadata: '{"at":"2026-01-01T00:00:00.000Z"}',
    };
    for (const [field, change] of [
      ['id', { id: '5a0f3a4e-0f5d-4a9c-9d3e-3f1c6e1b2a11' }],
      ['type', { type: '@test/things:thingMade' }],
      ['data', { data: '{"n": 1}' }],
      ['metadata', { metadata: '{"at":"2026-01-01T00:00:00.001Z"}' }],
    ] as const) {
      it(`another ${field}`, async () => {
        const first = newEvent();
        for (const [store, event] of [
          [from, original],
          [to, { ...original, ...change }],
        ] as const)
          await store.append('automation-a', -1, [first, event]);
        await from.append('automation-b', -1, [newEvent()]);
        await assert.rejects(
          copy(),
          new RegExp(`position 2 \\(event 1 of stream automation-a\\).* differs in ${field}$`),
        );
        assert.equal(await to.head(), 2);
      });
    }
    it('another stream', async () => {
      await from.append('automation-a', -1, [original]);
      await to.append('automation-b', -1, [original]);
      await assert.rejects(
        copy(),
        /position 1 \(event 0 of stream automation-b\), where the source has position 1 \(event 0 of stream automation-a\), it differs in stream$/,
      );
    });
    it('an order of its own', async () => {
      const other = newEvent();
      await from.append('automation-a', -1, [original]);
      for (const store of [to, from]) await store.append('automation-b', -1, [other]);
      await to.append('automation-a', -1, [original]);
      await assert.rejects(copy(), /differs in stream, id, data$/);
      assert.equal(await to.head(), 2);
    });
    it('more than the source has', async () => {
      for (const store of [from, to]) await store.append('automation-a', -1, [original]);
      await to.append('automation-b', -1, [newEvent()]);
      await assert.rejects(copy(), /more than the source: position 2 \(event 0 of stream automation-b\)/);
    });
  });

  it('names the place when the target does not take an event', async () => {
    await fill();
    const elsewhere: EventStore = {
      ...to,
      append: async (...args) => {
        if (args[0] === 'automation-b') await to.append('automation-b', -1, [newEvent()]);
        return to.append(...args);
      },
    };
    await assert.rejects(
      copy({ to: elsewhere }),
      /position 2 \(event 0 of stream automation-b\): the target's stream is at revision 0/,
    );
  });

  describe('verifies at the end:', () => {
    /** The target, that gives other events from the second walk on. */
    const changing = (change: (event: StoredEvent) => StoredEvent | undefined): EventStore => {
      let walks = 0;
      return {
        ...to,
        readAll: async function* (after) {
          const second = ++walks === 2;
          for await (const batch of to.readAll(after))
            yield second ? { ...batch, events: batch.events.flatMap((event) => change(event) ?? []) } : batch;
        },
      };
    };
    it('an event that is not what was written is found', async () => {
      await fill();
      await from.setCheckpoint('reactions', 3);
      await assert.rejects(
        copy({ to: changing((event) => (event.position === 5 ? { ...event, data: '{"n":50}' } : event)) }),
        /position 5 \(event 2 of stream automation-a\).*differs in data/,
      );
      assert.equal(await to.checkpoint('reactions'), undefined, 'a log that is not whole is not ready for a service');
    });
    it('an event that is not there is found', async () => {
      await fill();
      await assert.rejects(
        copy({ to: changing((event) => (event.position === 7 ? undefined : event)) }),
        /lacks the source's position 7 \(event 2 of stream automation-b\)/,
      );
    });
  });

  it('leaves out what belongs to one log alone, on both sides, and takes the metadata of streams', async () => {
    const own = [
      ['log-identity', 'logIdentified'],
      ['checkpoint-reactions', 'checkpointSet'],
      ['$settings', 'x'],
      ['automation-a', '$>'],
      ['$$$stats', '$metadata'],
    ] as const;
    for (const [stream, type] of own) await from.append(stream, -1, [newEvent({}, type)]);
    for (const [stream, type] of own) await to.append(stream, -1, [newEvent({}, type)]);
    await from.append('tool-1', -1, [newEvent({}, 'something')]);
    await from.append('$$tool-1', -1, [newEvent({ $maxCount: 5 }, '$metadata')]);
    const { copied, source, target } = await copy();
    assert.equal(copied, 2);
    assert.deepEqual(source, target);
    assert.deepEqual(
      (await storedIn(to)).slice(own.length).map(({ stream }) => stream),
      ['tool-1', '$$tool-1'],
    );
  });

  it('sets how far readers and their cursors are, at the positions that the same events have', async () => {
    await to.append('log-identity', -1, [newEvent()]);
    await fill();
    const places = { triggers: 7, 'triggers:b': 4, reactions: 4, 'triggers:a': 2, 'triggers:first': 0 };
    for (const [name, position] of Object.entries(places)) await from.setCheckpoint(name, position);
    await from.setCheckpoint('somebody', 3);
    await copy();
    for (const name of ['triggers', 'triggers:b', 'reactions', 'triggers:a']) {
      const [there, here] = [await eventAt(to, name), await eventAt(from, name)];
      assert.equal(there?.position, here!.position + 1);
      assert.equal(there.id, here!.id);
    }
    assert.equal(await to.checkpoint('triggers:first'), 0, 'not missing: it has everything before it');
    assert.equal(await to.checkpoint('somebody'), undefined);
  });

  it('done again moves readers and cursors on, and removes those that have ended', async () => {
    await fill();
    for (const name of ['triggers', 'triggers:a', 'triggers:b']) await from.setCheckpoint(name, 3);
    await copy();
    await from.removeCheckpoint('triggers:a');
    await from.setCheckpoint('triggers:b', 5);
    await from.setCheckpoint('triggers', 6);
    await copy();
    assert.deepEqual(await to.checkpointsOf('triggers'), new Map([['triggers:b', 5]]));
    assert.equal(await to.checkpoint('triggers'), 6);
  });

  it('without a place of a reader leaves the target without one', async () => {
    await fill();
    await from.setCheckpoint('reactions', 2);
    await copy();
    assert.equal(await to.checkpoint('triggers'), undefined);
  });

  it('brings facts that lie in parts', async () => {
    const text = 'long '.repeat(300_000);
    const [data] = await slimmed(from, '@test/things', [{ text }]);
    await from.append('automation-a', -1, [newEvent(data)]);
    await copy();
    for await (const [event] of withPayloads(to, () => true).read('automation-a'))
      assert.equal(event?.data, JSON.stringify({ text }));
    assert.equal(await to.head(), await from.head());
  });

  it('there and back is the log that it was', async () => {
    await fill();
    const {
      target: { digest },
    } = await copy();
    const back = await open('back');
    assert.equal((await copy({ from: to, to: back })).target.digest, digest);
    assert.deepEqual(await storedIn(back), await storedIn(from));
  });
});

describe('log copy', function () {
  this.timeout(300_000);
  let folder: string;
  const file = (name: string) => join(folder, name, 'events.db');
  const url = (name: string) => `sqlite:${file(name)}`;
  const said = () => {
    const output = new PassThrough();
    let text = '';
    output.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    return { output, text: () => text };
  };
  /** Two servers of EventStoreDB's protocol: arrays, and the embedded log. */
  const openArrays = async () => {
    const server = await scriptedEventStore(memoryEventStore().handlers);
    return { name: 'arrays', url: server.url, close: async () => server.stop() };
  };
  const openEmbedded = async () => {
    const log = await openGrpcLog({ own: isOwnStream });
    return { name: 'embedded', url: log.url(), store: log.store, close: () => log.close() };
  };
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('makes a log on which a service answers the same documents with the same ETags, whose hash links hold, also by way of EventStoreDB', async () => {
    const first = await startService({}, join(folder, 'first'));
    await loadSample(first.url, 'admin', adminPassword);
    const paths = [
      '/group-mappings',
      '/operations-manager/automations',
      '/operations-manager/triggers',
      '/json-forms/forms',
      '/lifecycle-manager/resources',
      '/profiles',
      '/authorization/accounts',
      '/prebuilts',
    ];
    const answers = async (service: typeof first) => {
      const read = await Promise.all(paths.map((path) => service.ask('GET', path)));
      const single = await service.ask('GET', '/operations-manager/automations/Software%20upgrade');
      return [...read, single].map(({ status, text, headers }) => ({ status, text, etag: headers.get('etag') }));
    };
    // The last events of the sample still start jobs.
    let before = await answers(first);
    for (let last: unknown; !isDeepStrictEqual(last, before); ) {
      last = before;
      await new Promise((resolve) => setTimeout(resolve, 1500));
      before = await answers(first);
    }
    assert.ok(
      before.every(({ status, etag }) => status === 200 && etag !== null),
      JSON.stringify(before.map(({ status }) => status)),
    );
    await assert.rejects(
      logCopy(url('first'), url('second'), never, { output: said().output }),
      /Another process is writing to the log in /,
    );
    assert.ok(!existsSync(file('second')), 'nothing is made before the source is safe');
    await first.stop();

    const { output, text } = said();
    await logCopy(url('first'), url('second'), never, { output });
    const digests = [...text().matchAll(/^(source|target): (\d+) events, SHA-256 ([0-9a-f]{64})$/gm)];
    assert.deepEqual(
      digests.map(([, name]) => name),
      ['source', 'target'],
    );
    assert.equal(digests[0]![3], digests[1]![3]);

    const reader = await openSqliteReader(file('second'));
    const last = new Map<string, string>();
    for (const { stream, revision, id, type, data, metadata } of await storedIn(reader)) {
      if (stream.startsWith('payload-') || stream === keyStream) continue;
      const { hash, ...about } = JSON.parse(metadata) as { hash: string };
      assert.equal(
        hash,
        link({ stream, revision, id, type, data, metadata: JSON.stringify(about) }, last.get(stream) ?? ''),
        `${stream} ${revision}`,
      );
      last.set(stream, hash);
    }
    assert.ok(last.size > 20);
    await reader.close();

    copyFileSync(join(folder, 'first', 'secret.key'), join(folder, 'second', 'secret.key'));
    const second = await startService({}, join(folder, 'second'));
    assert.deepEqual(await answers(second), before);
    await second.stop();

    const source = await openSqliteReader(file('first'));
    for (const open of sampled([openArrays, openEmbedded], 1)) {
      const server = await open();
      const { output, text } = said();
      await logCopy(url('first'), server.url, never, { output });
      assert.match(text(), new RegExp(`^${await source.head()} events copied, 0 were there`, 'm'));
      const reader = await openEventStoreDb({ url: server.url, log: () => undefined });
      const carriedOut = await eventAt(reader, 'reactions');
      assert.equal(carriedOut?.id, (await eventAt(source, 'reactions'))?.id);
      await reader.close();
      const again = said();
      await logCopy(url('first'), server.url, never, { output: again.output });
      assert.match(again.text(), /^0 events copied/m);

      await logCopy(server.url, url(server.name), never, { output: said().output });
      const back = await openSqliteReader(file(server.name));
      assert.deepEqual(content(await storedIn(back)), content(await storedIn(source)));
      assert.equal((await eventAt(back, 'reactions'))?.id, carriedOut?.id);
      await back.close();
      await server.close();
    }
    await source.close();
  });

  const small = async (name: string): Promise<void> => {
    const store = await openSqliteStore({ file: file(name) });
    await store.append('automation-a', -1, [newEvent()]);
    await store.close();
  };

  it('runs as a command, twice', async () => {
    await small('first');
    for (const copied of [1, 0]) {
      const { status, out, err } = await runInProcess(['log', 'copy', url('first'), url('second')], {});
      assert.equal(status, 0, err);
      assert.match(err, new RegExp(`^${copied} events copied, ${1 - copied} were there already`, 'm'));
      assert.equal(out, '');
    }
  });
  it('works within one folder, but not from a log to itself', async () => {
    await small('first');
    await logCopy(url('first'), `sqlite:${join(folder, 'first', 'copy.db')}`, never, { output: said().output });
    const [original, copy] = [
      await openSqliteReader(file('first')),
      await openSqliteReader(join(folder, 'first', 'copy.db')),
    ];
    assert.deepEqual(await storedIn(copy), await storedIn(original));
    await Promise.all([original.close(), copy.close()]);
    await assert.rejects(logCopy(url('first'), url('first'), never, { output: said().output }), /same log/);
  });
  it('says which log is not there, which URL is wrong, and no password', async () => {
    mkdirSync(join(folder, 'empty'));
    await assert.rejects(
      logCopy(url('empty'), url('second'), never, { output: said().output }),
      /There is no log at .*empty/,
    );
    await assert.rejects(
      logCopy('mongodb://nodes:hidden@log', url('second'), never, { output: said().output }),
      (error: Error) => /^<from> must be sqlite:/.test(error.message) && !error.message.includes('hidden'),
    );
    await assert.rejects(
      logCopy(url('empty'), 'esdb://nodes:hidden@log?tls=false', never, { output: said().output }),
      (error: Error) => /^<to> has credentials and tls=false/.test(error.message) && !error.message.includes('hidden'),
    );
  });
});

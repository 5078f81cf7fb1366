import assert from 'node:assert/strict';
import { link } from '@automation-platform/event-log';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import type { Projection } from '../../../src/projections/engine/define.ts';
import { decode, encode, type Metadata } from '../../../src/store/event.ts';
import { type EventStore, type StoredEvent, WrongRevision } from '../../../src/store/port.ts';
import { badEvent, faults, spoil } from '../../support/badEvents.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { openMemoryLog } from '../../support/memoryLog.ts';
import { processorTime } from '../../support/processorTime.ts';
import { outcome, things, writer } from '../../support/writer.ts';

describe('handle', () => {
  let store: EventStore;
  beforeEach(() => {
    store = openMemoryLog();
  });
  afterEach(() => store.close());

  const plain = () => writer(store, { reacting: false });
  const stored = async (stream: string): Promise<StoredEvent[]> => {
    const events: StoredEvent[] = [];
    for await (const some of store.read(stream)) events.push(...some);
    return events;
  };

  it('answers with the document that the events give, and where they are', async () => {
    const done = await plain().make('a', 'x');
    assert.deepEqual(
      [done.doc, done.before, done.revision, done.created, done.changed],
      [{ name: 'x' }, undefined, 0, true, true],
    );
    assert.equal(done.position, await store.head());
  });

  it('stores nothing when the decision changes nothing', async () => {
    const node = plain();
    await node.make('a', 'x');
    const before = await store.head();
    const done = await node.rename('a', 'x');
    assert.deepEqual([done.changed, done.revision, done.doc], [false, 0, { name: 'x' }]);
    assert.equal(await store.head(), before);
  });

  it('refuses what is not there, and what is there already', async () => {
    const node = plain();
    assert.equal(await outcome(node.rename('a', 'x')), 'not_found');
    await node.make('a', 'x');
    assert.equal(await outcome(node.make('a', 'y')), 'conflict');
  });

  it('goes on with the stream after a delete', async () => {
    const node = plain();
    await node.make('a', 'x');
    const gone = await node.remove('a');
    assert.deepEqual([gone.doc, gone.before, gone.revision], [undefined, { name: 'x' }, 1]);
    assert.equal((await node.make('a', 'x')).revision, 2);
  });

  it('stores nothing when the projection throws', async () => {
    const before = await store.head();
    await assert.rejects(plain().make('a', 'unprojectable'), /cannot be shown/);
    assert.deepEqual(await stored('thing-a'), []);
    assert.ok((await store.head()) >= before);
    assert.equal(typeof (await outcome(plain().make('b', 'unprojectable'.slice(2)))), 'object');
  });

  describe('before it stores', () => {
    const throws = () => {
      throw new Error('not with this');
    };
    const no = (value: unknown) => value as never; // what the compiler would not let pass
    /** Projections that cannot show what was made. */
    const unfit: Readonly<Record<string, readonly Projection[]>> = {
      'to sort by': [{ ...things, sorts: { name: throws } }],
      'to sort by, but a number': [{ ...things, sorts: { name: () => no(5) } }],
      'to filter by': [{ ...things, filters: { name: throws } }],
      'to filter by, but numbers': [{ ...things, filters: { name: () => no([5]) } }],
      'to filter by, but nothing': [{ ...things, filters: { name: () => no(undefined) } }],
      'to guard it': [{ ...things, guard: throws }],
      'in another collection': [things, { ...things, collection: 'more', on: { ...things.on, thingMade: throws } }],
      'to sort by in another collection': [things, { ...things, collection: 'more', sorts: { name: () => no(null) } }],
      'for its children': [
        { ...things, children: { collection: 'children', sorts: {}, filters: {}, on: { thingMade: throws } } },
      ],
      'to sort its children by': [
        {
          ...things,
          children: {
            collection: 'children',
            sorts: { name: () => no(5) },
            filters: {},
            on: { thingMade: () => ({ put: [['a', {}]] }) },
          },
        },
      ],
    };
    for (const [what, shown] of Object.entries(unfit)) {
      it(`finds out that the read models would have nothing ${what}`, async () => {
        const before = await store.head();
        await assert.rejects(writer(store, { reacting: false, shown }).make('a', 'x'), Error);
        assert.equal(await store.head(), before);
      });
    }
    it('sees what everybody will read: the event as JSON', async () => {
      const seen: unknown[] = [];
      const shown = [
        {
          ...things,
          on: {
            ...things.on,
            thingMade: (_: unknown, { data }: { readonly data: { readonly name: string } }) => {
              seen.push(Object.keys(data));
              return data;
            },
          },
        },
      ];
      const node = writer(store, { reacting: false, shown });
      await node.make('a', 'x', { input: { name: 'x', none: undefined } });
      await writer(store, { reacting: false, shown }).rename('a', 'x');
      assert.deepEqual(seen, [['name'], ['name']]);
    });
  });

  describe('a stream with an event that cannot be read', () => {
    for (const [fault, content] of Object.entries(faults)) {
      // Things have no lists.
      if (fault === 'numbers in the place of lists') continue;
      it(`is refused with the reason, its name stays taken, and all others go on: ${fault}`, async () => {
        const node = plain();
        await node.make('a', 'x');
        await node.make('b', 'y');
        await spoil(store, 'thing-a', badEvent('@platform/operations-manager:thingNamed', content));
        for (const other of [node, plain()]) {
          const reason = await other.rename('a', 'z').then(
            () => undefined,
            (error: unknown) => error,
          );
          assert.ok(reason instanceof RequestError && reason.code === 'internal', String(reason));
          assert.match(reason.message, /^Event 1 of thing-a /);
          assert.equal(await outcome(other.make('c', 'x')), 'conflict');
        }
        assert.deepEqual([(await stored('thing-a')).length, await stored('thing-c')], [2, []]);
        assert.equal((await node.rename('b', 'w')).revision, 1);
      });
    }
    it("may be one that holds no names: what cannot be told is nobody's", async () => {
      const node = plain();
      await node.make('a', 'x');
      const claims = await (async () => {
        for await (const { events } of store.readAll(0))
          for (const { stream } of events) if (stream.startsWith('name-')) return stream;
        return assert.fail('nothing was claimed');
      })();
      await spoil(store, claims, badEvent('@platform/operations-manager:nameClaimed'));
      assert.equal(await outcome(node.make('b', 'x')), 'internal');
      assert.equal((await node.make('b', 'y')).revision, 0);
    });
  });

  describe('a resource whose id is new', () => {
    it('is made without a look at its stream', async () => {
      const read: string[] = [];
      const watched: EventStore = {
        ...store,
        read: (stream, ...more) => {
          read.push(stream);
          return store.read(stream, ...more);
        },
      };
      const node = writer(watched, { reacting: false });
      assert.equal((await node.make('a', 'x', { fresh: true })).revision, 0);
      assert.deepEqual(
        read.filter((stream) => stream === 'thing-a'),
        [],
      );
      assert.deepEqual((await node.rename('a', 'y')).before, { name: 'x' });
    });

    it('is refused as ever if it is there all the same, known to this node or not', async () => {
      await plain().make('a', 'x');
      const node = plain();
      for (const fresh of [true, false, true]) assert.equal(await outcome(node.make('a', 'y', { fresh })), 'conflict');
      assert.equal((await stored('thing-a')).length, 1);
      assert.deepEqual(await node.state('a'), { name: 'x' });
    });

    it('is made once by two who try it at once', async () => {
      const [one, two] = [plain(), plain()];
      const tries = [one, two, one, two].map((node) => outcome(node.make('a', 'x', { fresh: true })));
      const outcomes = await Promise.all(tries);
      assert.equal(outcomes.filter((each) => each === 'conflict').length, 3);
      assert.equal((await stored('thing-a')).length, 1);
    });
  });

  describe('If-Match', () => {
    it('passes at the revision named, and is stale at any other', async () => {
      const node = plain();
      await node.make('a', 'x');
      assert.equal(await outcome(node.rename('a', 'y', { ifRevision: 5 })), 'stale');
      assert.equal((await node.rename('a', 'y', { ifRevision: 0 })).revision, 1);
      assert.equal(await outcome(node.rename('a', 'z', { ifRevision: 0 })), 'stale');
      assert.equal((await node.rename('a', 'z', { ifRevision: 'some' })).revision, 2);
    });
    it('is stale when another node has changed it since', async () => {
      const [one, two] = [plain(), plain()];
      await one.make('a', 'x');
      await two.rename('a', 'y');
      assert.equal(await outcome(one.rename('a', 'z', { ifRevision: 0 })), 'stale');
    });
    it('asks for absence with none', async () => {
      const node = plain();
      assert.equal(typeof (await outcome(node.make('a', 'x', { ifRevision: 'none' }))), 'object');
    });
  });

  describe('on several nodes', () => {
    it('starts over from what another node has stored', async () => {
      const [one, two] = [plain(), plain()];
      await one.make('a', 'x');
      await two.rename('a', 'y');
      const done = await one.rename('a', 'z');
      assert.deepEqual([done.revision, done.before], [2, { name: 'y' }]);
    });
    it('does not take a stale cache for "nothing to do"', async () => {
      const [one, two] = [plain(), plain()];
      await one.make('a', 'x');
      await two.rename('a', 'y');
      assert.deepEqual((await one.rename('a', 'x')).doc, { name: 'x' });
    });
    it('does not take a stale cache for a refusal', async () => {
      const [one, two] = [plain(), plain()];
      await one.make('a', 'x');
      await one.remove('a');
      await two.make('a', 'again');
      assert.equal((await one.rename('a', 'z')).revision, 3);
    });
    it('loses no change when many nodes write one stream', async () => {
      const nodes = [plain(), plain(), plain()];
      await nodes[0]!.make('a', 'x');
      await Promise.all(nodes.flatMap((node, n) => Array.from({ length: 5 }, (_, i) => node.rename('a', `${n}.${i}`))));
      assert.equal((await stored('thing-a')).length, 16);
    });
  });

  it('never keeps a stream waiting for long between two tries, however long these take', async () => {
    const node = plain();
    await node.make('a', 'x');
    const busy: EventStore = {
      ...store,
      append: async (...args) => {
        if (args[0] !== 'thing-a') return store.append(...args);
        await new Promise((resolve) => {
          setTimeout(resolve, 20);
        });
        throw new WrongRevision('thing-a', 0, 1);
      },
    };
    const rests: number[] = [];
    const { random } = Math;
    Math.random = () => 1;
    try {
      const rest = async (ms: number) => void rests.push(ms);
      assert.equal(await outcome(writer(busy, { reacting: false, rest }).rename('a', 'y')), 'unavailable');
    } finally {
      Math.random = random;
    }
    assert.equal(rests.length, 8);
    assert.ok(Math.max(...rests) <= 500, rests.join());
  });

  describe('Idempotency-Key', () => {
    const idempotency = { key: 'k', request: 'digest' };
    it('gives the first answer again, though things went on', async () => {
      const node = plain();
      await node.make('a', 'x', { idempotency });
      await node.rename('a', 'y');
      for (const who of [node, plain()]) {
        const again = await who.make('a', 'x', { idempotency });
        assert.deepEqual([again.replayed, again.doc, again.revision, again.created], [true, { name: 'x' }, 0, true]);
      }
      assert.equal((await stored('thing-a')).length, 2);
    });
    it('is looked up before If-Match, names and existence', async () => {
      const node = plain();
      await node.make('a', 'x');
      await node.remove('a', { idempotency, ifRevision: 0 });
      assert.equal((await node.remove('a', { idempotency, ifRevision: 0 })).replayed, true);
    });
    it('refuses another request under the same key', async () => {
      const node = plain();
      await node.make('a', 'x', { idempotency });
      assert.equal(
        await outcome(node.make('a', 'x', { idempotency: { key: 'k', request: 'other' } })),
        'unprocessable',
      );
    });
    it('is not left behind by a request that stored nothing', async () => {
      const node = plain();
      assert.equal(await outcome(node.rename('a', 'x', { idempotency })), 'not_found');
      await node.make('a', 'x');
      assert.equal((await node.rename('a', 'y', { idempotency })).replayed, false);
    });
    it('is kept for a day, and for good when it created the resource', async () => {
      let now = Date.parse('2026-01-01T00:00:00.000Z');
      const node = writer(store, { reacting: false, now: () => new Date(now).toISOString() });
      await node.make('a', 'x', { idempotency });
      await node.rename('a', 'y', { idempotency: { key: 'early', request: '' } });
      now += 23 * 3_600_000;
      assert.equal((await node.rename('a', 'y', { idempotency: { key: 'early', request: '' } })).replayed, true);
      await node.rename('a', 'z', { idempotency: { key: 'late', request: '' } });
      now += 2 * 3_600_000;
      await node.rename('a', 'w', { idempotency: { key: 'later', request: '' } });
      assert.equal((await node.rename('a', 'y', { idempotency: { key: 'early', request: '' } })).replayed, false);
      assert.equal((await node.make('a', 'x', { idempotency })).replayed, true);
    });
  });

  it('links every event to its predecessor by hash', async () => {
    const node = plain();
    await node.make('a', 'x');
    await node.rename('a', 'y');
    await node.remove('a');
    let previous = '';
    for (const event of await stored('thing-a')) {
      const { hash, ...about } = JSON.parse(event.metadata) as Metadata;
      assert.equal(
        hash,
        link(
          {
            stream: event.stream,
            revision: event.revision,
            id: event.id,
            type: event.type,
            data: event.data,
            metadata: JSON.stringify(about),
          },
          previous,
        ),
      );
      previous = hash;
    }
  });

  it('has texts that parsing and stringifying leaves as they are', () => {
    const about = { ...decodeSample(), at: '2026-01-01T00:00:00.000Z' };
    const { data, metadata } = encode(
      { stream: 'thing-a', revision: 0, id: 'id', source: '@platform/x' },
      { topic: 't', data: { z: 1, a: [0.1, 'ü\u2028', null], nested: { '1': true, b: {} } } },
      about,
      '',
    );
    for (const text of [data, metadata]) assert.equal(JSON.stringify(JSON.parse(text)), text);
  });

  it('answers unavailable, and stores once, when the outcome of an append is unknown and the caller tries again', async () => {
    let broken = true;
    const flaky: EventStore = {
      ...store,
      append: async (...args) => {
        const appended = await store.append(...args);
        if (broken && args[0] === 'thing-a') throw new RequestError('unavailable', 'The connection broke');
        return appended;
      },
    };
    const node = writer(flaky, { reacting: false });
    const idempotency = { key: 'k', request: 'd' };
    assert.equal(await outcome(node.make('a', 'x', { idempotency })), 'unavailable');
    broken = false;
    assert.equal((await node.make('a', 'x', { idempotency })).replayed, true);
    assert.equal((await stored('thing-a')).length, 1);
  });

  itInSoak('costs about the same on a stream of 20,000 events as on one of 10', async function () {
    this.timeout(300_000);
    const node = plain();
    await node.make('long', 'x');
    await node.make('short', 'y');
    const template = decode((await stored('thing-long'))[0]!).metadata;
    for (let revision = 0; revision < 20_000; ) {
      const events = Array.from({ length: 500 }, () => {
        const { hash: _, ...made } = encode(
          {
            stream: 'thing-long',
            revision: ++revision,
            id: crypto.randomUUID(),
            source: '@platform/operations-manager',
          },
          { topic: 'thingNamed', data: { name: `n${revision}` } },
          template,
          '',
        );
        return made;
      });
      await store.append('thing-long', revision - 500, events);
    }
    await node.rename('long', 'warm');
    const time = async (id: string, tag: string) => {
      const spent = processorTime();
      for (let i = 0; i < 50; i++) await node.rename(id, `${tag}${i}`);
      return spent();
    };
    const ratios: number[] = [];
    for (let round = 0; round < 7; round++)
      ratios.push((await time('long', `l${round}.`)) / (await time('short', `s${round}.`)));
    assert.ok(ratios.sort((a, b) => a - b)[3]! < 2, `ratios ${ratios.map((r) => r.toFixed(2)).join(' ')}`);
  });
});

const decodeSample = (): Omit<Metadata, 'hash'> => ({
  $correlationId: 'c',
  $causationId: 'c',
  at: '',
  actor: { id: 'a', username: 'ü "quoted"', provenance: 'local' },
  operation: 'o',
  requestId: 'r',
  schemaVersion: 1,
});

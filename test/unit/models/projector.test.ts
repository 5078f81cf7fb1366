import assert from 'node:assert/strict';
import { aggregate, type Event } from '../../../src/domain/engine/core.ts';
import { nothing } from '../../../src/domain/engine/topics.ts';
import { projection } from '../../../src/projections/engine/define.ts';
import { mayReadGuard } from '../../../src/projections/engine/guards.ts';
import { parkedIn } from '../../../src/projections/engine/parked.ts';
import { collectionsOf, projector } from '../../../src/projections/engine/projector.ts';
import { memoryReadStore } from '../../../src/projections/index/memory.ts';
import type { StoredEvent } from '../../../src/store/port.ts';

type FamilyEvent =
  | Event<'born', { readonly names: readonly string[] }>
  | Event<'renamed', { readonly to: string; readonly tags?: readonly string[]; readonly guard?: string }>
  | Event<'left', Record<string, never>>;
type Family = { readonly name: string; readonly tags?: readonly string[]; readonly guard?: string };

const family = aggregate<null, FamilyEvent>({
  area: 'mop',
  category: 'family',
  topics: { born: ['It was made', nothing], renamed: ['It was renamed', nothing], left: ['It went', nothing] },
  initial: null,
  evolve: { born: () => null, renamed: () => null, left: () => null },
  exists: () => true,
});
const families = projection<Family>()(family, {
  collection: 'families',
  on: {
    born: (doc) => doc ?? { name: 'f' },
    renamed: (_, { data: { to, ...more } }) => ({ name: to, ...more }),
    left: (doc) => doc,
  },
  sorts: { name: ({ name }) => name },
  filters: { tags: ({ tags = [] }) => tags },
  guard: ({ guard }) => guard,
  children: {
    collection: 'children',
    on: {
      born: ({ data, revision }) => {
        if (data.names.includes('bad')) throw new Error('a bad name');
        return { put: data.names.map((name) => [name, { name, revision }]) };
      },
      left: () => ({ cleared: true }),
    },
    sorts: { name: ({ name }: { readonly name: string }) => name },
    filters: {},
  },
});

type Happening = readonly [stream: string, topic: FamilyEvent['topic'], data: unknown, more?: Partial<StoredEvent>];

const open = async () => {
  const model = memoryReadStore({ collections: collectionsOf([families]) });
  const logged: string[] = [];
  const touched: string[] = [];
  const documents = projector([families], {
    read: (collection, id) => model.get(collection, id),
    log: (message) => logged.push(message),
    onTampered: (stream) => touched.push(stream),
  });
  documents.reset(true);
  const revisions = new Map<string, number>();
  let position = 0;
  const happen = async (...events: readonly Happening[]): Promise<void> => {
    const stored = events.map(([id, topic, data, more]): StoredEvent => {
      const revision = (revisions.get(id) ?? -1) + 1;
      revisions.set(id, revision);
      return {
        id: `e${position}`,
        stream: `family-${id}`,
        revision,
        position: ++position,
        type: `@platform/mop:${topic}`,
        data: JSON.stringify(data),
        metadata: '{}',
        ...more,
      };
    });
    await documents.take(stored);
    const { position: from } = await model.resume();
    assert.equal(await model.apply(documents.drain(), from, { position, event: '' }), true);
  };
  const of = async (part: string) =>
    (await model.list('children', { part, sort: 'name', order: 1, skip: 0, limit: 10 })).entries.map(
      ({ text, revision }) => [JSON.parse(text).name, revision],
    );
  const all = () => [...model.entries()].map(([collection, entry]) => JSON.stringify([collection, entry])).sort();
  return { happen, of, documents, logged, touched, model, all };
};

describe('children of a document', () => {
  it('come and go with the events of its stream, each at its revision', async () => {
    const { happen, of, model } = await open();
    await happen(['one', 'born', { names: ['b', 'a'] }], ['two', 'born', { names: ['a'] }]);
    await happen(['one', 'born', { names: ['b', 'c'] }], ['one', 'renamed', { to: 'g' }]);
    assert.deepEqual(
      [await of('one'), await of('two')],
      [
        [
          ['a', 0],
          ['b', 1],
          ['c', 1],
        ],
        [['a', 0]],
      ],
    );
    await happen(['one', 'born', { names: ['d'] }], ['one', 'left', {}], ['one', 'born', { names: ['e'] }]);
    assert.deepEqual([await of('one'), await of('two')], [[['e', 5]], [['a', 0]]]);
    assert.equal((await model.get('families', 'one'))?.text, '{"name":"g"}');
  });

  it('are parked with it when one throws, and others go on', async () => {
    const { happen, of, documents, logged, model } = await open();
    await happen(['one', 'born', { names: ['a'] }]);
    await happen(
      ['one', 'born', { names: ['b', 'bad'] }],
      ['one', 'renamed', { to: 'g' }],
      ['two', 'born', { names: ['x'] }],
      ['one', 'born', { names: ['c'] }],
    );
    assert.deepEqual([await of('one'), await of('two')], [[], [['x', 0]]]);
    assert.deepEqual(
      [[...documents.parked().keys()], logged.length, await model.get('families', 'one')],
      [['families/one'], 1, undefined],
    );
    assert.match((await model.get('parked', 'families/one'))!.text, /born at position 2: Error: a bad name/);
    assert.deepEqual(await model.idsNamed('parked', 'families/f'), ['families/one']);
  });
});

describe('a document that the read models cannot keep', () => {
  const one = (topic: FamilyEvent['topic'], data: unknown, more: Partial<StoredEvent> = {}): Happening => [
    'one',
    topic,
    data,
    more,
  ];
  const bad: Readonly<Record<string, Happening>> = {
    throws: one('renamed', null),
    'has no name': one('renamed', {}),
    'has a name that is no text': one('renamed', { to: 5 }),
    'has filters that are no list': one('renamed', { to: 'g', tags: 5 }),
    'has filters that are no texts': one('renamed', { to: 'g', tags: ['a', null] }),
    'has a guard that is no text': one('renamed', { to: 'g', guard: 7 }),
    'has children with names that are no texts': one('born', { names: ['a', 3] }),
    'comes of an event that is no JSON': one('renamed', {}, { data: '{' }),
    'comes of an event whose metadata is no object': one('renamed', { to: 'g' }, { metadata: 'null' }),
    'comes of an event that lacks its content': one('renamed', { to: 'g' }, { incomplete: 'has lost it' }),
  };
  for (const [what, event] of Object.entries(bad)) {
    it(`is parked, alone, and the same however many events come at once: it ${what}`, async () => {
      const events: readonly Happening[] = [
        ['one', 'born', { names: ['a'] }],
        ['two', 'born', { names: ['b'] }],
        event,
        ['one', 'renamed', { to: 'sound again' }],
        ['two', 'renamed', { to: 'g', tags: ['t'] }],
      ];
      const [together, single] = [await open(), await open()];
      await together.happen(...events);
      for (const each of events) await single.happen(each);
      assert.deepEqual(together.all(), single.all());
      assert.deepEqual([...together.documents.parked().keys()], ['families/one']);
      assert.deepEqual([await single.of('one'), await single.of('two')], [[], [['b', 0]]]);
      const { entries } = await single.model.list('families', {
        sort: 'name',
        order: 1,
        skip: 0,
        limit: 10,
        where: { field: 'tags', op: 'contains', value: 't' },
      });
      assert.deepEqual(
        entries.map(({ id }) => id),
        ['two'],
      );
    });
  }

  it('stays parked when its stream goes on after a restart', async () => {
    const { happen, documents, model, all } = await open();
    await happen(['one', 'born', { names: ['a'] }], one('renamed', null));
    const before = all();
    documents.reset(false, documents.parked().size === 1 ? new Map(documents.parked()) : new Map());
    await happen(['one', 'renamed', { to: 'sound again' }]);
    assert.deepEqual([all(), await model.get('families', 'one')], [before, undefined]);
  });

  it('is parked as touched when events of its stream are missing, and so at every later one; the stream is told', async () => {
    for (const [what, revisions] of Object.entries({
      'the first': [1, 2],
      'some in between': [0, 3, 4],
      'one that comes again': [0, 1, 1],
    })) {
      for (const together of [true, false]) {
        const { happen, documents, model, touched } = await open();
        const events = revisions.map((revision): Happening => ['one', 'renamed', { to: 'g' }, { revision }]);
        if (together) await happen(...events);
        else for (const each of events) await happen(each);
        await happen(['two', 'renamed', { to: 'h' }]);
        assert.deepEqual([[...documents.parked().keys()], touched], [['families/one'], ['family-one']], what);
        const { reason, touched: isTouched } = parkedIn((await model.get('parked', 'families/one'))!);
        assert.match(reason, /^Stream family-one goes on at revision \d, where \d was to come$/);
        assert.equal(isTouched, true);
        assert.equal((await model.get('families', 'two'))?.text, '{"name":"h"}');
      }
    }
  });

  it('is parked as touched after a restart, when what comes does not follow what is there', async () => {
    const { happen, documents, model, touched } = await open();
    await happen(['one', 'born', { names: ['a'] }], ['two', 'born', { names: [] }]);
    documents.reset(false);
    await happen(['one', 'renamed', { to: 'g' }, { revision: 2 }], ['two', 'renamed', { to: 'h' }, { revision: 1 }]);
    assert.deepEqual(
      [touched, await model.get('families', 'one'), (await model.get('families', 'two'))?.revision],
      [['family-one'], undefined, 1],
    );
    // Of what the read models have nothing of, they cannot tell: it may have been removed.
    await happen(
      ['three', 'renamed', { to: 'i' }, { revision: 5 }],
      ['three', 'renamed', { to: 'j' }, { revision: 6 }],
    );
    assert.equal((await model.get('families', 'three'))?.text, '{"name":"j"}');
    await happen(['three', 'renamed', { to: 'k' }, { revision: 8 }]);
    assert.deepEqual(touched, ['family-one', 'family-three']);
  });

  it('may have any id and any topic', async () => {
    const { happen, model, documents } = await open();
    for (const id of ['', 'a/b', '__proto__', 'constructor']) await happen([id, 'born', { names: ['x'] }]);
    for (const topic of ['toString', '__proto__', 'constructor', 'unheard of'])
      await happen(['two', topic as FamilyEvent['topic'], {}]);
    assert.deepEqual([...documents.parked().keys()], ['families/', 'families/a/b']);
    assert.equal((await model.get('families', '__proto__'))?.text, '{"name":"f"}');
    assert.equal(await model.get('families', 'two'), undefined);
  });

  it('is folded the same when so many have changed that they are written in between', async () => {
    const model = memoryReadStore({ collections: collectionsOf([families]) });
    const documents = projector([families], { read: model.get, log: () => undefined, keptStreams: 2 });
    documents.reset(true);
    const happen = async (stream: string, revision: number, topic: string, data: unknown): Promise<void> => {
      const type = `@platform/mop:${topic}`;
      const about = { id: `${stream}-${revision}`, position: 1, data: JSON.stringify(data), metadata: '{}' };
      await documents.take([{ ...about, stream, revision, type } as StoredEvent]);
    };
    let at = 0;
    const write = async (): Promise<void> => {
      await model.apply(documents.drain(), at, { position: ++at, event: '' });
    };
    await happen('family-a', 0, 'born', { names: ['x'] });
    assert.equal(documents.isFull(), false);
    await happen('family-b', 0, 'born', { names: [] });
    assert.equal(documents.isFull(), true);
    await write();
    assert.equal(documents.isFull(), false);
    for (const name of ['c', 'd', 'e']) await happen(`family-${name}`, 0, 'born', { names: [] });
    await write();
    await happen('family-a', 1, 'renamed', { to: 'again' });
    await write();
    assert.deepEqual([...model.ids('families')].sort(), ['a', 'b', 'c', 'd', 'e']);
    assert.equal((await model.get('families', 'a'))?.text, '{"name":"again"}');
    assert.deepEqual([...model.ids('children', 'a')], ['a/x']);
  });

  it('leaves its last guard when it is deleted, the same however its events are written', async () => {
    const leaving = { ...families, on: { ...families.on, left: () => undefined } };
    const story = [
      ['born', { names: [] }],
      ['renamed', { to: 'a', guard: 'groups:["red"]' }],
      ['left', {}],
      ['born', { names: [] }],
      ['renamed', { to: 'b', guard: 'groups:["blue"]' }],
    ] as const;
    const red = { id: 'r', admin: false, groups: ['red'] };
    for (const atOnce of [1, 2, 3, 5]) {
      const model = memoryReadStore({ collections: collectionsOf([leaving]) });
      const documents = projector([leaving], { read: model.get, log: () => undefined });
      documents.reset(true);
      const mayRead = () => mayReadGuard(red, model)('families:f');
      let revision = 0;
      const happen = async (events: readonly (readonly [topic: string, data: object])[]): Promise<void> => {
        const from = revision;
        const stored = events.map(([topic, data]): StoredEvent => {
          const about = { id: `e${revision}`, stream: 'family-f', revision, position: ++revision, metadata: '{}' };
          return { ...about, type: `@platform/mop:${topic}`, data: JSON.stringify(data) };
        });
        await documents.take(stored);
        await model.apply(documents.drain(), from, { position: revision, event: '' });
      };
      assert.equal(mayRead(), false, 'it never was');
      for (let n = 0; n < story.length; n += atOnce) await happen(story.slice(n, n + atOnce));
      assert.equal(model.guard('gone', 'families/f'), 'groups:["red"]');
      assert.equal(mayRead(), false, 'it is there again, for others');
      await happen([['left', {}]]);
      assert.equal(mayRead(), false);
      await happen([['born', { names: [] }]]);
      assert.equal(mayRead(), true, 'everybody may read it now');
      await happen([['left', {}]]);
      assert.equal(mayRead(), true, 'and so everybody could');
    }
  });

  it('is parked when its first events are missing, also after others have ended; what has ended goes on', async () => {
    const ending = {
      ...families,
      retires: { ended: ({ name }: Family) => (name === 'end' ? '2026' : undefined), from: 'name' as const },
    };
    const model = memoryReadStore({ collections: collectionsOf([ending]) });
    const documents = projector([ending], { read: model.get, log: () => undefined });
    documents.reset(true);
    let at = 0;
    const happen = async (id: string, revision: number, topic: string, data: unknown): Promise<void> => {
      const about = { id: `${id}-${revision}`, position: at + 1, data: JSON.stringify(data), metadata: '{}' };
      await documents.take([
        { ...about, stream: `family-${id}`, revision, type: `@platform/mop:${topic}` } as StoredEvent,
      ]);
      await model.apply(documents.drain(), at, { position: ++at, event: '' });
    };
    await happen('a', 0, 'born', { names: [] });
    await happen('a', 1, 'renamed', { to: 'end' });
    await happen('b', 3, 'renamed', { to: 'late' });
    await happen('a', 2, 'renamed', { to: 'again' });
    assert.deepEqual([...model.ids('families')], ['a']);
    assert.equal((await model.get('families', 'a'))?.revision, 2);
    assert.equal(documents.parked().size, 1);
    await happen('c', 0, 'born', { names: [] });
    assert.deepEqual([...model.ids('families')], ['a', 'c']);
  });
});

import assert from 'node:assert/strict';
import { aggregate, type Event } from '../src/domain/core.ts';
import { memoryReadStore } from '../src/projections/memory.ts';
import { projection } from '../src/projections/define.ts';
import { collectionsOf, projector } from '../src/projections/projector.ts';
import type { StoredEvent } from '../src/store/port.ts';

type FamilyEvent = Event<'born', { readonly names: readonly string[] }> | Event<'renamed', { readonly to: string }> | Event<'left', Record<string, never>>;

const family = aggregate<null, FamilyEvent>({ area: 'mop', category: 'family', initial: null, evolve: { born: () => null, renamed: () => null, left: () => null }, exists: () => true });
const families = projection<{ readonly name: string }, FamilyEvent>(family, {
  collection: 'families',
  on: { born: (doc) => doc ?? { name: 'f' }, renamed: (_, { data }) => ({ name: data.to }), left: (doc) => doc },
  sorts: { name: ({ name }) => name },
  filters: {},
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

describe('children of a document', () => {
  const open = async () => {
    const model = memoryReadStore({ collections: collectionsOf([families]) });
    const logged: string[] = [];
    const documents = projector([families], (collection, id) => model.get(collection, id), (message) => logged.push(message));
    documents.reset(true);
    const revisions = new Map<string, number>();
    let position = 0;
    const happen = async (...events: readonly (readonly [stream: string, topic: FamilyEvent['type'], data: object])[]): Promise<void> => {
      const stored = events.map(([id, topic, data]): StoredEvent => {
        const revision = (revisions.get(id) ?? -1) + 1;
        revisions.set(id, revision);
        return { id: `e${position}`, stream: `family-${id}`, revision, position: ++position, type: `@platform/mop:${topic}`, data: JSON.stringify(data), metadata: '{}' };
      });
      await documents.take(stored);
      const { position: from } = await model.resume();
      assert.equal(await model.apply(documents.drain(), from, { position, event: '' }), true);
    };
    const of = async (part: string) => (await model.list('children', { part, sort: 'name', order: 1, skip: 0, limit: 10 })).entries.map(({ text, revision }) => [JSON.parse(text).name, revision]);
    return { happen, of, documents, logged, model };
  };

  it('come and go with the events of its stream, each at its revision', async () => {
    const { happen, of, model } = await open();
    await happen(['one', 'born', { names: ['b', 'a'] }], ['two', 'born', { names: ['a'] }]);
    await happen(['one', 'born', { names: ['b', 'c'] }], ['one', 'renamed', { to: 'g' }]);
    assert.deepEqual([await of('one'), await of('two')], [[['a', 0], ['b', 1], ['c', 1]], [['a', 0]]]);
    await happen(['one', 'born', { names: ['d'] }], ['one', 'left', {}], ['one', 'born', { names: ['e'] }]);
    assert.deepEqual([await of('one'), await of('two')], [[['e', 5]], [['a', 0]]]);
    assert.equal((await model.get('families', 'one'))?.text, '{"name":"g"}');
  });

  it('are parked together when one throws, and the document and others go on', async () => {
    const { happen, of, documents, logged, model } = await open();
    await happen(['one', 'born', { names: ['a'] }]);
    await happen(['one', 'born', { names: ['b', 'bad'] }], ['one', 'renamed', { to: 'g' }], ['two', 'born', { names: ['x'] }], ['one', 'left', {}]);
    assert.deepEqual([await of('one'), await of('two')], [[['a', 0]], [['x', 0]]]);
    assert.deepEqual([[...documents.parked().keys()], logged.length, (await model.get('families', 'one'))?.text], [['children/one'], 1, '{"name":"g"}']);
    assert.match((await model.get('parked', 'children/one'))!.text, /born at position 2: Error: a bad name/);
  });
});

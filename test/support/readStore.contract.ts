import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Change, CollectionSpec, Entry, Query, ReadStore, Where } from '../../src/projections/engine/port.ts';
import { naiveStore } from './naiveReadStore.ts';

/** The collections that the stores of the contract are opened with. */
export const contractCollections: readonly CollectionSpec[] = [
  { name: 'things', sorts: ['name', 'created'], filters: ['name', 'tags'] },
  { name: 'others', sorts: ['name'], filters: [] },
  { name: 'children', sorts: ['name', 'created'], filters: ['name', 'tags'], partitioned: true },
];

type Some = {
  readonly name?: string;
  readonly created?: string;
  readonly tags?: readonly string[];
  readonly guard?: string;
  readonly revision?: number;
  readonly text?: string;
};

/** An entry of `things`; its name is the id unless given. */
export const thing = (
  id: string,
  { name = id, created = '', tags = [], guard, revision = 0, text = `{"_id":"${id}"}` }: Some = {},
): Entry => ({
  id,
  text,
  revision,
  sorts: { name, created },
  filters: { name: [name], tags },
  ...(guard !== undefined && { guard }),
});

export const put = (entry: Entry, collection = 'things'): Change => ({ collection, id: entry.id, entry });
export const removed = (id: string, collection = 'things'): Change => ({ collection, id });

/** An entry of `children`, whose name is the id's end, and the removal of all of a part. */
export const child = (id: string, some: Some = {}): Change =>
  put(thing(id, { name: id.slice(id.indexOf('/') + 1), ...some }), 'children');
export const partRemoved = (part: string): Change => ({ collection: 'children', id: part, wholePart: true });

const everything: Query = { sort: 'name', order: 1, skip: 0, limit: 1000 };

/** Ids and total of a page of `things`. */
export const listed = async (
  store: ReadStore,
  query: Partial<Query> = {},
): Promise<{ ids: readonly string[]; total: number }> => {
  const { entries, total } = await store.list('things', { ...everything, ...query });
  return { ids: entries.map(({ id }) => id), total };
};

/** Ids and total of a page of a part of `children`. */
export const listedIn = async (
  store: ReadStore,
  part: string,
  query: Partial<Query> = {},
): Promise<{ ids: readonly string[]; total: number }> => {
  const { entries, total } = await store.list('children', { ...everything, part, ...query });
  return { ids: entries.map(({ id }) => id), total };
};

/** What every read store must do. `open` gives an empty one for `contractCollections`. */
export const readStoreContract = (name: string, open: () => ReadStore | Promise<ReadStore>) =>
  describe(`read store: ${name}`, () => {
    let store: ReadStore;
    let position: number;
    const write = async (changes: readonly Change[]): Promise<void> => {
      assert.equal(await store.apply(changes, position, { position: position + 10, event: `e${position + 10}` }), true);
      position += 10;
    };
    const sameAs = async (naive: ReturnType<typeof naiveStore>, query: Query): Promise<void> => {
      const { entries, total } = await store.list('things', query);
      assert.deepEqual(
        { entries: entries.map(({ id, text, revision }) => ({ id, text, revision })), total },
        naive.list(query),
      );
    };
    beforeEach(async () => {
      store = await open();
      position = (await store.resume()).position;
      assert.equal(position, 0);
      assert.equal(await store.takeLeadership(), true);
    });
    afterEach(() => store.close());

    describe('documents', () => {
      it('are given back as they were written', async () => {
        const entry = thing('1', {
          name: 'Zoë 😀',
          tags: ['x', 'y'],
          guard: 'g',
          revision: 7,
          text: '{"_id":"1","n":"Zoë \\u0000 😀"}',
        });
        await write([put(entry)]);
        assert.deepEqual(await store.get('things', '1'), entry);
        assert.deepEqual(
          (await store.list('things', everything)).entries.map(({ id, text, revision }) => ({ id, text, revision })),
          [{ id: '1', text: entry.text, revision: 7 }],
        );
      });
      it('that are not there are undefined', async () => {
        assert.equal(await store.get('things', '1'), undefined);
        await write([put(thing('1'))]);
        await write([removed('1'), removed('2')]);
        assert.equal(await store.get('things', '1'), undefined);
        assert.deepEqual(await listed(store), { ids: [], total: 0 });
      });
      it('come several at a time in the order asked for, also twice', async () => {
        await write([put(thing('1')), put(thing('2'))]);
        assert.deepEqual(
          (await store.getMany('things', ['2', '3', '1', '2'])).map((entry) => entry?.id),
          ['2', undefined, '1', '2'],
        );
        assert.deepEqual(await store.getMany('things', []), []);
      });
      it('are put right at the same position, and the next step goes on from there', async () => {
        await write([put(thing('1')), put(thing('2')), child('p/1'), child('q/1')]);
        await listed(store);
        await store.mend([
          put(thing('1', { name: 'Other', text: '"right"' })),
          removed('2'),
          put(thing('3')),
          child('p/2'),
        ]);
        assert.equal((await store.get('things', '1'))?.text, '"right"');
        assert.deepEqual(await listed(store), { ids: ['3', '1'], total: 2 });
        assert.deepEqual((await listedIn(store, 'p')).ids, ['p/1', 'p/2']);
        assert.deepEqual([...store.ids('things')].sort(), ['1', '3']);
        assert.deepEqual([...store.ids('children', 'p')].sort(), ['p/1', 'p/2']);
        assert.deepEqual([...store.ids('children')].sort(), ['p/1', 'p/2', 'q/1']);
        assert.deepEqual(await store.resume(), { position, event: `e${position}` });
        await write([put(thing('4'))]);
        assert.deepEqual((await listed(store)).ids, ['3', '4', '1']);
        await store.mend([]);
        assert.equal((await listed(store)).total, 3);
      });
      it('of different collections do not meet', async () => {
        await write([put(thing('1')), put(thing('1', { text: '"other"' }), 'others')]);
        await write([removed('1')]);
        assert.equal((await store.get('others', '1'))?.text, '"other"');
        assert.deepEqual(await listed(store), { ids: [], total: 0 });
      });
      it('may have any characters in their ids', async () => {
        const ids = ['a/b', 'ä 😀', 'a:b', '%2F', '{x}'];
        await write(ids.map((id) => put(thing(id))));
        assert.deepEqual(
          (await store.getMany('things', ids)).map((entry) => entry?.id),
          ids,
        );
        assert.deepEqual((await listed(store)).ids.toSorted(), ids.toSorted());
      });
      it('are found by exactly their name, in order', async () => {
        await write([
          put(thing('2', { name: 'Twin' })),
          put(thing('1', { name: 'Twin' })),
          put(thing('3', { name: 'twin' })),
          put(thing('4', { name: 'Twins' })),
        ]);
        assert.deepEqual(await store.idsNamed('things', 'Twin'), ['1', '2']);
        assert.deepEqual(await store.idsNamed('things', 'twin'), ['3']);
        assert.deepEqual(await store.idsNamed('things', 'TWIN'), []);
        await write([put(thing('2', { name: 'Renamed' }))]);
        assert.deepEqual(await store.idsNamed('things', 'Twin'), ['1']);
        assert.deepEqual(await store.idsNamed('things', 'Renamed'), ['2']);
      });
      it('of unknown collections are a bug, not an answer', async () => {
        await assert.rejects(async () => store.get('nowhere', '1'), /nowhere/);
        await assert.rejects(async () => store.list('nowhere', everything), /nowhere/);
        await assert.rejects(
          async () => store.apply([removed('1', 'nowhere')], 0, { position: 1, event: 'e1' }),
          /nowhere/,
        );
      });
    });

    describe('a step', () => {
      it('moves the checkpoint, also without changes', async () => {
        await write([]);
        assert.deepEqual(await store.resume(), { position: 10, event: 'e10' });
      });
      it('never goes back, and stays where it is only without changes', async () => {
        await write([put(thing('1'))]);
        assert.equal(await store.apply([], 10, { position: 10, event: 'e10' }), true);
        await assert.rejects(
          async () => store.apply([removed('1')], 10, { position: 10, event: 'e10' }),
          /from 10 to 10/,
        );
        await assert.rejects(async () => store.apply([], 10, { position: 9, event: 'e9' }), /from 10 to 9/);
        assert.deepEqual(await listed(store), { ids: ['1'], total: 1 });
        await write([removed('1')]);
      });
      it('keeps what was there when the store resumes', async () => {
        await write([put(thing('1')), put(thing('2', { guard: 'g' }))]);
        await store.resume();
        assert.deepEqual(await listed(store), { ids: ['1', '2'], total: 2 });
        assert.equal(store.guard('things', '2'), 'g');
      });
      it('that is repeated changes nothing', async () => {
        const step = [put(thing('1', { text: '"first"' }))];
        await write(step);
        await write([put(thing('1', { text: '"second"' }))]);
        assert.equal(await store.apply(step, 0, { position: 10, event: 'e10' }), false);
        assert.equal((await store.get('things', '1'))?.text, '"second"');
        assert.deepEqual(await store.resume(), { position: 20, event: 'e20' });
      });
      it('from another position is refused and writes nothing', async () => {
        await write([put(thing('1'))]);
        for (const from of [0, 9, 11])
          assert.equal(await store.apply([put(thing('2'))], from, { position: 30, event: 'e30' }), false);
        assert.deepEqual(await listed(store), { ids: ['1'], total: 1 });
        assert.deepEqual(await store.resume(), { position: 10, event: 'e10' });
      });
      it('that fails midway leaves nothing behind', async () => {
        await write([put(thing('1'))]);
        const { name: _, ...unnamed } = thing('3').sorts;
        for (const broken of [
          { ...thing('3'), sorts: unnamed },
          { ...thing('3'), filters: { name: ['3'] } },
          thing('4'),
        ]) {
          const changes: Change[] = [put(thing('2')), { collection: 'things', id: '3', entry: broken }, removed('1')];
          await assert.rejects(async () => store.apply(changes, 10, { position: 20, event: 'e20' }), /3/);
        }
        assert.deepEqual(await listed(store), { ids: ['1'], total: 1 });
        assert.deepEqual(await store.resume(), { position: 10, event: 'e10' });
        await write([removed('1')]);
      });
      it('takes the last of several changes of one document', async () => {
        await write([
          put(thing('1', { text: '"a"' })),
          put(thing('2')),
          removed('1'),
          put(thing('1', { name: 'z', text: '"b"' })),
          removed('2'),
        ]);
        assert.deepEqual(await listed(store), { ids: ['1'], total: 1 });
        assert.equal((await store.get('things', '1'))?.text, '"b"');
        assert.deepEqual(await store.idsNamed('things', 'z'), ['1']);
      });
      it('may have thousands of changes', async () => {
        await write(Array.from({ length: 5000 }, (_, n) => put(thing(String(n)))));
        await write(Array.from({ length: 4000 }, (_, n) => removed(String(n))));
        assert.equal((await listed(store)).total, 1000);
        const ids = Array.from({ length: 5000 }, (_, n) => String(n));
        assert.equal((await store.getMany('things', ids)).filter(Boolean).length, 1000);
      });
      it('is seen by a read whole or not at all', async () => {
        const ids = Array.from({ length: 50 }, (_, n) => String(n));
        const step = (text: string) => ids.map((id) => put(thing(id, { text, tags: [text] })));
        await write(step('0'));
        for (let n = 1; n <= 20; n++) {
          const early = store.list('things', everything);
          const documents = store.getMany('things', ids);
          const writing = write(step(String(n)));
          const late = [
            store.list('things', { ...everything, where: { field: 'tags', op: 'equals', value: String(n) } }),
            store.list('things', everything),
          ];
          await writing;
          for (const { entries, total } of [await early, ...(await Promise.all(late))]) {
            assert.ok(new Set(entries.map(({ text }) => text)).size <= 1);
            assert.equal(entries.length, total);
          }
          assert.equal(new Set((await documents).map((entry) => entry?.text)).size, 1);
          assert.equal((await store.list('things', everything)).entries[0]?.text, String(n));
        }
      });
      it('to nothing forgets everything', async () => {
        await write([put(thing('1')), put(thing('1'), 'others')]);
        await store.clear();
        assert.deepEqual(await listed(store), { ids: [], total: 0 });
        assert.equal(await store.get('others', '1'), undefined);
        assert.equal(store.guard('things', '1'), undefined);
        assert.deepEqual(await store.resume(), { position: 0, event: '' });
        assert.equal(await store.apply([], 10, { position: 20, event: 'e20' }), false);
        position = 0;
        await write([put(thing('2'))]);
        assert.deepEqual(await listed(store), { ids: ['2'], total: 1 });
      });
    });

    describe('versions', () => {
      it('grow when a document of the collection is written, removed or forgotten', async () => {
        const seen = [store.version('things')];
        for (const change of [
          () => write([put(thing('1'))]),
          () => write([put(thing('1', { text: '2' }))]),
          () => write([removed('1')]),
          () => write([put(thing('2'))]),
          () => store.clear(),
        ]) {
          await change();
          seen.push(store.version('things'));
        }
        assert.deepEqual(
          seen,
          [...new Set(seen)].sort((a, b) => a - b),
        );
      });
      it('stay for what did not change', async () => {
        await write([put(thing('1'))]);
        const version = store.version('things');
        await write([put(thing('1'), 'others')]);
        await listed(store, { where: { field: 'name', op: 'contains', value: '1' } });
        await store.resume();
        assert.equal(store.version('things'), version);
      });
    });

    describe('lists', () => {
      it('are ordered by lower-cased name, then name, then id, each by UTF-8 bytes', async () => {
        const names = [
          '',
          '!',
          'a',
          'A',
          'a b',
          'aa',
          'AB',
          'Ab',
          'aB',
          'ab',
          'b',
          'z',
          'Ä',
          'ä',
          'é',
          'ß',
          'Σ',
          'ς',
          '中',
          '\uE000',
          '\uFFFD',
          '😀',
          '😀a',
          '\u{10FFFF}',
          'a\0',
          'a\0b',
          'a\u0001',
        ];
        const entries = names.flatMap((name, n) =>
          [`b${n}`, `a${n}`, `\uE000${n}`, `😀${n}`].map((id) => thing(id, { name })),
        );
        await write(entries.map((entry) => put(entry)));
        const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
        const expected = entries.toSorted(
          (a, b) =>
            bytes(a.sorts['name']!.toLowerCase(), b.sorts['name']!.toLowerCase()) ||
            bytes(a.sorts['name']!, b.sorts['name']!) ||
            bytes(a.id, b.id),
        );
        assert.deepEqual(
          (await listed(store)).ids,
          expected.map(({ id }) => id),
        );
        assert.deepEqual((await listed(store, { order: -1 })).ids, expected.map(({ id }) => id).reverse());
      });
      it('can be in the order of any sort field', async () => {
        await write([
          put(thing('1', { name: 'a', created: '2024' })),
          put(thing('2', { name: 'b', created: '2022' })),
          put(thing('3', { name: 'c', created: '2023' })),
        ]);
        assert.deepEqual((await listed(store, { sort: 'created', order: -1 })).ids, ['1', '3', '2']);
        await write([put(thing('2', { name: 'b', created: '2025' }))]);
        assert.deepEqual((await listed(store, { sort: 'created', order: -1 })).ids, ['2', '1', '3']);
        await assert.rejects(listed(store, { sort: 'colour' }), /colour/);
      });
      it('never repeat or miss an entry from page to page', async () => {
        const entries = Array.from({ length: 1300 }, (_, n) =>
          thing(String(n).padStart(4, '0'), { name: `name ${n % 7}`, tags: n % 2 ? ['odd'] : [] }),
        );
        await write(entries.map((entry) => put(entry)));
        for (const [where, total] of [
          [undefined, 1300],
          [{ field: 'tags', op: 'equals', value: 'odd' }, 650],
        ] as const) {
          for (const order of [1, -1] as const) {
            const ids: string[] = [];
            for (let skip = 0; skip <= total; skip += 90) {
              const page = await listed(store, { skip, limit: 90, order, ...(where && { where }) });
              assert.equal(page.total, total);
              assert.equal(page.ids.length, Math.min(90, total - skip));
              ids.push(...page.ids);
            }
            assert.equal(new Set(ids).size, total);
          }
        }
        assert.deepEqual(await listed(store, { skip: 5000 }), { ids: [], total: 1300 });
      });
      it('count exactly after writes, renames and removals', async () => {
        await write(Array.from({ length: 20 }, (_, n) => put(thing(String(n), { tags: ['t'] }))));
        const where: Where = { field: 'tags', op: 'equals', value: 't' };
        assert.equal((await listed(store, { where, limit: 1 })).total, 20);
        await write([
          removed('3'),
          put(thing('4', { name: 'renamed', tags: ['t'] })),
          put(thing('5', { tags: [] })),
          put(thing('20', { tags: ['t'] })),
        ]);
        assert.equal((await listed(store, { limit: 1 })).total, 20);
        assert.equal((await listed(store, { where, limit: 1 })).total, 19);
      });
    });

    // Fields with few different values may be kept in another way than those with many.
    for (const [kind, others] of [
      ['few', 0],
      ['many', 100],
    ] as const)
      describe(`filters on fields with ${kind} values`, () => {
        const found = async (where: Where): Promise<readonly string[]> =>
          (await listed(store, { where })).ids.filter((id) => !id.startsWith('other'));
        beforeEach(() =>
          write([
            put(thing('1', { name: 'Core-Router', tags: ['red', 'Blue sky'] })),
            put(thing('2', { name: 'core-switch', tags: ['blue'] })),
            put(thing('3', { name: 'Edge', tags: [] })),
            put(thing('4', { name: 'ÉDGE 😀', tags: ['', 'b'] })),
            ...Array.from({ length: others }, (_, n) => put(thing(`other ${n}`, { tags: [`${n}`, `tag ${n}`] }))),
          ]),
        );

        it('equals is exact', async () => {
          assert.deepEqual(await found({ field: 'name', op: 'equals', value: 'Edge' }), ['3']);
          for (const value of ['edge', 'Edg', 'dge', ''])
            assert.deepEqual(await found({ field: 'name', op: 'equals', value }), []);
        });
        it('startsWith ignores case and looks at the beginning only', async () => {
          assert.deepEqual(await found({ field: 'name', op: 'startsWith', value: 'CORE-' }), ['1', '2']);
          assert.deepEqual(await found({ field: 'name', op: 'startsWith', value: 'éd' }), ['4']);
          assert.deepEqual(await found({ field: 'name', op: 'startsWith', value: 'dge' }), []);
        });
        it('contains ignores case and looks everywhere', async () => {
          assert.deepEqual(await found({ field: 'name', op: 'contains', value: 'DGE' }), ['3', '4']);
          assert.deepEqual(await found({ field: 'name', op: 'contains', value: '😀' }), ['4']);
          assert.deepEqual(await found({ field: 'name', op: 'contains', value: 'router core' }), []);
        });
        it('of a list-valued field match when one member does', async () => {
          assert.deepEqual(await found({ field: 'tags', op: 'equals', value: 'blue' }), ['2']);
          assert.deepEqual(await found({ field: 'tags', op: 'startsWith', value: 'BLUE' }), ['1', '2']);
          assert.deepEqual(await found({ field: 'tags', op: 'contains', value: 'sky' }), ['1']);
          assert.deepEqual(await found({ field: 'tags', op: 'contains', value: 'redblue' }), []);
        });
        it('with an empty value match any member, or the empty one alone when it must be equal', async () => {
          assert.deepEqual(await found({ field: 'tags', op: 'contains', value: '' }), ['1', '2', '4']);
          assert.deepEqual(await found({ field: 'tags', op: 'startsWith', value: '' }), ['1', '2', '4']);
          assert.deepEqual(await found({ field: 'tags', op: 'equals', value: '' }), ['4']);
        });
        it('with control characters match nothing', async () => {
          for (const value of ['\x02', '\x03', '\x02edge', 'e\x03', '\x03\x02', '\0', 'Core\nRouter']) {
            for (const op of ['equals', 'startsWith', 'contains'] as const)
              assert.deepEqual(await found({ field: 'name', op, value }), []);
          }
        });
        it('are not led astray by control characters in a value', async () => {
          await write([put(thing('5', { name: 'x\x03\x02trap' }))]);
          assert.deepEqual(await found({ field: 'name', op: 'equals', value: 'trap' }), []);
          assert.deepEqual(await found({ field: 'name', op: 'startsWith', value: 'trap' }), []);
          assert.deepEqual(await found({ field: 'name', op: 'contains', value: 'trap' }), ['5']);
        });
        it('combine as trees of all and any', async () => {
          const core: Where = { field: 'name', op: 'startsWith', value: 'core' };
          const red: Where = { field: 'tags', op: 'equals', value: 'red' };
          const edge: Where = { field: 'name', op: 'equals', value: 'Edge' };
          assert.deepEqual(await found({ all: [core, red] }), ['1']);
          assert.deepEqual(await found({ any: [red, edge] }), ['1', '3']);
          assert.deepEqual(await found({ any: [edge, { all: [core, { any: [red, edge] }] }] }), ['1', '3']);
          assert.deepEqual(await found({ all: [] }), ['1', '2', '3', '4']);
          assert.deepEqual(await found({ any: [] }), []);
        });
        it('are told apart by field, operation and value', async () => {
          await write([put(thing('5', { name: 'b', tags: ['core'] }))]);
          for (let times = 0; times < 2; times++) {
            assert.deepEqual(await found({ field: 'name', op: 'startsWith', value: 'core' }), ['1', '2']);
            assert.deepEqual(await found({ field: 'tags', op: 'startsWith', value: 'core' }), ['5']);
            assert.deepEqual(await found({ field: 'tags', op: 'equals', value: 'b' }), ['4']);
            assert.deepEqual(await found({ field: 'tags', op: 'startsWith', value: 'b' }), ['1', '2', '4']);
            assert.deepEqual(await found({ field: 'tags', op: 'contains', value: 'b' }), ['1', '2', '4']);
            assert.deepEqual(await found({ field: 'tags', op: 'contains', value: 'r' }), ['5', '1']);
          }
        });
        it('know only the fields of the collection', () =>
          assert.rejects(found({ field: 'colour', op: 'equals', value: '' }), /colour/));
        it('see a change of the filtered field though the name stays', async () => {
          const where: Where = { field: 'tags', op: 'equals', value: 'green' };
          assert.deepEqual(await found(where), []);
          await write([put(thing('3', { name: 'Edge', tags: ['green'] }))]);
          assert.deepEqual(await found(where), ['3']);
        });
      });

    describe('guards', () => {
      beforeEach(() =>
        write([
          put(thing('1')),
          put(thing('2', { guard: 'staff', tags: ['t'] })),
          put(thing('3', { guard: 'admins', tags: ['t'] })),
          put(thing('4', { guard: 'staff' })),
        ]),
      );

      it('keep entries out of pages and totals', async () => {
        const staff = { may: (guard: string) => guard === 'staff' };
        assert.deepEqual(await listed(store, staff), { ids: ['1', '2', '4'], total: 3 });
        assert.deepEqual(await listed(store, { ...staff, skip: 1, limit: 1 }), { ids: ['2'], total: 3 });
        assert.deepEqual(await listed(store, { ...staff, order: -1, limit: 2 }), { ids: ['4', '2'], total: 3 });
        assert.deepEqual(await listed(store, { ...staff, where: { field: 'tags', op: 'equals', value: 't' } }), {
          ids: ['2'],
          total: 1,
        });
        assert.deepEqual(await listed(store, { may: () => false }), { ids: ['1'], total: 1 });
        assert.deepEqual(await listed(store), { ids: ['1', '2', '3', '4'], total: 4 });
      });
      it('are asked about once each', async () => {
        const asked: string[] = [];
        await listed(store, { may: (guard) => asked.push(guard) > 0 });
        assert.deepEqual(asked.toSorted(), ['admins', 'staff']);
      });
      it('follow the documents', async () => {
        const asked = async (): Promise<readonly string[]> => {
          const guards: string[] = [];
          await listed(store, { may: (guard) => guards.push(guard) > 0 });
          return guards.toSorted();
        };
        const staff = { may: (guard: string) => guard === 'staff' };
        await listed(store, staff);
        await write([put(thing('1', { guard: 'owners' })), put(thing('3', { tags: ['t'] }))]);
        assert.deepEqual(await listed(store, staff), { ids: ['2', '3', '4'], total: 3 });
        assert.deepEqual(await asked(), ['owners', 'staff']);
        await write([removed('1'), removed('2')]);
        assert.deepEqual(await listed(store, staff), { ids: ['3', '4'], total: 2 });
        assert.deepEqual(await asked(), ['staff']);
      });
      it('are told for a single document', async () => {
        assert.equal(store.guard('things', '2'), 'staff');
        assert.equal(store.guard('things', '1'), null);
        assert.equal(store.guard('things', '9'), undefined);
        await write([removed('2')]);
        assert.equal(store.guard('things', '2'), undefined);
      });
    });

    describe('collections in parts', () => {
      it('list each part as if it were alone', async () => {
        await write([
          child('p/b'),
          child('p/a', { tags: ['x'] }),
          child('q/a', { tags: ['x'] }),
          child('p/a/c'),
          child('pp/z'),
        ]);
        assert.deepEqual(await listedIn(store, 'p'), { ids: ['p/a', 'p/a/c', 'p/b'], total: 3 });
        assert.deepEqual(await listedIn(store, 'p', { order: -1, skip: 1, limit: 1 }), { ids: ['p/a/c'], total: 3 });
        assert.deepEqual(await listedIn(store, 'q', { where: { field: 'tags', op: 'equals', value: 'x' } }), {
          ids: ['q/a'],
          total: 1,
        });
        assert.deepEqual(await listedIn(store, 'none'), { ids: [], total: 0 });
        await write([removed('p/a', 'children'), removed('r/a', 'children'), child('p/b', { name: '0' })]);
        assert.deepEqual(await listedIn(store, 'p'), { ids: ['p/b', 'p/a/c'], total: 2 });
      });
      it('give documents by id', async () => {
        await write([child('p/a', { text: '"one"' }), child('q/a', { text: '"two"', guard: 'g' })]);
        assert.deepEqual(
          (await store.getMany('children', ['q/a', 'p/a', 'p', 'p/', 'r/a'])).map((entry) => entry?.text),
          ['"two"', '"one"', undefined, undefined, undefined],
        );
        assert.deepEqual(
          [store.guard('children', 'q/a'), store.guard('children', 'p/a'), store.guard('children', 'r/a')],
          ['g', null, undefined],
        );
      });
      it('lose a part at once, and no other', async () => {
        await write([...Array.from({ length: 3000 }, (_, n) => child(`p/${n}`)), child('q/1'), put(thing('p'))]);
        assert.equal((await listedIn(store, 'p', { limit: 1 })).total, 3000);
        const version = store.version('children');
        await write([partRemoved('p'), partRemoved('unknown')]);
        assert.deepEqual(await listedIn(store, 'p'), { ids: [], total: 0 });
        assert.equal(await store.get('children', 'p/7'), undefined);
        assert.deepEqual(await listedIn(store, 'q'), { ids: ['q/1'], total: 1 });
        assert.deepEqual(await listed(store), { ids: ['p'], total: 1 });
        assert.ok(store.version('children') > version);
        await write([child('p/again')]);
        assert.deepEqual(await listedIn(store, 'p'), { ids: ['p/again'], total: 1 });
      });
      it('keep what a step writes after it has removed the part, and nothing from before', async () => {
        await write([child('p/old'), child('p/both', { text: '"old"' })]);
        await write([
          child('p/early'),
          removed('p/old', 'children'),
          partRemoved('p'),
          child('p/late'),
          child('p/both', { text: '"new"' }),
          child('q/1'),
          partRemoved('q'),
          child('q/2'),
        ]);
        assert.deepEqual(await listedIn(store, 'p'), { ids: ['p/both', 'p/late'], total: 2 });
        assert.equal((await store.get('children', 'p/both'))?.text, '"new"');
        assert.deepEqual(await listedIn(store, 'q'), { ids: ['q/2'], total: 1 });
        await store.resume();
        assert.deepEqual(await listedIn(store, 'p'), { ids: ['p/both', 'p/late'], total: 2 });
      });
      it('that are repeated or refused change nothing', async () => {
        await write([child('p/1')]);
        assert.equal(await store.apply([partRemoved('p')], 0, { position: 10, event: 'e10' }), false);
        await assert.rejects(
          async () => store.apply([partRemoved('p'), child('no-part')], 10, { position: 20, event: 'e20' }),
          /no-part/,
        );
        await assert.rejects(
          async () => store.apply([{ ...partRemoved('p'), collection: 'things' }], 10, { position: 20, event: 'e20' }),
          /things/,
        );
        assert.deepEqual(await listedIn(store, 'p'), { ids: ['p/1'], total: 1 });
      });
      it('are asked for one part, or it is a bug', async () => {
        await assert.rejects(async () => store.list('children', everything), /parts/);
        await assert.rejects(async () => store.idsNamed('children', 'a'), /parts/);
      });
      it('are empty after a step to nothing', async () => {
        await write([child('p/1')]);
        await store.clear();
        assert.deepEqual(await listedIn(store, 'p'), { ids: [], total: 0 });
      });
    });

    it('answers like a plain array, whatever is written and asked', async function () {
      this.timeout(300_000);
      const text = fc.string({
        unit: fc.constantFrom('a', 'A', 'b', 'ß', 'İ', 'Σ', 'é', ' ', '\uE000', '😀', '\x02', '\x03', '\0'),
        maxLength: 3,
      });
      const id = fc.constantFrom('1', '2', '3', 'a', 'B', '😀', '\uE000', '/');
      const guard = fc.constantFrom(undefined, 'x', 'y', 'z');
      const entry = fc
        .tuple(id, text, text, fc.array(text, { maxLength: 3 }), guard, fc.nat(9))
        .map(([id, name, created, tags, guard, revision]) =>
          thing(id, { name, created, tags, revision, text: `${revision}`, ...(guard !== undefined && { guard }) }),
        );
      const change = fc.oneof(
        entry.map((entry) => put(entry)),
        id.map((id) => removed(id)),
      );
      const { where } = fc.letrec<{ where: Where }>((tie) => ({
        where: fc.oneof(
          { depthSize: 'small' },
          fc.record({
            field: fc.constantFrom('name', 'tags'),
            op: fc.constantFrom('equals' as const, 'startsWith' as const, 'contains' as const),
            value: text,
          }),
          fc.array(tie('where'), { maxLength: 3 }).map((all) => ({ all })),
          fc.array(tie('where'), { maxLength: 3 }).map((any) => ({ any })),
        ),
      }));
      const query = fc
        .record({
          sort: fc.constantFrom('name', 'created'),
          order: fc.constantFrom(1 as const, -1 as const),
          skip: fc.nat(6),
          limit: fc.integer({ min: 1, max: 6 }),
          where: fc.option(where, { nil: undefined }),
          allowed: fc.option(fc.subarray(['x', 'y', 'z']), { nil: undefined }),
        })
        .map(
          ({ where, allowed, ...query }): Query => ({
            ...query,
            ...(where && { where }),
            ...(allowed && { may: (guard) => allowed.includes(guard) }),
          }),
        );
      const steps = fc.array(
        fc.oneof(
          fc.array(change, { maxLength: 6 }).map((changes) => ({ changes })),
          fc.tuple(query, text, id).map(([query, name, id]) => ({ query, name, id })),
        ),
        { minLength: 5, maxLength: 25 },
      );

      const others = Array.from({ length: 80 }, (_, n) =>
        put(thing(`other ${n}`, { name: `b${n}`, tags: [`a${n}`], guard: `g${n}` })),
      );

      await fc.assert(
        fc.asyncProperty(fc.boolean(), steps, async (many, steps) => {
          await store.clear();
          position = 0;
          const naive = naiveStore();
          if (many) {
            await write(others);
            naive.apply(others);
          }
          for (const step of steps) {
            if ('changes' in step) {
              await write(step.changes);
              naive.apply(step.changes);
            } else {
              await sameAs(naive, step.query);
              assert.deepEqual(await store.idsNamed('things', step.name), naive.idsNamed(step.name));
              assert.deepEqual(await store.get('things', step.id), naive.get(step.id));
              assert.equal(store.guard('things', step.id), naive.guard(step.id));
            }
          }
        }),
        { numRuns: process.env.SOAK_ROUNDS ? 1000 : 50 },
      );
    });

    it('answers like a plain array with thousands of documents too', async () => {
      const naive = naiveStore();
      const both = async (changes: readonly Change[]): Promise<void> => {
        await write(changes);
        naive.apply(changes);
      };
      const numbered = (n: number, round: number): Entry =>
        thing(String(n), {
          name: `Name ${(n * 7919 + round * 31) % 997}`,
          created: String(n % 17),
          tags: [`tag ${n % 100}`, `${(n + round) % 3}`],
          revision: round,
          ...(n % 4 > 0 && { guard: `g${n % 4}` }),
        });
      const may = (guard: string): boolean => guard !== 'g2';
      const wheres: (Where | undefined)[] = [
        undefined,
        { field: 'name', op: 'contains', value: '77' },
        { field: 'tags', op: 'equals', value: '1' },
        {
          all: [
            { field: 'name', op: 'startsWith', value: 'name 1' },
            {
              any: [
                { field: 'tags', op: 'startsWith', value: 'TAG 5' },
                { field: 'tags', op: 'equals', value: '2' },
              ],
            },
          ],
        },
      ];
      await both(Array.from({ length: 2000 }, (_, n) => put(numbered(n, 0))));
      for (let round = 0; round < (process.env.SOAK_ROUNDS ? 4 : 2); round++) {
        for (const where of wheres) {
          for (const order of [1, -1] as const) {
            const query: Query = {
              sort: round % 2 ? 'created' : 'name',
              order,
              skip: round * 300,
              limit: 50,
              ...(where && { where }),
            };
            await sameAs(naive, query);
            await sameAs(naive, { ...query, skip: round * 10, may });
          }
        }
        await both(
          Array.from({ length: 400 }, (_, n) =>
            n % 4 ? removed(String((n * 13 + round * 401) % 2000)) : put(numbered((n * 29 + round * 17) % 2300, round)),
          ),
        );
      }
    });
  });

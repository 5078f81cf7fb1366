import assert from 'node:assert/strict';
import { join } from 'node:path';
import { restorable } from '../../../src/commands/all.ts';
import { loadSample } from '../../../src/demo/load.ts';
import { mayHaveParts } from '../../../src/events/ownStreams.ts';
import { projections } from '../../../src/projections/all.ts';
import { pastReads } from '../../../src/projections/asOf/pastReads.ts';
import { countedEvents } from '../../../src/projections/countedEvents.ts';
import type { Entry, Page, Query } from '../../../src/projections/engine/port.ts';
import { collectionsOf, projector } from '../../../src/projections/engine/projector.ts';
import { memoryReadStore } from '../../../src/projections/index/memory.ts';
import { withPayloads } from '../../../src/store/payloads.ts';
import type { EventStore, StoredEvent } from '../../../src/store/port.ts';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import { numbers, sampled, seed } from '../../support/sample.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';

const specs = collectionsOf(projections).filter(({ name }) => !['parked', 'gone'].includes(name));

/** Makes history: what the demo makes is changed, and some of it removed. */
const changeAll = async ({ ask }: TestService): Promise<void> => {
  const base = '/operations-manager/automations';
  const { body } = await ask('GET', `${base}?limit=100`);
  for (const { _id } of body.data) await ask('PATCH', `${base}/${_id}`, { description: 'changed' });
  for (const name of ['one', 'two', 'three']) {
    const made = await ask('POST', base, { name });
    const id = made.body.data._id;
    await ask('PATCH', `${base}/${id}`, { name: `${name} again`, gbac: { read: ['readers'], write: [] } });
    if (name !== 'two') await ask('DELETE', `${base}/${id}`);
  }
  for (const user of ['ada', 'bob']) {
    const path = `/authorization/accounts/${user}`;
    await ask('POST', '/authorization/accounts', { username: user, password: 'a long password', memberOf: [] });
    await ask('PATCH', path, { account: { firstname: user, memberOf: ['readers'] } });
    if (user === 'ada') await ask('DELETE', path);
  }
  await ask('POST', '/operations-manager/events/test%20source/happened', { some: 'payload' });
};

/** How many resources get a former state or are deleted. */
const changes = process.env.SOAK_ROUNDS === undefined ? 30 : 600;

const deletions: Readonly<Record<string, string>> = {
  adapter: '/configuration_manager/adapters/:id',
  agent: '/agent-session-manager/agents/:id',
  automation: '/operations-manager/automations/:id',
  deviceGroup: '/configuration_manager/devicegroups/:id',
  inventory: '/inventory_manager/v1/inventories/:id',
  prebuilt: '/prebuilts/:id',
  profile: '/profiles/:id',
  resourceModel: '/lifecycle-manager/resources/:id?delete-associated-instances=true',
  serviceGroup: '/gateway_manager/v1/service-groups/:id',
  template: '/template_builder/templates/:id',
  tree: '/configuration_manager/configs/:id',
  trigger: '/operations-manager/triggers/:id',
};

/** Deletes random resources, and restores random ones of all kinds as they were. Some of that is refused. */
const changeAtRandom = async ({ ask }: TestService, events: readonly StoredEvent[]): Promise<void> => {
  const next = numbers(seed);
  const resources = events.flatMap(({ stream, position }) => {
    const [, kind = '', id = ''] = /^(\w+)-(.+)$/.exec(stream) ?? [];
    return restorable.has(kind) ? [{ kind, id, position }] : [];
  });
  for (let n = 0; n < changes; n++) {
    const resource = resources[Math.floor(next() * resources.length)] ?? assert.fail();
    const path = deletions[resource.kind];
    if (path !== undefined && next() < 0.4) await ask('DELETE', path.replace(':id', encodeURIComponent(resource.id)));
    else await ask('POST', '/audit/restore', resource);
  }
};

/** Replays the log, and stops wherever it is told to. */
const replaying = async (events: readonly StoredEvent[]) => {
  const model = memoryReadStore({ collections: collectionsOf(projections) });
  const fold = projector(projections, { read: model.forRunner.get, log: () => undefined, counted: countedEvents() });
  await model.resume();
  fold.reset(true);
  let at = 0;
  let next = 0;
  const to = async (position: number): Promise<void> => {
    const some: StoredEvent[] = [];
    for (let event = events[next]; event && event.position <= position; event = events[++next]) some.push(event);
    await fold.take(some);
    if (position > at) await model.apply(fold.drain(), at, { position, event: '' });
    at = position;
  };
  return { model, to };
};

const plain = ({ entries, total }: Page) => ({
  entries: entries.map(({ id, text, revision }) => ({ id, text, revision })),
  total,
});

describe('documents as of a position', () => {
  let service: TestService;
  let log: EventStore;
  const events: StoredEvent[] = [];

  before(async function () {
    this.timeout(600_000);
    service = await startService();
    await loadSample(service.url, 'admin', adminPassword);
    await changeAll(service);
    log = withPayloads(await openSqliteReader(join(service.folder, 'events.db')), mayHaveParts);
    const eventsNow = async (): Promise<readonly StoredEvent[]> => {
      const found: StoredEvent[] = [];
      for await (const batch of log.readAll(0)) found.push(...batch.events);
      return found;
    };
    await changeAtRandom(service, await eventsNow());
    events.push(...(await eventsNow()));
  });
  after(async () => {
    await log.close();
    await service.stop();
  });

  it('equal those of a replay that stops there, document by document, in lists, with filters and totals', async () => {
    const all = events.map(({ position }) => position);
    const positions = [0, ...sampledPositions(all)];
    const { model, to } = await replaying(events);
    const reads = pastReads({ log, memory: 64 * 2 ** 20 });
    let documents = 0;
    for (const position of positions) {
      await to(position);
      const there = new Map<string, Entry[]>();
      for (const [collection, entry] of model.entries())
        there.set(collection, [...(there.get(collection) ?? []), entry]);
      for (const { name, sorts, filters, partitioned } of specs) {
        // Known types of events are there from the beginning, as in a service.
        if (position === 0 && name === 'events') continue;
        const entries = there.get(name) ?? [];
        documents += entries.length;
        const ids = [...entries.map(({ id }) => id), 'nothing/there'];
        const past = await reads.getMany(position, name, ids);
        assert.deepEqual(past, [...entries, undefined], `${name} as of ${position}`);
        const parts = partitioned ? new Set(entries.map(({ id }) => id.slice(0, id.indexOf('/')))) : [undefined];
        for (const part of parts)
          for (const query of queriesOf(sorts, filters, entries, part)) {
            const expected = plain(await model.list(name, query));
            assert.deepEqual(await reads.list(position, name, query), expected, `${name} as of ${position}`);
          }
        if (partitioned) continue;
        const names = new Set(entries.map((entry) => entry.sorts[sorts[0] ?? ''] ?? ''));
        for (const one of [...names, 'nothing'])
          assert.deepEqual(await reads.idsNamed(position, name, one), await model.idsNamed(name, one));
      }
    }
    assert.ok(documents > positions.length * 20, `only ${documents} documents were compared`);
    if (process.env.TEST_LOG) process.stderr.write(`${positions.length} positions, ${documents} documents\n`);
  }).timeout(3_600_000);

  it('texts are left out of a model that takes more than a quarter of the memory; lists are the same', async () => {
    const position = events.at(-1)?.position ?? 0;
    const query: Query = { sort: 'name', order: 1, skip: 0, limit: 1000 };
    const [large, small] = [64 * 2 ** 20, 40_000].map((memory) => pastReads({ log, memory }));
    for (const collection of ['automations', 'triggers', 'commandTemplates'])
      assert.deepEqual(await small?.list(position, collection, query), await large?.list(position, collection, query));
  });

  it('a collection that does not fit at all is refused with a hint; a document alone is not', async () => {
    const position = events.at(-1)?.position ?? 0;
    const reads = pastReads({ log, memory: 2000 });
    const query: Query = { sort: 'name', order: 1, skip: 0, limit: 10 };
    await assert.rejects(reads.list(position, 'automations', query), {
      code: 'limited',
      message: /ASOF_MEMORY: .* by id, or raise/,
    });
    const { model, to } = await replaying(events);
    await to(position);
    const { entries } = await model.list('automations', query);
    const { id } = entries[0] ?? assert.fail('no automation is left');
    const [entry] = await reads.getMany(position, 'automations', [id]);
    assert.equal(entry?.id, id);
  });
});

/** 8 random positions; 300 in a soak (`SOAK_ROUNDS=1 npx mocha test/asOfReplay.test.ts`), whose log has more. */
const sampledPositions = (all: readonly number[]): readonly number[] => sampled(all, 8, 300);

/** Each order; each filter by one of its values, exactly and by a part of it. */
const queriesOf = (
  sorts: readonly string[],
  filters: readonly string[],
  entries: readonly Entry[],
  part: string | undefined,
): readonly Query[] => {
  const [first = ''] = sorts;
  const where = part === undefined ? {} : { part };
  const ordered = sorts.flatMap((sort) => [
    { ...where, sort, order: 1 as const, skip: 0, limit: 1000 },
    { ...where, sort, order: -1 as const, skip: 1, limit: 3 },
  ]);
  const filtered = filters.flatMap((field) => {
    const values = entries.flatMap((entry) => entry.filters[field] ?? []);
    const value = values[Math.floor(values.length / 2)] ?? 'nothing';
    return (['equals', 'startsWith', 'contains'] as const).map((op) => ({
      ...where,
      where: { field, op, value: op === 'equals' ? value : value.slice(0, 3) },
      sort: first,
      order: 1 as const,
      skip: 0,
      limit: 10,
    }));
  });
  return [...ordered, ...filtered];
};

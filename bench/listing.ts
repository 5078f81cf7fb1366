import assert from 'node:assert/strict';
import type { GroupMapping } from '../src/domain/group-mappings/groupMappings.ts';
import { type Comparison, type Findings, median, milliseconds, progress, scale } from './compare.ts';
import { mappingOf, mappings } from './kinds.ts';
import { loader } from './loader.ts';
import { expected, pathOf, type Query, queryKinds } from './queries.ts';
import { startRedis } from './redis.ts';
import { admin, ask, basic, request } from './requests.ts';
import { startWithMappings } from './service.ts';

const sizes = [1_000, 10_000, 100_000];

/** A service with so many mappings. `measure` asks one kind of query and gives the 99th percentile in milliseconds. */
const contestant = async (documents: number, url: string) => {
  const service = await startWithMappings(documents, { READSTORE_URL: url });
  const all = Array.from({ length: documents }, (_, n) => mappings.created(n).data as GroupMapping);
  const queries: readonly Query[] = queryKinds.flatMap(({ query, count }) =>
    Array.from({ length: count }, (_, n) => query(n, documents)),
  );
  const load = loader(queries.map((query) => request('GET', pathOf(query), { Authorization: basic(admin) })));
  let changes = 0;

  /** A change makes all answers that the service has kept useless. */
  const change = async (): Promise<void> => {
    const n = (++changes * 37) % documents;
    const platformGroups = [`platform-${changes % 500}`];
    const { provenance, externalGroup } = mappingOf(n);
    await ask(service.url, 'PATCH', `/group-mappings/${provenance}/${externalGroup}`, {
      body: { updates: { platformGroups } },
    });
    all[n] = { ...all[n]!, platformGroups };
    await ask(service.url, 'GET', '/group-mappings?limit=1');
  };

  return {
    measure: async (count: number): Promise<number> => {
      await change();
      const { p99, body, first } = await load.run(`${documents} mappings`, service, {
        connections: 1,
        status: 200,
        count,
      });
      assert.deepEqual(JSON.parse(Buffer.from(body).toString()), expected(all, queries[first]!));
      return p99;
    },
    stop: async (): Promise<void> => {
      await load.stop();
      await service.stop();
    },
  };
};

const withStore = async (store: string, url: string): Promise<Findings> => {
  const contestants = [];
  for (const documents of sizes) contestants.push(await contestant(documents, url));
  const found = queryKinds.map(() => sizes.map((): number[] => []));
  for (let round = 0; round <= scale.rounds; round++) {
    for (const [kind, { title, count }] of queryKinds.entries()) {
      progress(`f, ${store}: round ${round} of ${scale.rounds}, ${title}`);
      for (const [size, { measure }] of contestants.entries()) {
        const p99 = await measure(count);
        if (round > 0) found[kind]![size]!.push(p99);
      }
    }
  }
  progress('');
  for (const { stop } of contestants) await stop();
  return {
    comparisons: queryKinds.map(
      ({ title, filtered }, kind): Comparison => ({
        what: `(f) p99 of lists, ${store}, ${title}, 100,000 mappings`,
        comparedWith: '1,000 mappings',
        ours: found[kind]![2]!,
        theirs: found[kind]![0]!,
        shown: milliseconds,
        goal: { most: filtered ? 20 : 2 },
      }),
    ),
    notes: [
      `(f) p99 at 10,000 mappings, ${store}: ${queryKinds.map(({ title }, kind) => `${title} ${milliseconds(median(found[kind]![1]!))}`).join(', ')}.`,
    ],
  };
};

/** (f) How the slowest lists grow with the number of documents, in both read stores. */
export const listing = async (): Promise<Findings> => {
  const inMemory = await withStore('memory', 'memory:');
  const redis = await startRedis();
  const inRedis: Findings =
    redis === undefined
      ? { comparisons: [], notes: ['(f) **Redis is not measured: redis-server is not installed.**'] }
      : await withStore('Redis', redis);
  return {
    comparisons: [...inMemory.comparisons, ...inRedis.comparisons],
    notes: [...inMemory.notes!, ...inRedis.notes!],
  };
};

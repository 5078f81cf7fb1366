import { type Comparison, type Findings, median, milliseconds, progress, scale } from './compare.ts';
import { loader } from './loader.ts';
import { startService, temporary } from './processes.ts';
import { startRedis } from './redis.ts';
import { admin, ask, basic, request } from './requests.ts';
import { ready } from './service.ts';

const sizes = { small: 1_000, large: 100_000 };
const added = 1_000;
const perRequest = 10_000;
const perKind = 300;
const base = '/inventory_manager/v1';

const nodeOf = (n: number) => ({
  name: `switch-${String((n * 7919) % 1_000_003).padStart(7, '0')}`,
  tags: [`site-${n % 50}`, n % 2 ? 'access' : 'edge'],
  attributes: {
    host: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`,
    port: 22,
    platform: 'cisco-ios-xe',
    serial: `FDO${n}`,
  },
});
const nodesOf = (from: number, count: number) => Array.from({ length: count }, (_, n) => nodeOf(from + n));

type Kind = {
  readonly title: string;
  readonly filtered: boolean;
  readonly query: (n: number, nodes: number) => string;
};
const kinds: readonly Kind[] = [
  { title: 'pages', filtered: false, query: (n, nodes) => `skip=${(n * 37) % nodes}` },
  { title: 'equals a tag', filtered: true, query: (n) => `multiEquals[tags]=site-${n % 50}&skip=${n % 10}` },
  {
    title: 'contains in the name',
    filtered: true,
    query: (n) => `multiContains[name]=${String(n % 100).padStart(2, '0')}`,
  },
];

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const withStore = async (store: string, url: string): Promise<Findings> => {
  const service = await startService(await temporary(), { READSTORE_URL: url });
  await ready(service.url);
  const add = async (inventory: string, from: number, count: number): Promise<void> => {
    for (let at = 0; at < count; at += perRequest)
      await ask(service.url, 'POST', `${base}/inventories/${inventory}/nodes`, {
        body: { nodes: nodesOf(from + at, Math.min(perRequest, count - at)) },
      });
  };
  const settle = (inventory: string) => ask(service.url, 'GET', `${base}/inventories/${inventory}/nodes?limit=1`);
  for (const inventory of ['small', 'large', 'empty'])
    await ask(service.url, 'POST', `${base}/inventories`, { body: { name: inventory } });

  const found = kinds.map(() => ({ small: [] as number[], large: [] as number[] }));
  const adding = { empty: [] as number[], large: [] as number[] };
  const clearing = { small: [] as number[], large: [] as number[], after: [] as number[] };
  for (let round = 0; round <= scale.rounds; round++) {
    progress(`g, ${store}: round ${round} of ${scale.rounds}`);
    for (const [inventory, nodes] of Object.entries(sizes) as ['small' | 'large', number][]) {
      await add(inventory, 0, nodes);
      await settle(inventory);
      for (const [at, { query }] of kinds.entries()) {
        const load = loader(
          Array.from({ length: perKind }, (_, n) =>
            request('GET', `${base}/inventories/${inventory}/nodes?${query(n, nodes)}`, {
              Authorization: basic(admin),
            }),
          ),
        );
        const { p99 } = await load.run(inventory, service, { connections: 1, status: 200, count: perKind });
        if (round > 0) found[at]![inventory].push(p99);
        await load.stop();
      }
    }
    for (const [inventory, from] of [
      ['empty', 0],
      ['large', sizes.large],
    ] as const) {
      const ms = await timed(() => add(inventory, from, added));
      if (round > 0) adding[inventory].push(ms);
      await settle(inventory);
    }
    for (const inventory of ['small', 'large', 'empty'] as const) {
      const ms = await timed(() => ask(service.url, 'DELETE', `${base}/nodes/clear/${inventory}`));
      const after = await timed(() => settle(inventory));
      if (round > 0 && inventory !== 'empty') clearing[inventory].push(ms);
      if (round > 0 && inventory === 'large') clearing.after.push(after);
    }
  }
  progress('');
  await service.stop();
  return {
    comparisons: [
      ...kinds.map(
        ({ title, filtered }, kind): Comparison => ({
          what: `(g) p99 of lists of nodes, ${store}, ${title}, inventory of 100,000`,
          comparedWith: 'inventory of 1,000',
          ours: found[kind]!.large,
          theirs: found[kind]!.small,
          shown: milliseconds,
          goal: { most: filtered ? 20 : 2 },
        }),
      ),
      {
        what: `(g) adding 1,000 nodes, ${store}, to 100,000`,
        comparedWith: 'to none',
        ours: adding.large,
        theirs: adding.empty,
        shown: milliseconds,
        goal: { most: 2 },
      },
      {
        what: `(g) clearing 100,000 nodes, ${store}`,
        comparedWith: '1,000 nodes',
        ours: clearing.large,
        theirs: clearing.small,
        shown: milliseconds,
        goal: { most: 20 },
      },
    ],
    notes: [
      `(g) ${store}: the first list after 100,000 nodes were cleared came after ${milliseconds(median(clearing.after))}.`,
    ],
  };
};

/** (g) What an inventory's size does to its lists, to adding and to clearing, in both read stores. */
export const nodes = async (): Promise<Findings> => {
  const inMemory = await withStore('memory', 'memory:');
  const redis = await startRedis();
  const inRedis: Findings =
    redis === undefined
      ? { comparisons: [], notes: ['(g) **Redis is not measured: redis-server is not installed.**'] }
      : await withStore('Redis', redis);
  return {
    comparisons: [...inMemory.comparisons, ...inRedis.comparisons],
    notes: [...inMemory.notes!, ...inRedis.notes!],
  };
};

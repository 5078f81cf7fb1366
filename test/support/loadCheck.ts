import assert from 'node:assert/strict';
import type { Recorded } from '../../src/store/event.ts';
import { type ApiNode, note, soon } from './cluster.ts';
import type { Load } from './load.ts';
import { startService } from './service.ts';

const unavailable = async (node: ApiNode): Promise<boolean> =>
  (await node.ask('GET', '/group-mappings?limit=1')).status === 503;
export const saysSo = (...nodes: readonly ApiNode[]) =>
  Promise.all(nodes.map((node) => soon(`${node.name} answers 503`, () => unavailable(node))));
export const takesOver = async (node: ApiNode): Promise<void> =>
  note(`${node.name} leads after ${await soon(`${node.name} takes the lead`, () => node.leads())} ms`);
/** Until the node has acknowledged some more changes. */
export const goesOn = async (load: Load, node: ApiNode): Promise<void> => {
  const enough = load.stored(node) + 30;
  note(`${node.name} goes on after ${await soon(`${node.name} goes on`, () => load.stored(node) >= enough)} ms`);
};

/** All of a collection, as a node shows it, page by page. */
const pagesOf = async (ask: ApiNode['ask'], path: string): Promise<readonly string[]> => {
  const pages: string[] = [];
  for (let skip = 0, total = 1; skip < total; skip += 1000) {
    const { status, text, body, headers } = await ask('GET', `${path}?limit=1000&skip=${skip}`);
    if (status !== 200) return [`${path}: ${status}`];
    total = body.total ?? body.metadata.total;
    pages.push(`${headers.get('etag')} ${text}`);
  }
  return pages;
};

type Checked = {
  readonly nodes: readonly ApiNode[];
  /** What a further node needs to be one on the same log. */
  readonly settings: Readonly<Record<string, string>>;
  /** The events that the log has got since it was last asked, seen to be complete. */
  readonly audit: () => Promise<readonly Recorded[]>;
};

/** Compares what a load was told, once it has ended, with what the nodes show and what the log has. */
export const loadCheck = ({ nodes, settings, audit }: Checked) => {
  const lists = [
    '/group-mappings',
    '/operations-manager/automations',
    '/operations-manager/jobs',
    '/authorization/accounts',
    '/authorization/groups',
    '/configuration_manager/adapters',
  ];
  const shown = async (ask: ApiNode['ask'], singles: readonly string[]) => ({
    lists: await Promise.all(lists.map((path) => pagesOf(ask, path))),
    singles: await Promise.all(
      singles.map((path) => ask('GET', path).then(({ text, headers }) => `${headers.get('etag')} ${text}`)),
    ),
  });

  /** What every node shows in the end is what one shows that has nothing but the log; given back. */
  const agreeing = async (singles: readonly string[]) => {
    const fresh = await startService({ ...settings });
    try {
      let [expected, found] = [await shown(fresh.ask, singles), [] as unknown[]];
      // What was given up may still be on its way.
      const agree = async (): Promise<boolean> => {
        expected = await shown(fresh.ask, singles);
        found = await Promise.all(nodes.map(({ ask }) => shown(ask, singles)));
        return found.every((one) => JSON.stringify(one) === JSON.stringify(expected));
      };
      await soon('all nodes show the same', agree).catch((error: unknown) => {
        process.stderr.write(`Of a fresh node ${JSON.stringify(expected)}, of the others ${JSON.stringify(found)}\n`);
        throw error;
      });
      return expected.lists;
    } finally {
      await fresh.stop();
    }
  };

  return async ({ wishes, values, wrong }: Load, round: string): Promise<void> => {
    assert.deepEqual(wrong, []);
    const stored = wishes.filter(({ outcome }) => outcome === 'stored');
    const named = (kind: string) => stored.filter((wish) => wish.kind === kind).map(({ name }) => name);

    const singles = [
      ...named('groupMapping')
        .slice(-10)
        .map((name) => `/group-mappings/load/${name}`),
      ...named('automation')
        .slice(-10)
        .map((name) => `/operations-manager/automations/${name}`),
    ];
    const [mappings, automations, jobs] = (await agreeing(singles)).map((pages) =>
      pages.flatMap((page) => {
        const body = JSON.parse(page.slice(page.indexOf('{')));
        return body.results ?? body.data;
      }),
    );
    const once = (names: readonly string[]): Set<string> => {
      const all = new Set(names);
      assert.equal(all.size, names.length, 'something is there twice');
      return all;
    };
    const [automationNames, jobNames] = [
      once(automations!.map(({ name }) => name)),
      // Others were started by triggers.
      once(jobs!.filter(({ trigger }) => trigger === null).map(({ description }) => description)),
    ];
    assert.deepEqual(
      named('automation').filter((name) => !automationNames.has(name)),
      [],
      'acknowledged automations are there',
    );
    assert.deepEqual(
      named('job').filter((name) => !jobNames.has(name)),
      [],
      'acknowledged jobs are there',
    );
    const found = new Map(mappings!.map(({ externalGroup, platformGroups }) => [externalGroup, platformGroups[0]]));
    for (const [name, value] of values) assert.equal(found.get(name), value, name);

    // In the log: the requests that stored something, by their key.
    const requests = new Map<string, Set<string>>();
    for (const {
      stream,
      metadata: { idempotency, requestId },
    } of await audit()) {
      const key = /^(groupMapping|automation|job)-/.test(stream) ? idempotency?.key.split(' ').at(-1) : undefined;
      if (key?.startsWith(`${round}-`)) requests.set(key, (requests.get(key) ?? new Set()).add(requestId));
    }
    for (const { key, outcome } of wishes) {
      const times = requests.get(key)?.size ?? 0;
      assert.ok(
        outcome === 'stored' ? times === 1 : outcome === 'refused' ? times === 0 : times <= 1,
        `${key} was ${outcome} and is in the log ${times} times`,
      );
    }
  };
};

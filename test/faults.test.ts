import assert from 'node:assert/strict';
// Loaded ahead: one of its packages makes a global, which would count as a leak of the test that loads it.
import '../src/store/eventstoredb.ts';
import { type ApiNode, type Cluster, cluster, note, soon } from './cluster.ts';
import { type Load, startLoad } from './load.ts';
import { logAudit } from './logAudit.ts';
import { describeOwnRedis, type OwnRedis } from './redisServer.ts';
import { sampled } from './sample.ts';
import { startService } from './service.ts';

type Scene = { readonly round: string; readonly nodes: Cluster; readonly redis: OwnRedis; readonly load: Load; readonly leader: ApiNode; readonly other: ApiNode };

const unavailable = async (node: ApiNode): Promise<boolean> => (await node.ask('GET', '/group-mappings?limit=1')).status === 503;
const saysSo = (...nodes: readonly ApiNode[]) => Promise.all(nodes.map((node) => soon(`${node.name} answers 503`, () => unavailable(node))));
const takesOver = async (node: ApiNode): Promise<void> => note(`${node.name} leads after ${await soon(`${node.name} takes the lead`, () => node.leads())} ms`);
/** Until the node has acknowledged some more changes. */
const goesOn = async (load: Load, node: ApiNode): Promise<void> => {
  const enough = load.stored(node) + 30;
  note(`${node.name} goes on after ${await soon(`${node.name} goes on`, () => load.stored(node) >= enough)} ms`);
};

/** The leader loses some of its ways out until the other has taken over. */
const losing = (how: 'cut' | 'stall', ...ways: readonly ('toLog' | 'toRedis')[]) => async ({ load, leader, other }: Scene): Promise<void> => {
  for (const way of ways) leader[way][how]();
  await Promise.all([saysSo(leader), takesOver(other)]);
  await goesOn(load, other);
  for (const way of ways) leader[way].resume();
};

/** What happens while the load runs, and what must be seen of it. Afterwards all nodes must go on by themselves. */
const troubles: Record<string, (scene: Scene) => Promise<void>> = {
  'kill -9 of the node that leads': async ({ load, leader, other }) => {
    await leader.kill();
    await takesOver(other);
    await goesOn(load, other);
    await leader.start();
  },
  'kill -9 of a node that does not lead': async ({ load, leader, other }) => {
    await other.kill();
    await goesOn(load, leader);
    await other.start();
  },
  'kill -9 of both nodes': async ({ leader, other }) => {
    await Promise.all([leader.kill(), other.kill()]);
    await Promise.all([leader.start(), other.start()]);
  },
  'a crash of Redis, which forgets everything': async ({ redis }) => {
    await redis.kill();
    await redis.start();
  },
  'an outage of Redis': async ({ redis, leader, other }) => {
    await redis.kill();
    await saysSo(leader, other).finally(() => redis.start());
  },
  'kill -9 of the log node': async ({ nodes: { log }, leader, other }) => {
    await log.kill();
    await saysSo(leader, other);
    await log.start();
  },
  'a leader that is cut off from Redis': losing('cut', 'toRedis'),
  'a leader whose connections to Redis stall': losing('stall', 'toRedis'),
  'a leader that is cut off from the log': losing('cut', 'toLog'),
  'a leader whose connection to the log stalls': losing('stall', 'toLog'),
  'a leader whose connections all stall': losing('stall', 'toLog', 'toRedis'),
  'a leader that is stopped while its connections stall': async ({ load, leader, other }) => {
    for (const way of ['toLog', 'toRedis'] as const) leader[way].stall();
    assert.equal(await leader.stop(), 0);
    await takesOver(other);
    await goesOn(load, other);
    for (const way of ['toLog', 'toRedis'] as const) leader[way].resume();
    await leader.start();
  },
  'a node that does not lead and is cut off from Redis, then from the log': async ({ load, leader, other }) => {
    for (const way of [other.toRedis, other.toLog]) {
      way.cut();
      await saysSo(other);
      await goesOn(load, leader);
      way.resume();
      await goesOn(load, other);
    }
  },
  'a leader that stands still for longer than its lease': async ({ round, leader, other }) => {
    const create = (node: ApiNode) => node.ask('POST', '/operations-manager/automations', { name: `${round}-asleep` }, { 'Idempotency-Key': `${round}-asleep` });
    leader.sleep();
    try {
      const asked = create(leader);
      await takesOver(other);
      const { status, body } = await create(other);
      assert.equal(status, 200);
      leader.wake();
      // What it was asked in its sleep it carries out now, or again: it is the same automation.
      for (let late = await asked; ; late = await create(leader)) {
        assert.ok([0, 200, 503].includes(late.status), late.text);
        if (late.status !== 200) continue;
        assert.equal(late.body.data._id, body.data._id);
        break;
      }
    } finally {
      leader.wake();
    }
  },
};

/** What happens: in CI some of it, in a soak all of it as many times as there are rounds for. */
const tried = sampled(Object.entries(troubles), 5);
const rounds = Number(process.env.SOAK_ROUNDS ?? tried.length);

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

describeOwnRedis('several nodes under load', function (redis) {
  let nodes: Cluster;
  let audit: ReturnType<typeof logAudit>;
  before(async function () {
    this.timeout(300_000);
    nodes = await cluster(redis());
    await nodes.start();
    audit = logAudit(nodes.logFile);
  });
  after(() => nodes?.remove());

  const lists = ['/group-mappings', '/operations-manager/automations', '/operations-manager/jobs', '/authorization/accounts', '/authorization/groups', '/configuration_manager/adapters'];
  const shown = async (ask: ApiNode['ask'], singles: readonly string[]) => ({
    lists: await Promise.all(lists.map((path) => pagesOf(ask, path))),
    singles: await Promise.all(singles.map((path) => ask('GET', path).then(({ text, headers }) => `${headers.get('etag')} ${text}`))),
  });

  /** What every node shows in the end is what one shows that has nothing but the log; given back. */
  const agreeing = async (singles: readonly string[]) => {
    const fresh = await startService({ ...nodes.settings });
    try {
      let [expected, found] = [await shown(fresh.ask, singles), [] as unknown[]];
      // What was given up may still be on its way.
      const agree = async (): Promise<boolean> => {
        expected = await shown(fresh.ask, singles);
        found = await Promise.all(nodes.nodes.map(({ ask }) => shown(ask, singles)));
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

  const check = async ({ wishes, values, wrong }: Load, round: string): Promise<void> => {
    assert.deepEqual(wrong, []);
    const stored = wishes.filter(({ outcome }) => outcome === 'stored');
    const named = (kind: string) => stored.filter((wish) => wish.kind === kind).map(({ name }) => name);

    const singles = [...named('groupMapping').slice(-10).map((name) => `/group-mappings/load/${name}`), ...named('automation').slice(-10).map((name) => `/operations-manager/automations/${name}`)];
    const [mappings, automations, jobs] = (await agreeing(singles)).map((pages) => pages.flatMap((page) => {
      const body = JSON.parse(page.slice(page.indexOf('{')));
      return body.results ?? body.data;
    }));
    const once = (names: readonly string[]): Set<string> => {
      const all = new Set(names);
      assert.equal(all.size, names.length, 'something is there twice');
      return all;
    };
    const [automationNames, jobNames] = [once(automations!.map(({ name }) => name)), once(jobs!.map(({ description }) => description))];
    assert.deepEqual(named('automation').filter((name) => !automationNames.has(name)), [], 'acknowledged automations are there');
    assert.deepEqual(named('job').filter((name) => !jobNames.has(name)), [], 'acknowledged jobs are there');
    const found = new Map(mappings!.map(({ externalGroup, platformGroups }) => [externalGroup, platformGroups[0]]));
    for (const [name, value] of values) assert.equal(found.get(name), value, name);

    // In the log: the requests that stored something, by their key.
    const requests = new Map<string, Set<string>>();
    for (const { stream, metadata: { idempotency, requestId } } of await audit()) {
      const key = /^(groupMapping|automation|job)-/.test(stream) ? idempotency?.key.split(' ').at(-1) : undefined;
      if (key?.startsWith(`${round}-`)) requests.set(key, (requests.get(key) ?? new Set()).add(requestId));
    }
    for (const { key, outcome } of wishes) {
      const times = requests.get(key)?.size ?? 0;
      assert.ok(outcome === 'stored' ? times === 1 : outcome === 'refused' ? times === 0 : times <= 1, `${key} was ${outcome} and is in the log ${times} times`);
    }
  };

  for (let n = 0; n < rounds; n++) {
    const [trouble, happen] = tried[n % tried.length]!;
    it(`lose nothing, store nothing twice, never answer wrongly and heal by themselves: ${trouble}`, async function () {
      const round = `r${n}`;
      const load = startLoad({ nodes: nodes.nodes, round });
      try {
        await Promise.all(nodes.nodes.map((node) => goesOn(load, node)));
        const roles = await nodes.roles();
        await load.burst();
        await happen({ round, nodes, redis: redis(), load, ...roles });
        await Promise.all(nodes.nodes.map((node) => goesOn(load, node)));
        await Promise.all(nodes.nodes.map((node) => soon(`${node.name} is ready`, () => node.ready())));
      } finally {
        // What a failure left behind must not spoil the next round.
        await nodes.mend();
        await load.stop();
        note(`${JSON.stringify(load.tally())}; ${nodes.nodes.map(({ name, logged }) => `${name} has logged:\n${logged()}`).join('')}`);
      }
      await check(load, round);
    });
  }
});

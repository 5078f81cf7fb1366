import assert from 'node:assert/strict';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import { type ApiNode, type Cluster, type ClusterNode, cluster, note, soon } from '../../support/cluster.ts';
import { type Load, startLoad } from '../../support/load.ts';
import { goesOn, loadCheck, saysSo, takesOver } from '../../support/loadCheck.ts';
import { logAudit } from '../../support/logAudit.ts';
import { describeOwnRedis, type OwnRedis } from '../../support/redisServer.ts';
import { sampled } from '../../support/sample.ts';

type Scene = {
  readonly round: string;
  readonly nodes: Cluster;
  readonly redis: OwnRedis;
  readonly load: Load;
  readonly leader: ClusterNode;
  readonly other: ClusterNode;
};

/** The leader loses some of its ways out until the other has taken over. */
const losing =
  (how: 'cut' | 'stall', ...ways: readonly ('toLog' | 'toRedis')[]) =>
  async ({ load, leader, other }: Scene): Promise<void> => {
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
    const create = (node: ApiNode) =>
      node.ask(
        'POST',
        '/operations-manager/automations',
        { name: `${round}-asleep` },
        { 'Idempotency-Key': `${round}-asleep` },
      );
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

describeOwnRedis('several nodes under load', (redis) => {
  let nodes: Cluster;
  let check: ReturnType<typeof loadCheck>;
  before(async function () {
    this.timeout(300_000);
    nodes = await cluster(redis());
    await nodes.start();
    check = loadCheck({
      nodes: nodes.nodes,
      settings: nodes.settings,
      audit: logAudit(() => openSqliteReader(nodes.logFile)),
    });
  });
  after(() => nodes?.remove());

  for (let n = 0; n < rounds; n++) {
    const [trouble, happen] = tried[n % tried.length]!;
    it(`lose nothing, store nothing twice, never answer wrongly and heal by themselves: ${trouble}`, async () => {
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
        note(
          `${JSON.stringify(load.tally())}; ${nodes.nodes.map(({ name, logged }) => `${name} has logged:\n${logged()}`).join('')}`,
        );
      }
      await check(load, round);
    });
  }
});

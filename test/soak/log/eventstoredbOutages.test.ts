import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EventStoreDBClient } from '@eventstore/db-client';
import { openEventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import { type ApiNode, nodesOver, soon } from '../../support/cluster.ts';
import { type Firing, firingOn } from '../../support/firing.ts';
import { type Load, startLoad } from '../../support/load.ts';
import { goesOn, loadCheck } from '../../support/loadCheck.ts';
import { logAudit } from '../../support/logAudit.ts';
import { eventsIn } from '../../support/logged.ts';
import { describeOwnRedis, type OwnRedis } from '../../support/redisServer.ts';

/*
 * Two nodes of the service on a real cluster of EventStoreDB, whose nodes are killed, stopped and held up while clients
 * change things and triggers fire.
 * docs/eventstoredb.md says what TEST_ESDB_URL and SOAK_ESDB_COMMAND are.
 */
const url = process.env.TEST_ESDB_URL;
const program = process.env.SOAK_ESDB_COMMAND;
const rounds = Number(process.env.SOAK_ROUNDS ?? 1);

/** What can be done to the nodes of the cluster, which have the numbers 1 to 3. */
const run = async (...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program!, [...args])).stdout.trim();
const kill = (node: string) => run('kill', node);
const stop = (node: string) => run('stop', node);
const start = (node: string) => run('start', node);
const hold = (node: string) => run('pause', node);
const release = (node: string) => run('resume', node);
const resign = (node: string) => run('resign', node);
const forgetAll = (node: string) => run('wipe', node);
/** All nodes get new certificates of the same authority, without a restart. */
const renewCertificates = () => run('renew');
const nodeNumbers = ['1', '2', '3'] as const;

/** The node that leads the cluster; undefined while none does. */
const leaderOfCluster = (): Promise<string | undefined> =>
  run('leader').then(
    (node) => node || undefined,
    () => undefined,
  );
const clusterLeads = (): Promise<number> =>
  soon('the cluster has a leader', async () => (await leaderOfCluster()) !== undefined);

type Scene = {
  readonly leader: string;
  readonly follower: string;
  readonly redis: OwnRedis;
  readonly nodes: readonly ApiNode[];
  readonly load: Load;
};

const heldMs = 8000;
// Milliseconds. After a change of leaders the server leaves some calls without an answer for ever.
const deadline = 10_000;
const standardProjections = ['$streams', '$stream_by_category', '$by_category', '$by_event_type'];

/** A new client finds who leads now. One that is answered by no leader, or by one that has just begun, asks again. */
const switchProjections = async (to: 'enableProjection' | 'disableProjection'): Promise<void> => {
  await soon(`all projections: ${to}`, async () => {
    const client = EventStoreDBClient.connectionString(url!);
    try {
      for (const name of standardProjections) await client[to](name, { deadline });
      return true;
    } catch {
      return false;
    } finally {
      await client.dispose();
    }
  });
};

/** Projections write into the log for every event that is in it. They are off when a scene begins. */
const withProjections = async (work: () => Promise<unknown>): Promise<void> => {
  await switchProjections('enableProjection');
  await work();
  await switchProjections('disableProjection');
};

/** How many milliseconds the cluster had no leader, where a scene took it away. */
type Leaderless = number | void;

/** What happens to the cluster, or beside it; at the end of a scene every node runs. */
const scenes: Readonly<Record<string, (scene: Scene) => Promise<Leaderless>>> = {
  'nothing but a burst of changes': () => pause(3000),
  'the leader is killed': async ({ leader }) => {
    await kill(leader);
    const leaderless = await clusterLeads();
    await pause(3000);
    await start(leader);
    return leaderless;
  },
  'the leader is stopped': async ({ leader }) => {
    await stop(leader);
    const leaderless = await clusterLeads();
    await pause(3000);
    await start(leader);
    return leaderless;
  },
  'the leader resigns': async ({ leader }) => {
    await resign(leader);
    return clusterLeads();
  },
  'the leader stands still': async ({ leader }) => {
    await hold(leader);
    await pause(heldMs);
    await release(leader);
  },
  'the leader stands still for a moment': async ({ leader }) => {
    await hold(leader);
    await pause(1000);
    await release(leader);
  },
  'a follower is killed': async ({ follower }) => {
    await kill(follower);
    await pause(3000);
    await start(follower);
  },
  'a follower is stopped': async ({ follower }) => {
    await stop(follower);
    await pause(3000);
    await start(follower);
  },
  'a follower stands still': async ({ follower }) => {
    await hold(follower);
    await pause(heldMs);
    await release(follower);
  },
  'a follower comes back without its data': async ({ follower }) => {
    await stop(follower);
    await forgetAll(follower);
    await start(follower);
  },
  'both followers stand still: no quorum': async ({ leader }) => {
    const followers = nodeNumbers.filter((node) => node !== leader);
    await Promise.all(followers.map(hold));
    await pause(5000);
    await Promise.all(followers.map(release));
  },
  'all certificates are renewed': async () => {
    await renewCertificates();
  },
  'projections are switched on': () => withProjections(() => pause(10_000)),
  'projections are on and the leader is killed': async ({ leader }) => {
    let leaderless = 0;
    await withProjections(async () => {
      await kill(leader);
      leaderless = await clusterLeads();
      await start(leader);
      await run('wait');
    });
    return leaderless;
  },
  'the leader is killed twice': async ({ leader }) => {
    await kill(leader);
    const first = await clusterLeads();
    await start(leader);
    await run('wait');
    const next = (await leaderOfCluster())!;
    await kill(next);
    const second = await clusterLeads();
    await start(next);
    return Math.max(first, second);
  },
  'two nodes are killed: no quorum': async ({ leader, follower }) => {
    await Promise.all([kill(leader), kill(follower)]);
    await pause(5000);
    await Promise.all([start(leader), start(follower)]);
  },
  'all nodes are killed': async () => {
    await Promise.all(nodeNumbers.map(kill));
    await Promise.all(nodeNumbers.map(start));
  },
  'all nodes are restarted one after the other': async () => {
    for (const node of nodeNumbers) {
      await stop(node);
      await start(node);
      await run('wait');
    }
  },
  'the leader and a node of the service are killed': async ({ leader, nodes }) => {
    await Promise.all([kill(leader), nodes[0]!.kill()]);
    await clusterLeads();
    await Promise.all([start(leader), nodes[0]!.start()]);
  },
  'the leader is killed and Redis forgets everything': async ({ leader, redis }) => {
    await Promise.all([kill(leader), redis.kill()]);
    await redis.start();
    await clusterLeads();
    await start(leader);
  },
};

/** Scenes in which no node of the cluster is touched, by how their names begin. */
const untouched = ['nothing', 'all certificates', 'projections are switched on'];

describeOwnRedis('on a cluster of EventStoreDB', (redis) => {
  let nodes: ReturnType<typeof nodesOver>;
  let firing: Firing;
  let check: ReturnType<typeof loadCheck>;
  before(async function () {
    this.timeout(600_000);
    assert.ok(url && program, 'TEST_ESDB_URL and SOAK_ESDB_COMMAND are set');
    await run('wait');
    nodes = nodesOver(url, redis());
    await nodes.start();
    const open = () => openEventStoreDb({ url, log: () => undefined });
    firing = await firingOn(nodes.nodes, async () => {
      const log = await open();
      return eventsIn(log).finally(log.close);
    });
    check = loadCheck({ nodes: nodes.nodes, settings: nodes.settings, audit: logAudit(open) });
  });
  after(() => nodes?.remove());

  for (let round = 0; round < rounds; round++) {
    for (const [name, happen] of Object.entries(scenes)) {
      it(`nothing is lost or stored twice, and the service goes on by itself: ${name}`, async function () {
        this.timeout(600_000);
        const own = `s${Date.now()}`;
        const load = startLoad({ nodes: nodes.nodes, round: own });
        await firing.start();
        let leaderless: number | undefined;
        try {
          await Promise.all(nodes.nodes.map((node) => goesOn(load, node)));
          const leader = (await leaderOfCluster())!;
          const follower = nodeNumbers.find((node) => node !== leader)!;
          load.longestPause();
          const [, without] = await Promise.all([
            load.burst(),
            happen({ leader, follower, redis: redis(), nodes: nodes.nodes, load }),
          ]);
          leaderless = without ?? undefined;
          await run('wait');
          await Promise.all(nodes.nodes.map((node) => goesOn(load, node)));
          await Promise.all(nodes.nodes.map((node) => soon(`${node.name} is ready`, () => node.ready())));
        } finally {
          await Promise.all([load.stop(), firing.stop()]);
        }
        const { wishes, failures, replayed, reasons } = load.tally();
        process.stderr.write(
          `      ${wishes} changes wanted, ${failures} times no answer, ${replayed} found stored, at most ${load.longestPause()} ms without a change` +
            `${leaderless === undefined ? '' : `; the cluster had no leader for ${leaderless} ms`}\n`,
        );
        for (const [reason, times] of reasons) process.stderr.write(`        ${times} x ${reason}\n`);
        if (untouched.some((begin) => name.startsWith(begin)))
          assert.equal(failures, 0, 'no node was touched, so every request is answered');
        process.stderr.write(`        ${await firing.check()}\n`);
        await check(load, own);
      });
    }
  }
});

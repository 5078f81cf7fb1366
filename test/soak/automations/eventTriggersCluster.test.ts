import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cluster, type ClusterNode, cluster, note } from '../../support/cluster.ts';
import { makeTriggers, publishing } from '../../support/eventTriggerPrograms.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepKills } from '../../support/kills/sweep.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { expectedOf, sortedOutcome } from '../../support/triggering.ts';
import { until } from '../../support/until.ts';

const rounds = Number(process.env.SOAK_ROUNDS ?? 2);

describeOwnRedis('event triggers on two nodes', (redis) => {
  let nodes: Cluster;
  let accounts: readonly string[];
  before(async function () {
    this.timeout(300_000);
    nodes = await cluster(redis());
    await nodes.start();
    accounts = await makeTriggers(nodes.nodes[0]!);
  });
  after(async () => {
    await nodes?.remove();
  });

  const events = () => withLog(nodes.logFile, eventsIn);
  const count = ({ jobs, refused }: { jobs: readonly string[]; refused: Record<string, number> }): number =>
    jobs.length + Object.values(refused).reduce((sum, one) => sum + one, 0);
  const done = async (): Promise<void> => {
    await until(async () => {
      const all = await events();
      return count(sortedOutcome(all)) >= count(expectedOf(all, accounts)) || pause(200, false);
    }, 'the outcome of the model');
    const all = await events();
    assert.deepEqual(sortedOutcome(all), expectedOf(all, accounts));
  };
  /** Publishes through whoever answers. */
  const publish = async (ask: ClusterNode['ask'], word: string): Promise<void> => {
    await until(async () => (await publishing(ask, 3, word)) || pause(50, false), 'an answer');
  };

  it('fire once each, whoever is asked', async function () {
    this.timeout(300_000);
    for (const [n, { ask }] of nodes.nodes.entries()) await publish(ask, `each${n}`);
    await done();
  });

  it('fire once each when the leader stands still for ten seconds and goes on', async function () {
    this.timeout(600_000);
    const { leader, other } = await nodes.roles();
    await publish(leader.ask, 'before');
    // In the midst of it.
    await until(async () => (await events()).some(({ topic }) => topic === 'jobStarted'));
    leader.sleep();
    await publish(other.ask, 'asleep');
    await pause(10_000);
    leader.wake();
    await publish(other.ask, 'awake');
    await done();
    await pause(3000);
    await done();
    await nodes.roles();
  });

  (cannotKill ? it.skip : it)(`fire once each when the log is killed at any fsync${cannotKill}`, async function () {
    this.timeout(3_600_000);
    const [first] = nodes.nodes;
    assert.ok(first);
    await sweepKills(async (n, limit) => {
      await nodes.log.stop();
      await nodes.log.start(limit).catch(() => undefined);
      const all = publish(first.ask, `fsync${n}`).then(done);
      const lived = await Promise.race([all.then(() => true), nodes.log.ended().then(() => false)]);
      if (lived) return true;
      await nodes.log.kill();
      await nodes.log.start();
      await all;
      return false;
    });
    await nodes.log.stop();
    await nodes.log.start();
  });

  it('fire once each when the leader, or the node with the log, is killed in the midst of it', async function () {
    this.timeout(1_200_000);
    for (let round = 0; round < rounds; round++) {
      const { leader, other } = await nodes.roles();
      const victim = round % 2 === 0 ? leader : nodes.log;
      const jobs = async () => (await events()).filter(({ topic }) => topic === 'jobStarted').length;
      const before = await jobs();
      const publishes = publish(other.ask, `round${round}`);
      await until(async () => (await jobs()) > before + 4 * round, 'some jobs');
      await victim.kill();
      note(`killed after ${(await jobs()) - before} jobs`);
      if (victim === nodes.log) await nodes.log.start();
      await publishes;
      await done();
      await nodes.mend();
    }
  });
});

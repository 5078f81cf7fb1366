import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { type Cluster, type ClusterNode, cluster } from '../../support/cluster.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';

type Answered = Awaited<ReturnType<ClusterNode['ask']>>;

const path = '/operations-manager/automations';

describeOwnRedis('earlier times on two nodes over Redis and a log on the network', (redis) => {
  let nodes: Cluster;

  before(async function () {
    this.timeout(300_000);
    nodes = await cluster(redis());
    await nodes.start();
  });
  after(async () => {
    await nodes?.remove();
  });

  /** Asks until it is answered: the first read of a time may take longer than a request waits. */
  const asked = async (node: ClusterNode, ...args: Parameters<ClusterNode['ask']>): Promise<Answered> => {
    for (;;) {
      const answer = await node.ask(...args);
      if (answer.status !== 503) return answer;
      await pause(50);
    }
  };

  it('are the same on both: documents, names, lists, filters and times', async function () {
    this.timeout(300_000);
    const [one, two] = nodes.nodes;
    assert.ok(one && two);
    const made = await asked(one, 'POST', path, { name: 'shared' });
    assert.equal(made.status, 200, JSON.stringify(made.body));
    const id = made.body.data._id;
    const { body: then } = await asked(one, 'GET', `${path}/${id}`);
    await asked(two, 'PATCH', `${path}/${id}`, { name: 'renamed' });
    await asked(two, 'POST', path, { name: 'another' });
    const { body: now } = await asked(two, 'GET', `${path}/${id}`);
    const created = encodeURIComponent(then.data.created);
    const changed = encodeURIComponent(now.data.lastUpdated);
    for (const node of [one, two]) {
      const past = await asked(node, 'GET', `${path}/${id}?asOf=${created}`);
      assert.deepEqual(past.body, then);
      assert.deepEqual((await asked(node, 'GET', `${path}/shared?asOf=${created}`)).body, then);
      assert.equal((await asked(node, 'GET', `${path}/renamed?asOf=${created}`)).status, 404);
      const list = await asked(node, 'GET', `${path}?multiEquals[name]=shared&asOf=${created}`);
      assert.deepEqual([list.body.data, list.body.metadata.total], [[then.data], 1]);
      const later = await asked(node, 'GET', `${path}?multiEquals[name]=renamed&asOf=${changed}`);
      assert.deepEqual([later.body.data, later.body.metadata.total], [[now.data], 1]);
      const beyond = await asked(node, 'GET', `${path}?asOf=999999999999999`);
      assert.equal(beyond.status, 400);
    }
  });
});

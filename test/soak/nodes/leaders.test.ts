import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { leadStream } from '../../../src/store/eventstoredb/lead.ts';
import { type EventStoreDb, openEventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import { builtInOf } from '../../support/builtIn.ts';
import { memoryCluster, nodesOver, note, soon } from '../../support/cluster.ts';
import { firingOn } from '../../support/firing.ts';
import { eventsIn, eventsOf, storedIn, withLog } from '../../support/logged.ts';
import { memoryEventStore } from '../../support/memoryEventStore.ts';
import { describeOwnRedis, type OwnRedis } from '../../support/redisServer.ts';
import { scriptedEventStore } from '../../support/scriptedEventStore.ts';
import { until } from '../../support/until.ts';
import { webhookServer } from '../../support/webhookServer.ts';

/** How long the nodes are under load: ten minutes in a soak. */
const loadMs = process.env.SOAK_ROUNDS ? 600_000 : 4000;

const ofLog = 'automation-platform with the log';

describe('two nodes with read models in memory', () => {
  let nodes: Awaited<ReturnType<typeof memoryCluster>>;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  before(async function () {
    this.timeout(300_000);
    agents = await webhookServer({ '/later': (response) => void response.writeHead(202).end() });
    nodes = await memoryCluster({ OUTBOUND_ALLOW: '127.0.0.1' });
    await nodes.start();
  });
  after(async () => {
    agents?.close();
    await nodes?.remove();
  });

  it('have one that leads: no reader begins anew under load, and each thing fires once', async function () {
    this.timeout(loadMs + 300_000);
    const firing = await firingOn(nodes.nodes, () => withLog(nodes.logFile, eventsIn));
    await firing.start();
    await pause(loadMs);
    await firing.stop();
    note(await firing.check());
    for (const node of nodes.nodes) assert.doesNotMatch(node.logged(), /begins again|cannot be kept/);
    // The node with the log keeps its places in a table; what the other keeps is an event.
    const places = (await withLog(nodes.logFile, storedIn)).filter(({ stream }) => stream.startsWith('checkpoint-'));
    assert.deepEqual(places, []);
    const leads = await Promise.all(nodes.nodes.map(async (node) => (await node.status()).leads));
    assert.deepEqual(leads, [true, false]);
  });

  it('have jobs of a node that was killed back once it is there again, and those of the other stay', async function () {
    this.timeout(300_000);
    const admin = builtInOf(nodes.log.ask);
    await admin.agent('Patient', { runner: 'webhook', url: agents.url('/later') });
    await admin.automation('agent', 'Patient');
    const workers = new Map<string, string>();
    // Until each node has one: the faster one takes 16 at most.
    while (new Set(workers.values()).size < 2) {
      const id = await admin.start('Patient');
      await until(async () => (await admin.get(id)).claim !== null, 'a claim');
      workers.set(id, (await admin.get(id)).claim.worker);
      assert.ok(workers.size < 32);
    }
    await nodes.other.kill();
    await nodes.other.start();
    const eventsOfJob = (id: string) => withLog(nodes.logFile, (log) => eventsOf(log, `job-${id}`));
    for (const [id] of [...workers].filter(([, worker]) => worker !== ofLog)) {
      await until(async () => (await eventsOfJob(id)).length >= 4, 'another claim');
      const [, claimed, released, again] = await eventsOfJob(id);
      assert.deepEqual([released?.topic, again?.topic], ['jobReleased', 'jobClaimed']);
      assert.ok(Date.parse(released?.metadata.at ?? '') < claimed?.data.until);
    }
    for (const [id] of [...workers].filter(([, worker]) => worker === ofLog))
      assert.ok((await eventsOfJob(id)).every(({ topic }) => topic !== 'jobReleased'));
  });
});

/**
 * Two nodes over EventStoreDB: one that tests script, or a new one at TEST_ESDB_URL. One of them leads, as the log or Redis
 * says.
 */
const overEventStoreDb = (redis?: () => OwnRedis, isMixed = false): void => {
  let server: Awaited<ReturnType<typeof scriptedEventStore>> | undefined;
  let store: EventStoreDb;
  let nodes: ReturnType<typeof nodesOver>;
  before(async function () {
    this.timeout(300_000);
    const real = process.env.TEST_ESDB_URL;
    server = real === undefined ? await scriptedEventStore(memoryEventStore().handlers) : undefined;
    const url = real ?? server?.url ?? '';
    store = await openEventStoreDb({ url, log: () => undefined });
    nodes = nodesOver(url, redis?.(), isMixed);
    await nodes.start();
  });
  after(async () => {
    await nodes?.remove();
    await store?.close();
    server?.stop();
  });
  const leads = () => Promise.all(nodes.nodes.map(async (node) => (await node.status())?.leads === true));
  if (isMixed) {
    it('both lead, which docs/operations.md warns of: each thing fires once all the same', async function () {
      this.timeout(loadMs + 300_000);
      await soon('both lead', async () => !(await leads()).includes(false));
      const firing = await firingOn(nodes.nodes, () => eventsIn(store));
      await firing.start();
      await pause(loadMs);
      assert.deepEqual(await leads(), [true, true]);
      await firing.stop();
      note(await firing.check());
    });
    return;
  }
  const oneLeads = () => soon('one leads', async () => (await leads()).filter(Boolean).length === 1);

  it('have one that leads under load, and another soon after it is killed; each thing fires once', async function () {
    this.timeout(loadMs + 300_000);
    await oneLeads();
    const firing = await firingOn(nodes.nodes, () => eventsIn(store));
    await firing.start();
    await pause(loadMs);
    await oneLeads();
    for (const node of nodes.nodes) assert.doesNotMatch(node.logged(), /begins again|cannot be kept/);
    const notes = (await storedIn(store)).filter(({ stream }) => stream === leadStream);
    note(`${notes.length} notes of the lead`);
    assert.equal(notes.length > 0, redis === undefined);
    const leader = nodes.nodes[(await leads()).indexOf(true)];
    const other = nodes.nodes.find((node) => node !== leader);
    await leader?.kill();
    const took = await soon('the other leads', async () => (await other?.status())?.leads === true);
    note(`led by the other after ${took} ms`);
    assert.ok(took < 25_000, `${took}`);
    await leader?.start();
    await oneLeads();
    await firing.stop();
    note(await firing.check());
  });
};

describe('two nodes with read models in memory over EventStoreDB', () => overEventStoreDb());
// A server at TEST_ESDB_URL is new for one run only.
if (process.env.TEST_ESDB_URL === undefined) {
  describeOwnRedis('two nodes with Redis over EventStoreDB', (redis) => overEventStoreDb(redis));
  describeOwnRedis('a node with memory and one with Redis over EventStoreDB', (redis) => overEventStoreDb(redis, true));
}

import assert from 'node:assert/strict';
import { connectToRead } from '../../../src/store/sqlite/log.ts';
import { cluster, soon } from '../../support/cluster.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { people } from '../../support/people.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { startService, type TestService } from '../../support/service.ts';

const om = '/operations-manager';

/** The list in full, and functions that look at it. */
const listOf = async (service: Pick<TestService, 'ask'>, query = 'limit=1000') => {
  const { status, body, text } = await service.ask('GET', `${om}/events?${query}`);
  assert.equal(status, 200, text);
  return body;
};

const withoutSchemas = ({ data }: { readonly data: readonly any[] }) => data.map(({ schema: _, ...rest }) => rest);

// any JSON

describe('GET /operations-manager/events', () => {
  let service: TestService;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  const publish = async (where: string, headers?: Record<string, string>) => {
    const answer = await service.ask('POST', `${om}/events/${where}`, { n: 1 }, headers);
    assert.equal(answer.status, 200, answer.text);
  };
  const find = async (source: string, topic: string) => {
    const { data } = await listOf(service);
    const found = data.filter((one: any) => one.source === source && one.topic === topic); // any JSON
    assert.equal(found.length, 1, `${source} ${topic}`);
    return found[0];
  };

  it('lists the topics of the platform with their schemas before the first event', async () => {
    const { source, topic, count, last, schema } = await find('@platform/operations-manager', 'jobErrored');
    assert.deepEqual([source, topic, count, last], ['@platform/operations-manager', 'jobErrored', 0, null]);
    assert.deepEqual(schema.required, ['error']);
    const { data, metadata } = await listOf(service);
    assert.equal(metadata.total, data.length);
    assert.ok(!data.some(({ topic: one }: { topic: string }) => one === 'nameClaimed' || one === 'loggedIn'));
  });

  it('counts the events of the log', async () => {
    const { count } = await find('@platform/group-mappings', 'groupMappingCreated');
    for (const name of ['a', 'b'])
      await service.ask('PATCH', `/group-mappings/ldap/${name}`, { updates: { platformGroups: [] } });
    const { count: now, last } = await find('@platform/group-mappings', 'groupMappingCreated');
    assert.equal(now, count + 2);
    assert.ok(Math.abs(Date.now() - Date.parse(last)) < 60_000);
  });

  it('knows a published event from its first one on, and counts a retry once', async () => {
    await publish('itsm%2Feu/ticketOpened', { 'Idempotency-Key': 'one' });
    await publish('itsm%2Feu/ticketOpened', { 'Idempotency-Key': 'one' });
    const { schema, count } = await find('itsm/eu', 'ticketOpened');
    assert.deepEqual([schema, count], [null, 1]);
    await publish('itsm%2Feu/ticketOpened');
    assert.equal((await find('itsm/eu', 'ticketOpened')).count, 2);
  });

  it('is sorted, filtered and paged like all lists', async () => {
    for (const topic of ['b', 'a', 'C']) await publish(`sorted/${topic}`);
    const topics = async (query: string) => withoutSchemas(await listOf(service, query)).map(({ topic }) => topic);
    assert.deepEqual(await topics('multiEquals[source]=sorted'), ['C', 'a', 'b']);
    assert.deepEqual(await topics('multiEquals[source]=sorted&sort=topic'), ['a', 'b', 'C']);
    assert.deepEqual(await topics('multiEquals[source]=sorted&sort=topic&order=-1&skip=1&limit=1'), ['b']);
    assert.deepEqual(await topics('multiEquals[source]=sorted&multiEquals[topic]=C'), ['C']);
    assert.ok(
      (await topics('multiStartsWith[source]=%40platform%2F&multiContains[topic]=jobst')).includes('jobStarted'),
    );
    assert.equal((await service.ask('GET', `${om}/events?sort=count`)).status, 400);
  });

  it('is for operators and readers, and counts no events that they may not see', async () => {
    const { stranger, reader, outsider } = await people(service);
    const countsFor = async (ask: typeof stranger, topic: string) => {
      const { count, last } = (await ask('GET', `${om}/events?multiEquals[topic]=${topic}`)).body.data[0];
      return [count, last !== null];
    };
    await service.ask('POST', `${om}/automations`, { name: 'Hidden', gbac: { read: [], write: ['ops'] } });
    assert.deepEqual(await countsFor(service.ask, 'automationCreated'), [1, true]);
    assert.deepEqual(await countsFor(stranger, 'automationCreated'), [null, false], 'access lists decide');
    assert.deepEqual(await countsFor(stranger, 'accountCreated'), [0, false], 'operators may not read accounts');
    await service.ask('POST', '/lifecycle-manager/resources', { name: 'Open', schema: { type: 'object' } });
    assert.deepEqual(await countsFor(reader, 'resourceModelCreated'), [1, true]);
    const statuses = await Promise.all(
      [stranger, reader, outsider, service.as(null)].map(async (ask) => (await ask('GET', `${om}/events`)).status),
    );
    assert.deepEqual(statuses, [200, 200, 403, 401]);
  });

  it('says the same after a restart', async () => {
    const before = withoutSchemas(await listOf(service));
    service = await service.restart();
    const login = ({ topic }: { topic: string }) => /^account/.test(topic);
    const others = (all: readonly any[]) => all.filter((one) => !login(one)); // any JSON
    assert.deepEqual(others(withoutSchemas(await listOf(service))), others(before));
  });
});

describeOwnRedis('events that nodes over Redis have counted', (redis) => {
  itInSoak('are each counted once, whichever node leads and is killed', async function () {
    this.timeout(300_000);
    const nodes = await cluster(redis());
    try {
      await nodes.start();
      const { leader, other } = await nodes.roles();
      const publishing = [leader, other].map(async ({ ask, name }, n) => {
        for (let i = 0; i < 100; i++) {
          if (n === 0 && i === 50) await leader.kill();
          if (leader.runs() || n === 1) await ask('POST', `${om}/events/${name}/happened`, i);
        }
      });
      await Promise.all(publishing);
      await soon('the other node leads', () => other.leads());
      const db = connectToRead(nodes.logFile);
      const inLog = db
        .prepare("SELECT type, COUNT(*) FROM events WHERE stream LIKE 'publishedEvent-%' GROUP BY type ORDER BY type")
        .all() as readonly (readonly [string, number])[];
      db.close();
      const { data } = (await other.ask('GET', `${om}/events?multiEquals[topic]=happened`)).body;
      assert.deepEqual(
        data.map(({ source, topic, count }: Record<string, unknown>) => [`${source}:${topic}`, count]),
        inLog,
      );
      assert.equal(inLog.length, 2, 'both nodes have published');
    } finally {
      await nodes.remove();
    }
  });

  it('survive a restart, and are counted anew when Redis has forgotten them', async () => {
    let service = await startService({ READSTORE_URL: redis().url });
    try {
      for (let i = 0; i < 3; i++) await service.ask('POST', `${om}/events/itsm/counted`, i);
      const before = withoutSchemas(await listOf(service));
      assert.equal(before.find(({ topic }) => topic === 'counted')?.count, 3);
      service = await service.restart();
      assert.deepEqual(withoutSchemas(await listOf(service)), before);
      await service.ask('POST', `${om}/events/itsm/counted`, 3);
      const more = withoutSchemas(await listOf(service));
      assert.equal(more.find(({ topic }) => topic === 'counted')?.count, 4);
      await redis().command('FLUSHALL');
      service = await service.restart();
      assert.deepEqual(withoutSchemas(await listOf(service)), more);
    } finally {
      await service.stop();
    }
  });
});

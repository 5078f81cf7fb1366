import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Origin, snapshotName } from '../../../src/projections/snapshots/snapshot.ts';
import { originOf } from '../../../src/service/readModels.ts';
import { cluster } from '../../support/cluster.ts';
import { runInProcess } from '../../support/command.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { temporaryFolder } from '../../support/process.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { adminPassword, startService, type TestService } from '../../support/service.ts';
import { faults, spoilSnapshot } from '../../support/spoiltModels.ts';
import { until } from '../../support/until.ts';

type Collection = { readonly name: string; readonly documents: number; readonly differences: readonly string[] };

const differing = (collections: readonly Collection[]) =>
  collections.filter(({ differences }) => differences.length > 0);

const om = '/operations-manager';
const rounds = process.env.SOAK_ROUNDS ? 5 : 1;

/** An event trigger that has started a job, and what the log says of its runs. */
const firedOn = async (service: TestService) => {
  const { _id: actionId } = ok(await service.ask('POST', `${om}/automations`, { name: 'a' })).data;
  const about = { name: 't', type: 'eventSystem', enabled: true, source: 's', topic: 't', schema: null, jst: null };
  ok(await service.ask('POST', `${om}/triggers`, { ...about, actionType: 'automations', actionId }));
  const log = <T>(work: Parameters<typeof withLog<T>>[1]) => withLog(join(service.folder, 'events.db'), work);
  const place = async () => (await log((store) => store.checkpoint('triggers'))) ?? 0;
  const fired = async (): Promise<readonly string[]> =>
    (await log(eventsIn)).filter(({ topic }) => topic === 'jobStarted').map(({ data }) => data.event);
  const publish = async (): Promise<{ id: string; position: number }> => {
    const { data } = ok(await service.ask('POST', `${om}/events/s/t`, {}));
    await until(async () => (await fired()).includes(data.id), 'its job');
    return data;
  };
  const first = await publish();
  await until(async () => (await place()) >= first.position, 'the reader behind the event');
  const before = await place();
  return {
    /** Asserts that what has been done since has fired nothing: the next event starts the next job. */
    check: async (): Promise<void> => {
      assert.ok((await place()) >= before, 'the reader stays where it is');
      const next = await publish();
      assert.deepEqual(await fired(), [first.id, next.id]);
    },
  };
};

describe('a rebuild of read models', function () {
  this.timeout(300_000);
  let folder: string;
  let service: TestService;
  /** A folder of 40 mappings. */
  const clean = temporaryFolder();
  before(async () => {
    service = await startService({}, clean);
    for (let n = 0; n < 40; n++) assert.equal((await mapping(`m${n}`)).status, 200);
    await service.stop();
  });
  after(() => rmSync(clean, { recursive: true }));
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const mapping = (name: string, group = name) =>
    service.ask('PATCH', `/group-mappings/ldap/${name}`, { updates: { platformGroups: [group] } });
  const rebuild = async (): Promise<readonly Collection[]> => {
    const { status, text, body } = await service.ask('POST', '/health/rebuild');
    assert.equal(status, 200, text);
    return body.collections;
  };

  const rebuildByCommand = () =>
    runInProcess(['rebuild', '--url', service.url], { AUTOMATION_PLATFORM_PASSWORD: adminPassword });

  it('finds nothing while changes go on, and fires nothing; several may ask at once, but only admins', async () => {
    service = await startService({}, folder);
    const { check } = await firedOn(service);
    for (let n = 0; n < 20; n++) assert.equal((await mapping(`m${n}`)).status, 200);
    let done = false;
    const changing = (async () => {
      for (let n = 0; !done; n++) {
        const name = `m${n % 30}`;
        assert.equal((await mapping(name, `g${n}`)).status, 200);
        const { body } = await service.ask('GET', `/group-mappings/ldap/${name}`);
        assert.deepEqual(body.platformGroups, [`g${n}`]);
        if (n % 7 === 0) assert.equal((await service.ask('DELETE', `/group-mappings/ldap/${name}`)).status, 200);
      }
    })();
    for (let round = 0; round < rounds; round++) {
      const collections = await rebuild();
      assert.deepEqual(differing(collections), []);
      assert.equal(collections.find(({ name }) => name === 'accounts')?.documents, 1);
    }
    done = true;
    await changing;
    assert.equal((await service.ask('GET', '/health/ready')).status, 200);
    await check();
    const [one, other] = await Promise.all([rebuild(), rebuild()]);
    assert.deepEqual(one, other);
    const { status, out, err } = await rebuildByCommand();
    assert.equal(status, 0, err);
    const lines = out.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      one,
    );
    const carl = { user: 'carl', password: 'carl-password' };
    const account = { username: carl.user, password: carl.password, memberOf: ['operators', 'readers'] };
    ok(await service.ask('POST', '/authorization/accounts', account));
    assert.equal((await service.as(carl)('POST', '/health/rebuild')).status, 403);
  });

  /** A service whose snapshot has faults. */
  const spoiltService = async (more: Partial<Origin> = {}): Promise<void> => {
    cpSync(clean, folder, { recursive: true });
    await spoilSnapshot(folder, more);
    service = await startService({ LOG_LEVEL: 'info' }, folder);
  };
  const groupsOf = async (name: string) =>
    (await service.ask('GET', `/group-mappings/ldap/${name}`)).body.platformGroups;
  const total = async () => (await service.ask('GET', '/group-mappings?limit=1')).body.total;

  it('names the documents that differ, are missing or too many, and puts them right, also after a kill', async () => {
    await spoiltService();
    assert.deepEqual(await groupsOf('m3'), ['other']);
    assert.equal((await service.ask('GET', '/group-mappings/ldap/m5')).status, 404);
    assert.deepEqual(differing(await rebuild()), [{ name: 'groupMappings', documents: 40, differences: faults }]);
    assert.deepEqual([await groupsOf('m3'), await groupsOf('m5'), await total()], [['m3'], ['m5'], 40]);
    assert.ok(service.lines.some((line) => line.includes('Documents differed from the log')));
    assert.ok(!existsSync(join(folder, snapshotName)));
    const before = folder;
    folder = temporaryFolder();
    cpSync(before, folder, { recursive: true });
    // Projecting goes on from the right documents.
    await mapping('m3', 'next');
    assert.deepEqual(await groupsOf('m3'), ['next']);
    assert.deepEqual(differing(await rebuild()), []);
    await service.stop();
    rmSync(before, { recursive: true });
    service = await startService({}, folder);
    assert.deepEqual([await groupsOf('m3'), await groupsOf('m5'), await total()], [['m3'], ['m5'], 40]);
    assert.deepEqual(differing(await rebuild()), []);
  });

  it('by the command ends with 3 when a document differed', async () => {
    await spoiltService();
    const { status, out, err } = await rebuildByCommand();
    assert.equal(status, 3, err);
    assert.match(out, /"name":"groupMappings","documents":40,"differences":\["ldap m3"/);
  });

  it('is made at the start when another version has made the documents, and these serve meanwhile', async () => {
    await spoiltService({ version: 'an earlier one' });
    const header = (): { version: string } =>
      JSON.parse(readFileSync(join(folder, snapshotName), 'utf8').split('\n', 1)[0]!);
    // No request is refused at any time.
    await until(async () => {
      const { status, body } = await service.ask('GET', '/group-mappings/ldap/m3');
      assert.equal(status, 200);
      return body.platformGroups[0] === 'm3';
    }, 'the document of this version');
    assert.deepEqual([await groupsOf('m5'), await total()], [['m5'], 40]);
    assert.ok(service.lines.some((line) => line.includes('those of another version; they are made anew')));
    await until(() => header().version === originOf('').version, 'a snapshot of this version');
    assert.deepEqual(differing(await rebuild()), []);
  });

  it('is not needed for a snapshot of other collections: it is not used', async () => {
    await spoiltService({ version: 'an earlier one', shape: 'another' });
    assert.deepEqual([await groupsOf('m3'), await groupsOf('m5'), await total()], [['m3'], ['m5'], 40]);
    assert.ok(!service.lines.some((line) => line.includes('of another version')));
  });
});

describeOwnRedis('a rebuild of read models in Redis', (redis) => {
  it('fires nothing, and neither does the loss of all documents', async function () {
    this.timeout(300_000);
    const service = await startService({ READSTORE_URL: redis().url });
    try {
      const { check } = await firedOn(service);
      assert.equal((await service.ask('POST', '/health/rebuild')).status, 200);
      await redis().command('FLUSHALL');
      await until(async () => (await service.ask('GET', `${om}/automations`)).body?.metadata?.total === 1, 'documents');
      await check();
    } finally {
      await service.stop();
    }
  });

  it('is made by the node that leads, for all nodes; another one refuses', async function () {
    this.timeout(300_000);
    const nodes = await cluster(redis());
    try {
      await nodes.start();
      const { leader, other } = await nodes.roles();
      const change = (n: number) =>
        other.ask('PATCH', `/group-mappings/ldap/n${n}`, { updates: { platformGroups: [`n${n}`] } });
      for (let n = 0; n < 10; n++) assert.equal((await change(n)).status, 200);
      const groups = async (node: typeof other) =>
        (await node.ask('GET', '/group-mappings/ldap/n3')).body?.platformGroups?.join();
      await until(async () => (await groups(leader)) === 'n3' && (await groups(other)) === 'n3', 'both show it');
      const field = 'groupMappings/ldap n3';
      for (const key of (await redis().command('KEYS', '*:texts')) as readonly string[]) {
        const text = await redis().command('HGET', key, field);
        if (text !== null) await redis().command('HSET', key, field, String(text).replace('["n3"]', '["other"]'));
      }
      for (const node of [leader, other]) assert.equal(await groups(node), 'other');

      const refused = await other.ask('POST', '/health/rebuild');
      assert.equal(refused.status, 409, refused.text);
      assert.match(refused.body.message, /Another node writes the read models/);
      assert.equal(await groups(other), 'other', 'nothing was done');

      const { status, body, text } = await leader.ask('POST', '/health/rebuild');
      assert.equal(status, 200, text);
      assert.deepEqual(
        differing(body.collections).map(({ differences }) => differences),
        [['ldap n3']],
      );
      for (const node of [leader, other]) assert.equal(await groups(node), 'n3');
    } finally {
      await nodes.remove();
    }
  });
});

import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { retiredBefore } from '../../../src/projections/engine/retiring.ts';
import { foldLog } from '../../../src/projections/foldLog.ts';
import { jobs as projection } from '../../../src/projections/operations-manager/jobs.ts';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import { cluster, soon } from '../../support/cluster.ts';
import { endedJob, jobs, startConfirmed, totalOf, writeEndedJobs } from '../../support/endedJobs.ts';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok, refused } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';

const jobCount = 6000;

/** True if a node writes the read models. */
const writes = async ({ ask }: Server): Promise<boolean> =>
  (await ask('GET', '/health/status')).body?.readStore?.leads === true;

describeOwnRedis('a retirement on two nodes with one Redis', (redis) => {
  it('goes on when the leader is killed midway: both nodes and a rebuild show what the log says', async function () {
    this.timeout(600_000);
    const log = await cluster(redis(), { RETENTION_DAYS: '0' }, 0);
    mkdirSync(dirname(log.logFile), { recursive: true });
    writeEndedJobs(log.logFile, jobCount);
    await log.start();
    const folder = temporaryFolder();
    const start = (name: string): Promise<Server> =>
      startServer(join(folder, name), { ...log.settings, READSTORE_URL: redis().url, RETENTION_DAYS: '30' });
    const running = ok(await log.log.ask('POST', `${jobs}/start`, { workflow: 'Goes on' })).data._id;

    const nodes = await Promise.all([start('a'), start('b')]);
    // The process of the log leads. From here on it retires.
    const { port } = new URL(log.settings.EVENTSTORE_URL);
    const startLeader = (): Promise<Server> =>
      startConfirmed(log.log.folder, { ...log.settings, EVENTSTORE_URL: '', ESDB_PORT: port, RETENTION_DAYS: '30' });
    await log.log.kill();
    const killed = await startLeader();
    const retirements = () => withLog(log.logFile, (store) => eventsOf(store, 'retirement-job'));
    await soon('the first jobs are retired', async () => (await retirements()).length > 0);
    await killed.stop('SIGKILL');
    assert.ok((await retirements()).length < jobCount / 1000, 'some jobs are left');
    const leader = await startLeader();
    await soon('the rest is retired', async () =>
      (await Promise.all(nodes.map(totalOf))).every((total) => total === 1),
    );
    const again = await start('c');
    for (const node of [...nodes, again]) {
      assert.equal(await totalOf(node), 1);
      ok(await node.ask('GET', `${jobs}/${running}`));
      refused(await node.ask('GET', `${jobs}/${endedJob(jobCount - 1)}`), 404, /retired since/);
    }

    const [first, second] = nodes;
    const writer = (await writes(first)) ? first : second;
    const { collections } = ok(await writer.ask('POST', '/health/rebuild'));
    for (const { name, differences } of collections) assert.deepEqual(differences, [], name);
    const store = await openSqliteReader(log.logFile);
    const times: number[] = [];
    for await (const events of store.read('retirement-job'))
      for (const event of events) times.push(retiredBefore(event, projection) ?? 0);
    assert.ok(times.length >= jobCount / 1000, `${times.length} retirements`);
    assert.deepEqual(
      times,
      [...new Set(times)].sort((a, b) => a - b),
      'each retires more than the one before',
    );
    const fold = await foldLog(store);
    await fold.foldTo();
    assert.deepEqual([...fold.model.ids('jobs')], [running]);
    await store.close();
    await Promise.all([...nodes, again].map((node) => node.stop()));
    await leader.stop();
    await log.remove();
    rmSync(folder, { recursive: true, force: true });
  });
});

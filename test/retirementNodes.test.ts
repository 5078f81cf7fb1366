import assert from 'node:assert/strict';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { retiredBefore } from '../src/projections/engine/retiring.ts';
import { foldLog } from '../src/projections/foldLog.ts';
import { jobs as projection } from '../src/projections/operations-manager/jobs.ts';
import { openSqliteReader } from '../src/store/sqlite.ts';
import { cluster, soon } from './cluster.ts';
import { endedJob, jobs, totalOf, writeEndedJobs } from './endedJobs.ts';
import { ok, refused } from './people.ts';
import { type Server, startServer, temporaryFolder } from './process.ts';
import { describeOwnRedis } from './redisServer.ts';

const jobCount = 6000;

const leads = async ({ ask }: Server): Promise<boolean> =>
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
    let left = jobCount;
    await soon('both nodes drop jobs', async () => {
      const totals = await Promise.all(nodes.map(totalOf));
      left = Math.min(...totals);
      return Math.max(...totals) <= jobCount;
    });
    assert.ok(left > 1, 'some jobs are left');
    const [leader] = await Promise.all(nodes.map(leads));
    const [killed, other] = leader ? nodes : nodes.toReversed();
    await killed?.stop('SIGKILL');
    assert.ok(other);
    await soon('the other node retires the rest', async () => (await totalOf(other)) === 1);
    const again = await start('c');
    for (const node of [other, again]) {
      assert.equal(await totalOf(node), 1);
      ok(await node.ask('GET', `${jobs}/${running}`));
      refused(await node.ask('GET', `${jobs}/${endedJob(jobCount - 1)}`), 404, /retired since/);
    }

    const { collections } = ok(await other.ask('POST', '/health/rebuild'));
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
    await Promise.all([other.stop(), again.stop()]);
    await log.remove();
    rmSync(folder, { recursive: true, force: true });
  });
});

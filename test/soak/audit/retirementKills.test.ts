import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { soon } from '../../support/cluster.ts';
import { endedJob, jobs, startConfirmed, totalOf, writeEndedJobs } from '../../support/endedJobs.ts';
import { ok, refused } from '../../support/people.ts';
import { type Server, temporaryFolder } from '../../support/process.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';

/** How many jobs; more by hand. */
const jobCount = Number(process.env.RETIRED_JOBS ?? 6000);

const suite = (settings: () => Record<string, string>): void => {
  let folder: string;
  let server: Server;
  const start = async (): Promise<void> => {
    server = await startConfirmed(folder, { RETENTION_DAYS: '30', ...settings() });
  };
  before(() => {
    folder = temporaryFolder();
  });
  after(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('loses no job too many and none too few, and a rebuild gives the same', async function () {
    this.timeout(600_000);
    writeEndedJobs(join(folder, 'events.db'), jobCount);

    let last = jobCount;
    for (let kills = 0; kills < 2 && last > 0; kills++) {
      await start();
      await soon('more jobs are retired', async () => {
        const total = await totalOf(server);
        const isLess = total < last;
        if (isLess) last = total;
        else await pause(1);
        return isLess;
      });
      await server.stop('SIGKILL');
    }

    await start();
    // What was retired stays so.
    const left = await totalOf(server);
    assert.ok(left <= last, `${left} jobs where ${last} were left`);
    await soon('all jobs are retired', async () => (await totalOf(server)) === 0);
    const { results } = ok(await server.ask('GET', '/audit/events?topic=endedRetired&limit=1000'));
    assert.ok(results.length >= jobCount / 1000, `${results.length} retirements`);
    const times: readonly string[] = results.map(({ data }: any) => data.before).reverse();
    assert.deepEqual(times, [...new Set(times)].sort(), 'each retires more than the one before');
    refused(await server.ask('GET', `${jobs}/${endedJob(jobCount - 1)}`), 404, /retired since/);
    const { collections } = ok(await server.ask('POST', '/health/rebuild'));
    for (const { name, differences } of collections) assert.deepEqual(differences, [], name);
  });
};

describe('a retirement that is killed, in memory,', () => suite(() => ({})));
describeOwnRedis('a retirement that is killed, in Redis,', (redis) =>
  // A read that comes before the lease of the killed node has ended waits for the new leader.
  suite(() => ({ READSTORE_URL: redis().url, READ_WAIT_MS: '30000' })),
);

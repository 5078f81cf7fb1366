import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { fold } from '../../../src/domain/engine/core.ts';
import { type JobEvent, job } from '../../../src/domain/operations-manager/jobs.ts';
import type { Recorded } from '../../../src/store/event.ts';
import { type Cluster, cluster, note } from '../../support/cluster.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { until } from '../../support/until.ts';

/** How many jobs; 10,000 by hand. */
const jobCount = Number(process.env.CLAIM_JOBS ?? 200);
const workerCount = 20;
const lease = 10;
const jobs = '/operations-manager/jobs';

/** Numbers from 0 to 1 that are the same in each run. */
const dice = () => {
  let state = 20_261_123;
  return (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
};

describeOwnRedis('twenty workers on two nodes', (redis) => {
  let nodes: Cluster;
  before(async function () {
    this.timeout(300_000);
    nodes = await cluster(redis());
    await nodes.start();
  });
  after(async () => {
    await nodes?.remove();
  });

  let turn = 0;
  /** Asks one node after the other until one answers. */
  const post = async (path: string, body: object, key?: string) => {
    for (;;) {
      const node = nodes.nodes[turn++ % nodes.nodes.length]!;
      const answer = await node.ask('POST', path, body, key === undefined ? {} : { 'Idempotency-Key': key });
      if (answer.status !== 0 && answer.status < 500) return answer;
      await pause(50);
    }
  };

  const eventsByJob = async (): Promise<ReadonlyMap<string, readonly Recorded<any>[]>> => {
    const found = new Map<string, Recorded<any>[]>();
    for (const event of await withLog(nodes.logFile, eventsIn)) {
      if (!event.stream.startsWith('job-')) continue;
      found.set(event.stream, [...(found.get(event.stream) ?? []), event]);
    }
    return found;
  };

  it('complete each job once, though some are killed, some stall, and the leader is killed twice', async function () {
    this.timeout(3_600_000);
    const began = performance.now();
    const roll = dice();
    const completed = new Set<string>();
    const counts = { killed: 0, stalled: 0, refused: 0 };
    const stalled: Promise<void>[] = [];
    let isOver = false;

    const report = async (id: string, claim: number, worker: string): Promise<void> => {
      const { status, text } = await post(`${jobs}/${id}/complete`, { claim, variables: { worker, claim } });
      if (status === 200) completed.add(id);
      else if (status === 409) counts.refused++;
      else assert.fail(text);
    };
    const carryOut = async ({ job: { _id: id }, claim }: any, worker: string): Promise<void> => {
      // Who is killed or stalls does so on a first or second claim: the third one to be lost would end the job.
      const fate = claim < 3 ? roll() : 1;
      if (fate < 0.05) counts.killed++;
      else if (fate < 0.1) {
        counts.stalled++;
        stalled.push(pause((lease + 3) * 1000).then(() => report(id, claim, worker)));
      } else await report(id, claim, worker);
    };
    const workUntilOver = async (worker: string): Promise<void> => {
      while (!isOver) {
        const body = { components: ['Chaos'], worker, max: 2, lease, wait: 2 };
        const { status, body: given, text } = await post(`${jobs}/claim`, body);
        assert.equal(status, 200, text);
        await Promise.all(given.data.map((one: unknown) => carryOut(one, worker)));
      }
    };
    const start = async (n: number): Promise<string> => {
      const { status, body, text } = await post(`${jobs}/start`, { workflow: 'Chaos' }, `job-${n}`);
      assert.equal(status, 200, text);
      return body.data._id;
    };
    const killLeaderAfter = async (count: number): Promise<void> => {
      await until(() => completed.size >= count || pause(50, false), `${count} completed jobs`);
      const { leader } = await nodes.roles();
      await leader.kill();
      await pause(1000);
      await nodes.mend();
    };

    const workers = Array.from({ length: workerCount }, (_, n) => workUntilOver(`worker ${n}`));
    const ids: string[] = [];
    const starting = (async () => {
      for (let n = 0; n < jobCount; n += workerCount)
        ids.push(...(await Promise.all(Array.from({ length: workerCount }, (_, i) => start(n + i)))));
    })();
    await killLeaderAfter(jobCount / 4);
    await killLeaderAfter(jobCount / 2);
    await starting;
    await until(() => completed.size === jobCount || pause(50, false), 'the end of all jobs');
    await Promise.all(stalled);
    isOver = true;
    await Promise.all(workers);

    const found = await eventsByJob();
    const lost = { lapsed: 0, returned: 0, givenUp: 0 };
    for (const id of ids) {
      const events = found.get(`job-${id}`) ?? assert.fail(`${id} is not in the log`);
      const topics = events.map(({ topic }) => topic);
      assert.equal(topics.filter((topic) => topic === 'jobCompleted').length, 1, topics.join(' '));
      assert.equal(topics.at(-1), 'jobCompleted', topics.join(' '));
      // By the model's account the report is that of the claim that was held.
      const { held } = fold(job, events.slice(0, -1) as unknown as readonly JobEvent[]).claims;
      const { worker, claim } = events.at(-1)?.data.variables ?? {};
      assert.deepEqual([worker, claim], [held?.worker, held?.claim]);
      for (const { topic, data } of events)
        if (topic === 'jobReleased') lost[data.reason as 'lapsed' | 'returned']++;
        else if (topic === 'jobGivenUp') lost.givenUp++;
    }
    assert.equal(new Set(ids).size, jobCount);
    assert.ok(lost.lapsed >= counts.killed, 'the claims of killed workers have lapsed');
    note(`${jobCount} jobs in ${Math.round(performance.now() - began)} ms; ${JSON.stringify({ ...counts, ...lost })}`);
  });
});

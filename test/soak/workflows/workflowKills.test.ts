import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Recorded } from '../../../src/store/event.ts';
import { openEventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { type Cluster, cluster, note } from '../../support/cluster.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepServiceKills } from '../../support/kills/sweep.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { transformation, wire } from '../../support/transformationSamples.ts';
import { until } from '../../support/until.ts';
import { ours, person, worker, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says

const om = '/operations-manager';
const to = (variable: string) => ({ variables: { outgoing: { out: `$var.job.${variable}` } } });

const items = { data_array: '$var.job.sites', loopType: 'parallel', transformation: 'Item' };

/** A workflow with a task of each kind. */
const tasks = {
  list: ours('newVariable', { name: 'sites', value: ['a', 'b'] }),
  each: ours('forEach', { data_array: '$var.job.sites' }),
  inner: worker({ item: '$var.each.current_item' }),
  left: worker({}, to('left')),
  right: worker({}, to('right')),
  wait: ours('delay', { time: 0.02 }),
  again: worker({}, { retrySettings: { autoRetry: true, limit: 1, delay: 1, state: ['failure'] }, ...to('again') }),
  make: { ...ours('createInventory', { name: '$var.job._id' }), app: 'InventoryManager' },
  shape: ours(
    'transformation',
    { tr_id: 'Item', variableMap: { currentValue: '$var.job.left' } },
    {
      variables: { outgoing: { site: '$var.job.shaped' } },
    },
  ),
  kids: ours('childJob', { workflow: 'Part', ...items, variables: {} }),
  ask: person(),
  ...Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`d${i}`, ours('newVariable', { name: 'd', value: i })])),
};
const edges = [
  'start -> list',
  'list -> each',
  'each -loop-> inner',
  'each -> left',
  'each -> right',
  'left -> wait',
  'right -> wait',
  'wait -> again',
  'again -> make',
  'make -> shape',
  'shape -> kids',
  'kids -> ask',
  'ask -> d0',
  ...Array.from({ length: 11 }, (_, i) => `d${i} -> d${i + 1}`),
  'd11 -> end',
];

/** Saves the documents that the job needs. */
const prepare = async (ask: Server['ask']): Promise<void> => {
  const item = transformation('Item', {
    incoming: ['currentValue'],
    outgoing: ['site'],
    steps: [wire('incoming currentValue', 'outgoing site')],
  });
  ok(await ask('POST', '/template_builder/transformations', item));
  const part = workflow({ a: ours('newVariable', { name: 'n', value: 1 }) }, ['start -> a', 'a -> end']);
  ok(await ask('POST', `${om}/workflows`, { ...part, name: 'Part' }));
  ok(await ask('POST', `${om}/workflows`, { ...workflow(tasks, edges), name: 'All kinds' }));
};

/** Starts the job with this key, and does what waits for workers and people, with what a killed worker still holds, until it has ended. */
const drive = async (send: Server['ask'], key: string): Promise<Json> => {
  /** A 503 says that it is to be asked again: after a kill the read models may not be reached at once. */
  const ask = async (...asking: Parameters<Server['ask']>): ReturnType<Server['ask']> => {
    const answer = await send(...asking);
    return answer.status === 503 ? ask(...asking) : answer;
  };
  const start = await ask('POST', `${om}/jobs/start`, { workflow: 'All kinds' }, { 'Idempotency-Key': key });
  const { _id: id } = ok(start).data;
  const finish = async ({ _id, task, run, claim }: Json): Promise<void> => {
    const isAgain = task === 'again' && run === 1;
    const outcome = task === 'ask' ? {} : { outgoing: { out: `${task} ${run}` } };
    const report = { result: isAgain ? 'failure' : 'success', ...outcome, ...(claim ? { claim: claim.claim } : {}) };
    const answer = await ask('POST', `${om}/tasks/${_id}/finish`, report);
    assert.ok(answer.status === 200 || answer.status === 409, answer.text);
  };
  let job: Json;
  await until(async () => {
    const found = await ask('GET', `${om}/jobs/${id}`);
    // A node that has just been started may not have come to the job yet.
    if (found.status === 404) return false;
    job = ok(found).data;
    if (job.status !== 'running') return true;
    ok(await ask('POST', `${om}/tasks/claim`, { apps: ['Lab'], worker: 'w' }));
    for (const task of ok(await ask('GET', `${om}/tasks?job=${id}`)).data) await finish(task);
    return false;
  }, 'the end of the job');
  return job;
};

/** Asserts that the job came to its end, and that nothing of it was done twice. `all`: the events of the log. */
const assertOnce = (job: Json, all: readonly Recorded<any>[], kill: string): void => {
  assert.equal(job.status, 'complete', JSON.stringify(job.error));
  const expected = { sites: ['a', 'b'], left: 'left 1', right: 'right 1', again: 'again 2', shaped: 'left 1', d: 11 };
  assert.deepEqual(job.variables, expected);
  const events = all.filter(({ stream }) => stream === `job-${job._id}`);
  const made = all.filter(({ topic, data }) => topic === 'inventoryCreated' && data.name === job._id);
  assert.equal(made.length, 1, kill);
  const children = all.filter(({ topic, data }) => topic === 'jobStarted' && data.parent?.job === job._id);
  assert.deepEqual(
    children.map(({ data }) => `${data.parent.index} ${data.variables.site}`).sort(),
    ['0 a', '1 b'],
    kill,
  );
  note(`${kill}: ${events.length} events`);
  const runs = (...topics: readonly string[]): readonly string[] =>
    events
      .filter(({ topic, data }) => topics.includes(topic) && data.result !== 'loop')
      .map(({ data: { task, run } }) => `${task} ${run}`);
  for (const of of [runs('taskFinished'), runs('taskOffered', 'taskStarted')])
    assert.deepEqual(of, [...new Set(of)], kill);
  assert.equal(runs('taskFinished').filter((run) => run.startsWith('inner')).length, 2);
};

const suite = (settings: () => Promise<Record<string, string>>): void => {
  let root: string;

  before(async function () {
    this.timeout(60_000);
    if (cannotKill) this.skip();
    root = temporaryFolder();
    const server = await startServer(join(root, 'base'));
    await prepare(server.ask);
    await server.stop();
  });
  after(() => {
    if (root) rmSync(root, { recursive: true, force: true });
  });

  it('comes to the same end, and no run of a task begins or ends twice', async function () {
    this.timeout(3_600_000);
    await sweepServiceKills({
      folder: root,
      settings,
      use: (killed) =>
        Promise.race([
          killed.ended.then(() => false),
          drive(killed.ask, 'one-job').then(
            () => true,
            () => false,
          ),
        ]),
      look: async (next, _, n) => {
        const job = await drive(next.ask, 'one-job');
        assertOnce(job, await withLog(join(root, 'data', 'events.db'), eventsIn), `kill ${n}`);
      },
    });
  });
};

const title = `A job that runs a workflow, in a service that is killed while it stores something${cannotKill}`;

describe(title, () => suite(async () => ({})));

describeOwnRedis(`${title}, over Redis`, (redis) =>
  suite(async () => {
    // Each round begins with another log.
    await redis().command('FLUSHALL');
    return { READSTORE_URL: redis().url, READ_WAIT_MS: '30000' };
  }),
);

/** How many events lie between one kill and the next; in the soak tests each is tried. */
const apart = process.env.SOAK_ROUNDS === undefined ? 16 : 1;

describeOwnRedis(
  'A job that runs a workflow on two nodes, of which the leader is killed at the n-th event',
  (redis) => {
    let nodes: Cluster;
    let log: EventStore;
    before(async function () {
      this.timeout(300_000);
      nodes = await cluster(redis(), { READ_WAIT_MS: '30000' });
      await nodes.start();
      log = await openEventStoreDb({ url: nodes.settings.EVENTSTORE_URL, log: () => undefined });
      await prepare(nodes.nodes[0]!.ask);
    });
    after(async () => {
      await log?.close();
      await nodes?.remove();
    });

    let turn = 0;
    /** Asks one node after the other, until one answers. */
    const ask: Server['ask'] = async (...asking) => {
      for (;;) {
        const answer = await nodes.nodes[turn++ % nodes.nodes.length]!.ask(...asking);
        if (answer.status !== 0 && answer.status < 500) return answer;
      }
    };

    /** Kills the leader as soon as the log has so many more events, and starts it again. False if it never has. */
    const killAt = async (n: number, over: AbortSignal): Promise<boolean> => {
      const { leader } = await nodes.roles();
      let left = n;
      for await (const { events } of log.follow(await log.head(), undefined, over)) {
        left -= events.filter(({ stream }) => !stream.startsWith('checkpoint-')).length;
        if (left > 0) continue;
        await leader.kill();
        await leader.start();
        return true;
      }
      return false;
    };

    it('comes to the same end, and no run of a task begins or ends twice', async function () {
      this.timeout(3_600_000);
      let kills = 0;
      for (let n = 1, died = true; died; n += apart) {
        const over = new AbortController();
        const killing = killAt(n, over.signal);
        const job = await drive(ask, `job-${n}`);
        over.abort();
        died = await killing;
        if (died) kills++;
        assertOnce(job, await withLog(nodes.logFile, eventsIn), `kill at event ${n}`);
      }
      assert.ok(kills > 0, 'the leader was never killed');
      note(`${kills} kills of the leader`);
    });
  },
);

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { note } from '../../support/cluster.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepServiceKills } from '../../support/kills/sweep.ts';
import { eventsIn, eventsOf, withLog } from '../../support/logged.ts';
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

const suite = (settings: () => Promise<Record<string, string>>): void => {
  let root: string;

  before(async function () {
    this.timeout(60_000);
    if (cannotKill) this.skip();
    root = temporaryFolder();
    const server = await startServer(join(root, 'base'));
    const item = transformation('Item', {
      incoming: ['currentValue'],
      outgoing: ['site'],
      steps: [wire('incoming currentValue', 'outgoing site')],
    });
    ok(await server.ask('POST', '/template_builder/transformations', item));
    const part = workflow({ a: ours('newVariable', { name: 'n', value: 1 }) }, ['start -> a', 'a -> end']);
    ok(await server.ask('POST', `${om}/workflows`, { ...part, name: 'Part' }));
    ok(await server.ask('POST', `${om}/workflows`, { ...workflow(tasks, edges), name: 'All kinds' }));
    await server.stop();
  });
  after(() => {
    if (root) rmSync(root, { recursive: true, force: true });
  });

  /** Does what waits for workers and people, with what a killed worker still holds, until the job has ended. */
  const drive = async (server: Server): Promise<Json> => {
    /** A 503 says that it is to be asked again: after a kill the read models may not be reached at once. */
    const ask = async (...asking: Parameters<Server['ask']>): ReturnType<Server['ask']> => {
      const answer = await server.ask(...asking);
      return answer.status === 503 ? ask(...asking) : answer;
    };
    const start = await ask('POST', `${om}/jobs/start`, { workflow: 'All kinds' }, { 'Idempotency-Key': 'one-job' });
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
      job = ok(await ask('GET', `${om}/jobs/${id}`)).data;
      if (job.status !== 'running') return true;
      ok(await ask('POST', `${om}/tasks/claim`, { apps: ['Lab'], worker: 'w' }));
      for (const task of ok(await ask('GET', `${om}/tasks?job=${id}`)).data) await finish(task);
      return false;
    }, 'the end of the job');
    return job;
  };

  it('comes to the same end, and no run of a task begins or ends twice', async function () {
    this.timeout(3_600_000);
    await sweepServiceKills({
      folder: root,
      settings,
      use: (killed) =>
        Promise.race([
          killed.ended.then(() => false),
          drive(killed).then(
            () => true,
            () => false,
          ),
        ]),
      look: async (next, _, n) => {
        const job = await drive(next);
        assert.equal(job.status, 'complete', JSON.stringify(job.error));
        const expected = {
          sites: ['a', 'b'],
          left: 'left 1',
          right: 'right 1',
          again: 'again 2',
          shaped: 'left 1',
          d: 11,
        };
        assert.deepEqual(job.variables, expected);
        const file = join(root, 'data', 'events.db');
        const events = await withLog(file, (log) => eventsOf(log, `job-${job._id}`));
        const made = await withLog(file, (log) => eventsIn(log));
        assert.equal(made.filter(({ topic }: Json) => topic === 'inventoryCreated').length, 1, `kill ${n}`);
        const children = made.filter(({ topic, data }: Json) => topic === 'jobStarted' && data.parent?.run);
        assert.deepEqual(
          children.map(({ data }: Json) => `${data.parent.index} ${data.variables.site}`).sort(),
          ['0 a', '1 b'],
          `kill ${n}`,
        );
        note(`kill ${n}: ${events.length} events`);
        const runs = (...topics: readonly string[]): readonly string[] =>
          events
            .filter(({ topic, data }: Json) => topics.includes(topic) && data.result !== 'loop')
            .map(({ data: { task, run } }: Json) => `${task} ${run}`);
        for (const all of [runs('taskFinished'), runs('taskOffered', 'taskStarted')])
          assert.deepEqual(all, [...new Set(all)], `kill ${n}`);
        assert.equal(runs('taskFinished').filter((run) => run.startsWith('inner')).length, 2);
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

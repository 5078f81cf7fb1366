import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Recorded } from '../../../src/store/event.ts';
import { openEventStoreDb } from '../../../src/store/eventstoredb/store.ts';
import { type ApiNode, cluster, nodesOver, note } from '../../support/cluster.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { describeOwnRedis, type OwnRedis } from '../../support/redisServer.ts';
import { until } from '../../support/until.ts';
import { ours, person, worker, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says

const om = '/operations-manager';
const isSoak = process.env.SOAK_ROUNDS !== undefined;
/** How many jobs are started; a job each 300 ms in a soak, so that the kills last a minute. */
const [jobCount, restMs] = isSoak ? [200, 300] : [3, 0];
/** How long a node runs before one is killed. */
const killEachMs = isSoak ? 2000 : 1500;

/** Nodes over one log, and a reader of its events. */
type Nodes = {
  readonly nodes: readonly ApiNode[];
  readonly start: () => Promise<void>;
  readonly remove: () => Promise<void>;
  readonly events: () => Promise<readonly Recorded<any>[]>;
};

/** Two nodes with Redis, over EventStoreDB at TEST_ESDB_URL or over a log that a third node serves. */
const twoNodes = async (redis: OwnRedis): Promise<Nodes> => {
  const url = process.env.TEST_ESDB_URL;
  if (url === undefined) {
    const over = await cluster(redis);
    return { ...over, events: () => withLog(over.logFile, eventsIn) };
  }
  const [store, over] = [await openEventStoreDb({ url, log: () => undefined }), nodesOver(url, redis)];
  return { ...over, events: () => eventsIn(store), remove: () => over.remove().finally(store.close) };
};

/** Numbers from 0 to 1 that are the same in each run. */
const dice = () => {
  let state = 20_261_127;
  return (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
};

const to = (variable: string, output: string) => ({ variables: { outgoing: { [output]: `$var.job.${variable}` } } });
const own = (app: string, name: string, incoming: Json, more: Json = {}): Json => ({
  ...ours(name, incoming, more),
  app,
});

/** Tasks of data, workers, people, nodes and times; two branches that meet, a loop, and an event that is told. */
const document = workflow(
  {
    list: ours('newVariable', { name: 'sites', value: ['a', 'b'] }),
    each: ours('forEach', { data_array: '$var.job.sites' }),
    inner: worker({ item: '$var.each.current_item' }),
    text: own(
      'TemplateBuilder',
      'renderJinja2ContextWithCast',
      { template: 'for {{ _id }}', variables: {}, castDataType: 'string' },
      to('text', 'renderedTemplate'),
    ),
    wait: ours('delay', { time: 0.1 }),
    work: worker({ job: '$var.job._id' }, to('work', 'out')),
    ask: person(),
    tell: own('OperationsManager', 'publishEvent', { source: 'lab', topic: 'told', payload: '$var.job.about' }),
  },
  [
    'start -> list',
    'list -> each',
    'each -loop-> inner',
    'each -> text',
    'each -> wait',
    'text -> work',
    'wait -> work',
    'work -> ask',
    'ask -> tell',
    'tell -> end',
  ],
  { name: 'On nodes' },
);

describeOwnRedis('jobs that run a workflow on two nodes, one of which is killed again and again', (redis) => {
  let nodes: Nodes;
  before(async function () {
    this.timeout(300_000);
    nodes = await twoNodes(redis());
    await nodes.start();
  });
  after(async () => {
    await nodes?.remove();
  });

  const roll = dice();
  /** Asks a node by chance, and another one until one answers. */
  const ask = async (method: string, path: string, body?: object, key?: string): Promise<Json> => {
    for (;;) {
      const node = nodes.nodes[Math.floor(roll() * nodes.nodes.length)]!;
      const answer = await node.ask(method, path, body, key === undefined ? {} : { 'Idempotency-Key': key });
      if (answer.status !== 0 && answer.status < 500) return answer;
      await pause(20);
    }
  };

  it('all come to their end: none is lost, no run begins or ends twice, and each tells once', async function () {
    this.timeout(isSoak ? 1_800_000 : 120_000);
    const began = performance.now();
    ok(await ask('POST', `${om}/workflows`, document, 'the-workflow'));
    const counts = { kills: 0, claims: 0, late: 0 };
    const ended = new Map<string, Json>();
    let isOver = false;

    const finish = async (task: Json, report: object): Promise<void> => {
      const { status, text } = await ask('POST', `${om}/tasks/${task._id}/finish`, { result: 'success', ...report });
      assert.ok(status === 200 || status === 409, text);
      if (status === 409) counts.late++;
    };
    const workUntilOver = async (name: string): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const body = { apps: ['Lab'], worker: name, max: 1, lease: 30, wait: 1 };
        for (const { task, claim } of ok(await ask('POST', `${om}/tasks/claim`, body, `${name}-${n}`)).data) {
          counts.claims++;
          await finish(task, { claim, outgoing: { out: task.incoming.job ?? task.incoming.item } });
        }
      }
    };
    const answerUntilOver = async (): Promise<void> => {
      while (!isOver) {
        for (const task of ok(await ask('GET', `${om}/tasks?kind=people&limit=50`)).data)
          await finish(task, { data: {} });
        await pause(50);
      }
    };
    const killUntilOver = async (): Promise<void> => {
      while (!isOver) {
        const rest = pause(killEachMs);
        const node = nodes.nodes[Math.floor(roll() * nodes.nodes.length)]!;
        await node.kill();
        counts.kills++;
        await node.start();
        await rest;
      }
    };
    const jobEnded = async (id: string): Promise<boolean> => {
      const { status, body } = await ask('GET', `${om}/jobs/${id}`);
      // A node that has just been started may not have come to the job yet.
      if (status !== 200 || body.data.status === 'running') return false;
      ended.set(id, body.data);
      return true;
    };

    const ids: string[] = [];
    const others = [...['w1', 'w2', 'w3', 'w4'].map(workUntilOver), answerUntilOver(), killUntilOver()];
    const failed = Promise.all(others);
    const all = async (): Promise<void> => {
      for (let n = 0; n < jobCount; n++) {
        const body = { workflow: 'On nodes', options: { variables: { about: { n } } } };
        ids.push(ok(await ask('POST', `${om}/jobs/start`, body, `job-${n}`)).data._id);
        await pause(restMs);
      }
      for (const id of ids) await until(async () => (await jobEnded(id)) || pause(50, false), `the end of ${id}`);
      isOver = true;
    };
    await Promise.all([all(), failed.finally(() => (isOver = true))]);

    assert.equal(new Set(ids).size, jobCount);
    const events = await nodes.events();
    for (const [n, id] of ids.entries()) {
      const { status, variables, error } = ended.get(id);
      assert.equal(status, 'complete', JSON.stringify(error));
      assert.deepEqual(variables, { about: { n }, sites: ['a', 'b'], text: 'for ', work: id });
      const own = events.filter(({ stream }) => stream === `job-${id}`);
      const runs = (topic: string): readonly string[] =>
        own
          .filter(({ topic: of, data }) => of === topic && data.result !== 'loop')
          .map(({ data: { task, run } }) => `${task} ${run}`);
      for (const topic of ['taskOffered', 'taskStarted', 'taskFinished'])
        assert.deepEqual(runs(topic), [...new Set(runs(topic))], `${id} ${topic}`);
      assert.deepEqual(
        runs('taskOffered').toSorted(),
        ['ask 1', 'inner 1', 'inner 2', 'tell 1', 'text 1', 'work 1'],
        id,
      );
      assert.equal(own.filter(({ topic }) => topic === 'jobCompleted').length, 1);
    }
    const started = events.filter(({ topic, data }) => topic === 'jobStarted' && data.name === 'On nodes');
    assert.equal(started.length, jobCount, 'no start is done twice');
    const told = events.filter(({ topic, source }) => topic === 'told' && source === 'lab').map(({ data }) => data.n);
    assert.deepEqual(
      told.toSorted((a, b) => a - b),
      [...Array(jobCount).keys()],
    );
    assert.ok(counts.kills >= 1, 'no node was killed meanwhile');
    note(`${jobCount} jobs in ${Math.round(performance.now() - began)} ms; ${JSON.stringify(counts)}`);
  });
});

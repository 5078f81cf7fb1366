import assert from 'node:assert/strict';
import { join } from 'node:path';
import { decode, type Recorded } from '../../../src/store/event.ts';
import { openSqliteReader } from '../../../src/store/sqlite/store.ts';
import { builtInOf } from '../../support/builtIn.ts';
import { note } from '../../support/cluster.ts';
import { ok } from '../../support/people.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';
import { openStream, type Stream } from '../../support/sse.ts';
import { until } from '../../support/until.ts';
import { says as answers, webhookServer } from '../../support/webhookServer.ts';

/** How many jobs, and the first seed; more by hand. */
const jobCount = Number(process.env.CHAOS_JOBS ?? 40);
const seed = Number(process.env.CHAOS_SEED ?? 17);
const jobs = '/operations-manager/jobs';
const moves = [
  ['pause', 'running'],
  ['pause', 'running'],
  ['resume', 'paused'],
  ['resume', 'paused'],
  ['retry', 'error'],
  ['cancel', 'running'],
  ['cancel', 'paused'],
] as const;
const ends = new Set(['complete', 'error', 'canceled', 'incomplete']);

/** Numbers from 0 to 1 that are the same for the same seed. */
const dice = (start: number) => {
  let state = start;
  return (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x80000000;
  };
};

/** The jobs of a log as their events say, checked by rules of its own. Returns the status of each. */
const statusesIn = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const store = await openSqliteReader(join(folder, 'events.db'));
  const found = new Map<string, { status: string; held: number; claims: number; topics: string[] }>();
  const check = ({ stream, topic, data }: Recorded<any>): void => {
    const id = stream.slice('job-'.length);
    const one = found.get(id) ?? { status: 'none', held: 0, claims: 0, topics: [] };
    found.set(id, one);
    one.topics.push(topic);
    const must = (so: boolean): void => assert.ok(so, `${id}: ${one.topics.join(' ')}`);
    const goesOn = one.status === 'running' || one.status === 'paused';
    const become = (from: boolean, status: string): void => {
      must(from);
      one.status = status;
    };
    if (topic === 'jobStarted') become(one.status === 'none', 'running');
    else if (topic === 'jobPaused') become(one.status === 'running', 'paused');
    else if (topic === 'jobResumed') become(one.status === 'paused', 'running');
    else if (topic === 'jobCompleted') become(goesOn, 'complete');
    else if (topic === 'jobErrored') become(goesOn, 'error');
    else if (topic === 'jobCanceled') become(goesOn, 'canceled');
    else if (topic === 'jobGivenUp') become(goesOn && one.held === 0, 'incomplete');
    else if (topic === 'jobRetried') {
      become(one.status === 'error' || one.status === 'incomplete', 'running');
      one.held = 0;
    } else if (topic === 'jobClaimed') {
      must(one.status === 'running' && one.held === 0 && data.claim === one.claims + 1);
      one.claims = data.claim;
      one.held = data.claim;
    } else if (topic === 'jobClaimExtended') must(goesOn && one.held === data.claim);
    else {
      assert.equal(topic, 'jobReleased');
      must(goesOn && one.held === data.claim);
      one.held = 0;
    }
  };
  try {
    for await (const batch of store.readAll(0))
      for (const event of batch.events) if (event.stream.startsWith('job-')) check(decode(event));
  } finally {
    await store.close();
  }
  return new Map([...found].map(([id, { status }]) => [id, status]));
};

describe('Jobs that everybody pulls at', function () {
  this.timeout(300_000);
  const roll = dice(seed);
  const below = (n: number): number => Math.floor(roll() * n);
  const oneOf = <T>(all: readonly T[]): T => all[below(all.length)] as T;
  let service: TestService;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  const open = new Set<Stream>();
  before(async () => {
    service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
    agents = await webhookServer({
      '/done': answers({ status: 'COMPLETE', lastMessage: 'Done' }),
      '/failed': answers({ status: 'FAILED', lastMessage: 'No disk' }),
    });
  });
  after(async () => {
    for (const stream of open) stream.close();
    await service.stop();
    agents.close();
  });

  const post = async (path: string, body: object): Promise<Answer> => {
    const answer = await service.ask('POST', `${jobs}${path}`, body);
    assert.ok(answer.status === 200 || answer.status === 409, `${path}: ${answer.text}`);
    return answer;
  };

  it('end, each by its rules, and readers learn how', async () => {
    const admin = builtInOf(service.ask);
    ok(await service.ask('POST', '/profiles', { id: 'limits', systemProps: {} }));
    ok(await service.ask('PUT', '/profiles/limits/active'));
    const limit = async (systemProps: object): Promise<void> => {
      ok(await service.ask('PUT', '/profiles/limits', { properties: { systemProps } }));
    };
    await admin.template('Rendered', '{{ x }}');
    for (const name of ['done', 'failed']) await admin.agent(name, { runner: 'webhook', url: agents.url(`/${name}`) });
    const workflows: string[] = ['By hand', 'By hand, too'];
    for (const name of ['One', 'Two']) workflows.push(await admin.automation('workflows', name));
    workflows.push(await admin.automation('template', 'Rendered'));
    for (const name of ['done', 'failed']) workflows.push(await admin.automation('agent', name));
    const components = ['By hand', 'By hand, too', 'One', 'Two'];

    const ids: string[] = [];
    let isOver = false;
    const counts: Record<string, number> = {};
    const count = (what: string): void => {
      counts[what] = (counts[what] ?? 0) + 1;
    };

    const starter = async (): Promise<void> => {
      while (ids.length < jobCount) ids.push(await admin.start(oneOf(workflows), { x: ids.length }));
    };
    const carryOut = async ({ job: { _id: id }, claim }: any): Promise<void> => {
      const say = async (what: string, body: object = {}): Promise<void> => {
        const { status } = await post(`/${id}/${what}`, { claim, ...body });
        count(`${what} ${status}`);
      };
      const fate = isOver ? 1 : roll();
      if (fate < 0.1) return say('release');
      if (fate < 0.2) return say('error', { error: 'No answer' });
      if (fate < 0.3) {
        const { status } = await post(`/${id}/complete`, {});
        // Unless somebody has ended it, or given it back, it is refused: the claim is missing.
        assert.equal(status, 409);
      }
      for (let n = below(4); n > 0; n--) await say('heartbeat', { progress: { percent: below(100) } });
      await say('complete', { variables: { n: below(1000) } });
    };
    const worker = async (name: string): Promise<void> => {
      while (!isOver) {
        const some = components.filter(() => roll() < 0.7);
        if (some.length === 0) continue;
        const { body } = await post('/claim', { components: some, worker: name, max: 1 + below(3), wait: 1 });
        await Promise.all(body.data.map(carryOut));
      }
    };
    const mover = async (rounds: number): Promise<void> => {
      for (let n = 0; n < rounds; n++) {
        const [what, from] = oneOf(moves);
        const { data } = ok(await service.ask('GET', `${jobs}?limit=1000&multiEquals[status]=${from}`));
        if (data.length === 0) continue;
        const jobIds = Array.from({ length: 1 + below(3) }, () => oneOf<any>(data)._id);
        const { status } = await post(`/${what}`, { jobIds });
        count(`${what} ${status}`);
      }
    };
    const limiter = async (rounds: number): Promise<void> => {
      for (let n = 0; n < rounds; n++)
        await limit({
          taskWorkerRateLimit: oneOf([0, 5, 50]),
          taskWorkerRateLimitPeriod: oneOf([0, 1]),
          taskWorkerThreadCount: below(3),
        });
    };
    const watch = async (query: string): Promise<Stream> => {
      const stream = await openStream(service.url, query, { path: `${jobs}/stream` });
      open.add(stream);
      return stream;
    };
    const reader = async (rounds: number): Promise<void> => {
      for (let n = 0; n < rounds; n++) {
        const stream = await watch(oneOf(['', '?watched=true', '?status=running', '?component=One']));
        const some = below(40);
        await until(() => stream.frames.length >= some || isOver);
        stream.close();
        open.delete(stream);
      }
    };

    const all = await watch('');
    const running = await watch('?status=running');
    const names = ['a', 'b', 'c', 'd'];
    const others = Promise.all([...names.map((name) => worker(name)), reader(20), reader(20)]);
    /** Waits for it, unless one of the others fails. */
    const meanwhile = (work: Promise<unknown>): Promise<unknown> => Promise.race([work, others.then(() => work)]);
    await meanwhile(Promise.all([starter(), starter(), mover(jobCount), mover(jobCount), limiter(20)]));

    // From here on nobody hinders them.
    await limit({});
    const late = [await watch(''), await watch('?watched=true')];
    const left = async (): Promise<readonly any[]> => {
      const { data } = ok(await service.ask('GET', `${jobs}?limit=1000`));
      return data.filter(({ status }: any) => !ends.has(status));
    };
    for (const { _id: id, status } of await left()) if (status === 'paused') await post('/resume', { jobIds: [id] });
    await meanwhile(until(async () => (await left()).length === 0, 'the end of all jobs'));
    isOver = true;
    await others;

    const statuses = await statusesIn(service.folder);
    assert.deepEqual([...statuses.keys()].sort(), [...ids].sort());
    const { data } = ok(await service.ask('GET', `${jobs}?limit=1000`));
    for (const { _id: id, status } of data) assert.equal(status, statuses.get(id));
    for (const stream of [all, ...late]) {
      const told = () => new Map(stream.frames.map(({ data: { job, status } }) => [job, status]));
      await until(() => ids.every((id) => told().get(id) === statuses.get(id)), 'what became of each job');
    }
    const lastOf = () => new Map(running.frames.map(({ data: { job, status } }) => [job, status]));
    // Of a job that has left the filter nothing more is told.
    await until(() => ![...lastOf().values()].includes('running'), 'the end of what ran');
    note(`seed ${seed}: ${JSON.stringify(counts)}`);
  });
});

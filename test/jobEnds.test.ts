import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Handle } from '../src/commands/engine/handle.ts';
import { claimJob } from '../src/commands/operations-manager/jobClaims.ts';
import { startJob } from '../src/commands/operations-manager/jobs.ts';
import { readConfig } from '../src/config.ts';
import { endGone, timeOut } from '../src/domain/operations-manager/jobEnds.ts';
import { type JobEvent, job, jobMoves, originless } from '../src/domain/operations-manager/jobs.ts';
import type { JobDoc } from '../src/projections/operations-manager/jobs.ts';
import { jobEnds } from '../src/runners/jobs/jobEnds.ts';
import { lookForEndsEveryMs } from '../src/runners/jobs/jobWork.ts';
import type { EventStore } from '../src/store/port.ts';
import { soon } from './cluster.ts';
import { context, specification } from './given.ts';
import { leading } from './leading.ts';
import { fixedClock, nodesOnLog } from './node.ts';
import { ok, type People, people, refused } from './people.ts';
import { startServer, temporaryFolder } from './process.ts';
import { startService, type TestService } from './service.ts';
import { until } from './until.ts';

const given = specification(job);
const started: JobEvent = {
  topic: 'jobStarted',
  data: {
    ...{ name: 'Back up', description: '', type: 'workflow', variables: {}, automation: null, trigger: null },
    ...{ component: { type: 'workflows', name: 'Back up' }, execution: null, groups: [], watchers: [], ...originless },
  },
};
const claimed: JobEvent = {
  topic: 'jobClaimed',
  data: { claim: 1, worker: 'w', account: context.actor.id, until: 0, lease: 300 },
};
const [paused, canceled] = [jobMoves.pause.event, jobMoves.cancel.event];
const done: JobEvent = { topic: 'jobCompleted', data: { variables: {} } };
const errored = (error: string): JobEvent => ({ topic: 'jobErrored', data: { error } });

describe('A job that lacks what it needs', () => {
  const [queued, step] = [
    { reason: 'gone', claim: null },
    { reason: 'gone', claim: 1 },
  ];

  it('ends in error with the reason while nobody works on it, or at a step of who does', () => {
    given(started).when(endGone, queued).then(errored('gone'));
    given(started, paused).when(endGone, queued).then(errored('gone'));
    given(started, claimed).when(endGone, step).then(errored('gone'));
  });

  it('goes on until the step of a worker who has claimed it meanwhile', () => {
    given(started, claimed).when(endGone, queued).thenNothing();
    given(started).when(endGone, step).thenNothing();
  });

  it('stays as it ended', () => {
    for (const end of [done, canceled, errored('other')]) given(started, end).when(endGone, queued).thenNothing();
    given().when(endGone, queued).thenNothing();
  });
});

describe('A job of which nothing is heard', () => {
  const [lastEvent, later] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'];
  const silent = { hours: 0.5, lastEvent };
  const end = errored('Nothing has happened for 0.5 hours (JOB_TIMEOUT)');

  it('ends in error, whether it runs or is paused, is claimed or not', () => {
    for (const past of [[], [paused], [claimed], [claimed, paused]])
      given(started, ...past)
        .when(timeOut, silent, { lastEvent })
        .then(end);
  });

  it('goes on if something has happened since its time was counted, and stays as it ended', () => {
    given(started).when(timeOut, silent, { lastEvent: later }).thenNothing();
    given(started, done).when(timeOut, silent, { lastEvent }).thenNothing();
    given().when(timeOut, silent, { lastEvent: undefined }).thenNothing();
  });
});

describe('JOB_TIMEOUT', () => {
  it('is a number of hours, 168 unless set', () => {
    assert.equal(readConfig({}).JOB_TIMEOUT, 168);
    for (const hours of ['0', '0.25', '24', '1000000'])
      assert.equal(readConfig({ JOB_TIMEOUT: hours }).JOB_TIMEOUT, Number(hours));
    for (const hours of ['-1', '1e3', '.5', '1h', '1000001', 'never'])
      assert.throws(() => readConfig({ JOB_TIMEOUT: hours }), /JOB_TIMEOUT must be a number from 0 to/);
  });
});

/** Topics of a stream's events. */
const topicsIn = async (store: Pick<EventStore, 'read'>, stream: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const events of store.read(stream))
    found.push(...events.map(({ type }) => type.slice(type.lastIndexOf(':') + 1)));
  return found;
};

describe('The ends of jobs', () => {
  const needed = (_id: string, automation: string) =>
    ({
      ...{ _id, automation, component: { type: null, name: 'c' }, created_by: 'x', status: 'running', claim: null },
      last_updated: context.now,
    }) as JobDoc;

  it('come also while what another job needs cannot be read, which ends once it can', async () => {
    const ended: string[] = [];
    const said: string[] = [];
    let looks = 0;
    let isRead = false;
    const ends = jobEnds({
      ...{ leadership: leading(), clock: fixedClock(), timeoutHours: 0, lookEveryMs: 1 },
      handle: (async (_: unknown, { id }: { id: string }) => {
        ends.remove(id);
        ended.push(id);
      }) as unknown as Handle,
      whyGone: async ({ automation }) => {
        if (automation !== 'unread') return 'gone';
        looks++;
        if (!isRead) throw new Error('Not now');
        return 'gone at last';
      },
      log: (message) => void said.push(message),
    });
    ends.set(needed('first', 'unread'));
    ends.set(needed('second', 'read'));
    ends.set(needed('third', 'other'));
    assert.equal(await ends.endIfGone('first', null), undefined);
    ends.start(Promise.resolve());
    await until(() => looks > 3, 'further looks');
    assert.deepEqual(ended, ['second', 'third']);
    assert.deepEqual(said, ['What jobs need cannot be read; it is tried again']);
    isRead = true;
    await until(() => ended.includes('first'), 'the end of the job that could not be read');
    await ends.stop();
    assert.equal(said.length, 1);
  });

  it('are looked for every ten seconds or more often', () => {
    // The docs say so of jobs that lack something; thirty seconds are enough for jobs of which nothing is heard.
    assert.ok(lookForEndsEveryMs <= 10_000);
  });
});

describe('The ends of jobs, on two nodes', () => {
  const hour = 3_600_000;
  const clock = fixedClock();
  const { log, node } = nodesOnLog({ reacting: true, now: clock.now });
  const running: { readonly stop: () => Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
  });
  const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(24));
  const [first = '', second = '', third = ''] = ids;

  /** The ends on a node, which knows the jobs as they are now. */
  const endsOn = async (one: Awaited<ReturnType<typeof node>>, gone: () => string | undefined) => {
    const { handle, leadership, model } = one;
    await one.catchUp();
    const ends = jobEnds({
      ...{ handle, leadership, clock, timeoutHours: 1, lookEveryMs: 5 },
      whyGone: async () => gone(),
      log: () => undefined,
    });
    for (const entry of await model.getMany('jobs', ids)) if (entry) ends.set(JSON.parse(entry.text) as JobDoc);
    ends.start(Promise.resolve());
    running.push(ends);
    return ends;
  };
  const statusOf = async ({ tools }: Awaited<ReturnType<typeof node>>, id: string) =>
    (await tools.state(job, id)).status;

  it('come once, though both nodes believe to lead', async () => {
    const [one, two] = [await node(), await node()];
    for (const id of ids) await one.command(startJob, id, { workflow: 'Back up' });
    await one.command(claimJob, second, { worker: 'w', lease: 10 });
    let gone: string | undefined;
    await Promise.all([one, two].map((each) => endsOn(each, () => gone)));
    gone = 'gone';
    for (const id of [first, third]) await soon('it ends', async () => (await statusOf(two, id)) === 'error');
    for (const id of [first, third])
      assert.deepEqual(await topicsIn(log.store, `job-${id}`), ['jobStarted', 'jobErrored']);
    assert.equal(await statusOf(one, second), 'running');
    clock.pass(hour);
    await soon('it ends', async () => (await statusOf(one, second)) === 'error');
    assert.deepEqual(await topicsIn(log.store, `job-${second}`), ['jobStarted', 'jobClaimed', 'jobErrored']);
  });

  it('count the time from the last event, whichever node has stored it', async () => {
    const [one, two] = [await node(), await node()];
    for (const id of [first, second]) await one.command(startJob, id, { workflow: 'Back up' });
    await endsOn(one, () => undefined);
    clock.pass(hour - 1);
    // The first node's ends are not told of this event: the job's stream decides.
    await two.command(claimJob, first, { worker: 'w', lease: 10 });
    clock.pass(1);
    await soon('the other ends', async () => (await statusOf(one, second)) === 'error');
    assert.equal(await statusOf(one, first), 'running');
  });
});

const om = '/operations-manager';
const jobs = `${om}/jobs`;

describe('jobs that cannot go on', function () {
  this.timeout(240_000);
  let service: TestService;
  let who: People;
  const password = 'a long enough password';
  before(async () => {
    service = await startService();
    who = await people(service);
  });
  after(() => service.stop());

  const idOf = async (username: string): Promise<string> => {
    const { results } = ok(await service.ask('GET', '/authorization/accounts?limit=1000'));
    return results.find((account: any) => account.username === username)._id;
  };
  const account = async (username: string) => {
    ok(await service.ask('POST', '/authorization/accounts', { username, password, memberOf: ['operators', 'ops'] }));
    return service.as({ user: username, password });
  };
  const automation = async (name: string, more: object = {}): Promise<string> =>
    ok(
      await service.ask('POST', `${om}/automations`, {
        name,
        componentType: 'workflows',
        componentName: name,
        ...more,
      }),
    ).data._id;
  const start = async (ask: People['member'], workflow: string): Promise<string> =>
    ok(await ask('POST', `${jobs}/start`, { workflow })).data._id;
  const get = async (id: string): Promise<any> => ok(await service.ask('GET', `${jobs}/${id}`)).data;
  const claim = async (component: string): Promise<readonly any[]> =>
    ok(await service.ask('POST', `${jobs}/claim`, { components: [component], worker: 'w' })).data;
  const errorOf = async (id: string): Promise<string> => {
    await soon('the job ends', async () => (await get(id)).status === 'error');
    return (await get(id)).error;
  };

  it('end in error when their automation is deleted, and are never given out', async () => {
    const target = await automation('Deleted');
    const ids = [await start(who.member, 'Deleted'), await start(who.member, 'Deleted')];
    ok(await service.ask('DELETE', `${om}/automations/${target}`));
    assert.deepEqual(await claim('Deleted'), []);
    for (const id of ids) assert.match(await errorOf(id), /automation of the job was deleted/);
  });

  it('end in error when their account becomes inactive or is deleted, and are never given out', async () => {
    const changes = [
      (id: string) => service.ask('PATCH', `/authorization/accounts/${id}`, { inactive: true }),
      (id: string) => service.ask('DELETE', `/authorization/accounts/${id}`),
    ];
    for (const [n, change] of changes.entries()) {
      const name = `leaver ${n}`;
      const id = await start(await account(name), name);
      ok(await change(await idOf(name)));
      assert.deepEqual(await claim(name), []);
      assert.match(await errorOf(id), /account that started the job is deleted or inactive/);
    }
  });

  it('end in error when their account may not read the automation any more, and are never given out', async () => {
    await automation('Closed', { gbac: { read: [], write: ['ops'] } });
    const mover = await account('mover');
    const [id, other] = [await start(mover, 'Closed'), await start(who.member, 'Closed')];
    ok(await service.ask('PATCH', `/authorization/accounts/${await idOf('mover')}`, { memberOf: ['operators'] }));
    assert.match(await errorOf(id), /may not read its automation/);
    assert.deepEqual(
      (await claim('Closed')).map(({ job }) => job._id),
      [other],
    );
  });

  it('end in error when the template, agent or command template that they run is gone', async () => {
    for (const componentType of ['template', 'mop-template', 'agent']) {
      await automation(`By ${componentType}`, { componentType, componentName: 'missing' });
      assert.match(await errorOf(await start(who.member, `By ${componentType}`)), /missing/);
    }
  });

  it('end at the next heartbeat of who works on them, who is told to stop', async () => {
    const target = await automation('Claimed');
    const id = await start(who.member, 'Claimed');
    const [{ claim: number }] = await claim('Claimed');
    const beat = () => service.ask('POST', `${jobs}/${id}/heartbeat`, { claim: number });
    assert.equal(ok(await beat()).data.asked, null);
    ok(await service.ask('DELETE', `${om}/automations/${target}`));
    assert.equal(ok(await beat()).data.asked, 'cancel');
    const { status, error } = await get(id);
    assert.deepEqual([status, error], ['error', 'The automation of the job was deleted']);
    refused(await beat(), 409, /has ended/);
    refused(await service.ask('POST', `${jobs}/${id}/complete`, { claim: number }), 409);
  });

  it('may be reported on until then: work that is done is not lost', async () => {
    const target = await automation('Reported');
    const id = await start(who.member, 'Reported');
    const [{ claim: number }] = await claim('Reported');
    ok(await service.ask('DELETE', `${om}/automations/${target}`));
    ok(await service.ask('POST', `${jobs}/${id}/complete`, { claim: number }));
    assert.equal((await get(id)).status, 'complete');
  });

  it('stay paused, and end once they are resumed or given back', async () => {
    const target = await automation('Paused');
    const [id, held] = [await start(who.member, 'Paused'), await start(who.member, 'Paused')];
    const [{ job, claim: number }] = await claim('Paused');
    assert.equal(job._id, id);
    ok(await service.ask('POST', `${jobs}/pause`, { jobIds: [held] }));
    ok(await service.ask('DELETE', `${om}/automations/${target}`));
    ok(await service.ask('POST', `${jobs}/${id}/release`, { claim: number }));
    await errorOf(id);
    assert.equal((await get(held)).status, 'paused');
    ok(await service.ask('POST', `${jobs}/resume`, { jobIds: [held] }));
    await errorOf(held);
  });

  it('end again after a retry', async () => {
    const target = await automation('Retried');
    const id = await start(who.member, 'Retried');
    ok(await service.ask('DELETE', `${om}/automations/${target}`));
    await errorOf(id);
    const [before] = ok(await service.ask('POST', `${jobs}/retry`, { jobIds: [id] })).data;
    assert.equal(before._id, id);
    assert.match(await errorOf(id), /automation/);
  });

  it('tell of their end by an event, by which a trigger fires', async () => {
    await automation('Tell somebody');
    const doomed = await automation('Doomed');
    const { data: automations } = ok(await service.ask('GET', `${om}/automations?multiEquals[name]=Tell somebody`));
    ok(
      await service.ask('POST', `${om}/triggers`, {
        ...{ name: 'On error', type: 'eventSystem', enabled: true, actionType: 'automations' },
        ...{ actionId: automations[0]._id, source: '@platform/operations-manager', topic: 'jobErrored' },
        schema: { properties: { error: { pattern: 'deleted' } } },
        jst: null,
      }),
    );
    const id = await start(service.ask, 'Doomed');
    ok(await service.ask('DELETE', `${om}/automations/${doomed}`));
    const error = await errorOf(id);
    const [{ job }] = ok(
      await service.ask('POST', `${jobs}/claim`, { components: ['Tell somebody'], worker: 'w', wait: 30 }),
    ).data;
    assert.deepEqual([job.variables.payload, job.depth], [{ error }, 1]);
    assert.equal(job.variables._event.topic, 'jobErrored');
  });
});

describe('jobs of which nothing is heard', function () {
  this.timeout(240_000);
  const brief = { JOB_TIMEOUT: '0.0003' };

  it('end after JOB_TIMEOUT, queued, claimed and paused ones, and at the start those whose time is up', async () => {
    const service = await startService({ JOB_TIMEOUT: '0' });
    const start = async (workflow: string): Promise<string> =>
      ok(await service.ask('POST', `${jobs}/start`, { workflow })).data._id;
    const [queued, held, claimed] = [await start('Queued'), await start('Held'), await start('Claimed')];
    ok(await service.ask('POST', `${jobs}/pause`, { jobIds: [held] }));
    ok(await service.ask('POST', `${jobs}/claim`, { components: ['Claimed'], worker: 'w' }));
    const again = await service.restart(brief);
    const get = async (id: string): Promise<any> => ok(await again.ask('GET', `${jobs}/${id}`)).data;
    for (const id of [queued, held, claimed]) {
      await soon('it ends', async () => (await get(id)).status === 'error');
      assert.equal((await get(id)).error, 'Nothing has happened for 0.0003 hours (JOB_TIMEOUT)');
    }
    ok(await again.ask('POST', `${jobs}/retry`, { jobIds: [queued] }));
    await soon('it ends again', async () => (await get(queued)).status === 'error');
    await again.stop();
  });

  it('end once, though the process is killed while they end', async () => {
    const folder = temporaryFolder();
    const first = await startServer(folder, { JOB_TIMEOUT: '0' });
    const ids: string[] = [];
    for (let n = 0; n < 30; n++)
      ids.push(ok(await first.ask('POST', `${jobs}/start`, { workflow: 'Killed' })).data._id);
    await first.stop();
    const second = await startServer(folder, brief);
    const errors = async ({ ask }: typeof second): Promise<number> =>
      ok(await ask('GET', `${jobs}?multiEquals[status]=error&limit=1`)).metadata.total;
    await soon('some have ended', async () => (await errors(second)) > 0);
    await second.stop('SIGKILL');
    const third = await startServer(folder, brief);
    await soon('all have ended', async () => (await errors(third)) === ids.length);
    await pause(100);
    for (const id of ids) {
      const { results } = ok(await third.ask('GET', `/audit/events?resource=job/${id}`));
      assert.deepEqual(
        results.map(({ topic }: any) => topic),
        ['jobErrored', 'jobStarted'],
      );
    }
    await third.stop();
  });
});

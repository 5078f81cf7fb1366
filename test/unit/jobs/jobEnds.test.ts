import assert from 'node:assert/strict';
import type { Handle } from '../../../src/commands/engine/handle.ts';
import { claimJob } from '../../../src/commands/operations-manager/jobClaims.ts';
import { startJob } from '../../../src/commands/operations-manager/jobs.ts';
import { readConfig } from '../../../src/config.ts';
import { endGone, timeOut } from '../../../src/domain/operations-manager/jobEnds.ts';
import { type JobEvent, job, jobMoves, originless } from '../../../src/domain/operations-manager/jobs.ts';
import type { JobDoc } from '../../../src/projections/operations-manager/jobs.ts';
import { jobEnds } from '../../../src/runners/jobs/jobEnds.ts';
import { lookForEndsEveryMs } from '../../../src/runners/jobs/jobWork.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { soon } from '../../support/cluster.ts';
import { context, specification } from '../../support/given.ts';
import { leading } from '../../support/leading.ts';
import { fixedClock, nodesOnLog } from '../../support/node.ts';
import { until } from '../../support/until.ts';

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

import assert from 'node:assert/strict';
import { createGroup } from '../../../src/commands/authorization/groups.ts';
import type { Request } from '../../../src/commands/engine/requests.ts';
import {
  createAutomation,
  deleteAutomation,
  restoreAutomation,
} from '../../../src/commands/operations-manager/automations.ts';
import {
  type ClaimedJob,
  type Claims,
  claimJob,
  lapseClaim,
  releaseJob,
  type Wanted,
} from '../../../src/commands/operations-manager/jobClaims.ts';
import { completeJob, startJob } from '../../../src/commands/operations-manager/jobs.ts';
import { RequestError } from '../../../src/domain/engine/requestError.ts';
import { automation } from '../../../src/domain/operations-manager/automations.ts';
import { job } from '../../../src/domain/operations-manager/jobs.ts';
import { type JobWork, jobWork } from '../../../src/runners/jobs/jobWork.ts';
import { taskMeasures } from '../../../src/runners/jobs/taskMeasures.ts';
import type { EventStore } from '../../../src/store/port.ts';
import { Tampered } from '../../../src/store/tampered.ts';
import { context } from '../../support/given.ts';
import { fixedClock, nodesOnLog, type TestNode } from '../../support/node.ts';
import { stopping } from '../../support/stopping.ts';
import { until } from '../../support/until.ts';
import { outcome } from '../../support/writer.ts';

const id = 'a'.repeat(24);
const wish = { worker: 'w', lease: 10 };

/** Topics of a stream's events. */
const topicsIn = async (store: Pick<EventStore, 'read'>, stream: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const events of store.read(stream))
    found.push(...events.map(({ type }) => type.slice(type.lastIndexOf(':') + 1)));
  return found;
};

describe('Claims on two nodes', () => {
  const clock = fixedClock();
  const { log, node } = nodesOnLog({ reacting: true, now: clock.now });
  const topics = () => topicsIn(log.store, `job-${id}`);
  const statusOf = async ({ tools }: TestNode) => (await tools.state(job, id)).status;

  it('are given to one of two workers that ask at the same time', async () => {
    const [one, two] = [await node(), await node()];
    await one.command(startJob, id, { workflow: 'Back up' });
    const both = await Promise.all([one, two].map((each) => each.command(claimJob, id, wish)));
    assert.equal(both.filter(({ changed }) => changed).length, 1);
    assert.deepEqual(await topics(), ['jobStarted', 'jobClaimed']);
  });

  it('are released once, though both nodes believe to lead', async () => {
    const [one, two] = [await node(), await node()];
    await one.command(startJob, id, { workflow: 'Back up' });
    await one.command(claimJob, id, wish);
    clock.pass(10_000);
    await Promise.all([one, two].map((each) => each.command(lapseClaim, id, { claim: 1, until: clock.now() })));
    assert.deepEqual(await topics(), ['jobStarted', 'jobClaimed', 'jobReleased']);
  });

  it('end by a report or by their lease, never by both', async () => {
    const [one, two] = [await node(), await node()];
    await one.command(startJob, id, { workflow: 'Back up' });
    await one.command(claimJob, id, wish);
    clock.pass(10_000);
    const [reported] = await Promise.all([
      outcome(one.command(completeJob, id, { claim: 1 })),
      two.command(lapseClaim, id, { claim: 1, until: clock.now() }),
    ]);
    const last = (await topics()).at(-1);
    assert.equal(last, reported === 'conflict' ? 'jobReleased' : 'jobCompleted');
  });

  it('that a slow node stores too late are not given at all', async () => {
    const held = stopping(log.store, 1);
    const slow = await node(held.store);
    const quick = await node();
    await quick.command(startJob, id, { workflow: 'Back up' });
    held.arm();
    const late = slow.command(claimJob, id, wish);
    await held.atStop;
    await quick.command(claimJob, id, wish);
    await quick.command(completeJob, id, { claim: 1 });
    held.resume();
    assert.equal((await late).changed, false);
    assert.equal(await statusOf(quick), 'complete');
    assert.equal(await outcome(slow.command(releaseJob, id, { claim: 1 })), 'conflict');
  });
});

const none = { claim: async () => undefined, releaseFormer: async () => undefined };

describe('The work on jobs, on two nodes', () => {
  const clock = fixedClock();
  const works: JobWork[] = [];
  const { log, node } = nodesOnLog({ reacting: true, now: clock.now });
  afterEach(async () => {
    await Promise.all(works.splice(0).map((each) => each.stop()));
  });

  /** A node with the work on jobs. */
  const worker = async (store: EventStore = log.store) => {
    let work: JobWork | undefined;
    const started = await node(store, { onEvent: (event) => work?.onEvent(event) });
    const { handle, tools, events, retries, model, run, leadership } = started;
    const needs = { handle, tools, events, retries, model, leadership, ready: run.whenReady, clock };
    const builtIn = {
      worker: 'this node',
      jobs: none,
      tasks: none,
      actorOf: async () => context.actor,
      atOnce: () => 1,
    };
    const limits = { startLimit: () => ({ most: 0, windowMs: 1000 }), timeoutHours: 0 };
    const whyGone = async () => undefined;
    const measures = taskMeasures({ now: () => 0, count: () => undefined });
    work = jobWork({ ...needs, ...limits, builtIn, measures, whyGone, lookEveryMs: 5, log: () => undefined });
    works.push(work);
    work.start();
    const { claim } = work;
    const ask = (
      waitMs = 0,
      more: Partial<Request> = {},
      wanted: Partial<Wanted> = {},
      gone: AbortSignal = new AbortController().signal,
    ): Promise<Claims<ClaimedJob>> =>
      claim(
        {
          components: ['Back up'],
          worker: 'w',
          max: 1,
          lease: 10,
          about: { actor: context.actor, operation: 'claimJobs', requestId: `r${works.length}`, ...more },
          actorNow: async () => context.actor,
          ...wanted,
        },
        waitMs,
        gone,
      );
    return { ...started, ask };
  };
  const idsOf = (claims: readonly Claims<ClaimedJob>[]): readonly string[] =>
    claims.flatMap(({ jobs }) => jobs.map(({ doc }) => doc._id));

  const [second, third] = ['b'.repeat(24), 'c'.repeat(24)];

  /** While `one` gives out two jobs, `other` gives the second one away, and a third one comes. */
  const raceFor = async (one: Awaited<ReturnType<typeof worker>>, other: TestNode): Promise<void> => {
    await other.command(claimJob, second, wish);
    const last = one.ask(30_000, {}, { components: ['Other'] });
    // Jobs are looked at in the order of the log: once this one is given out, the third one waits.
    await other.command(startJob, third, { workflow: 'Back up' });
    await other.command(startJob, 'd'.repeat(24), { workflow: 'Other' });
    await last;
  };

  it('gives each job to one worker, whichever nodes they ask', async () => {
    const [one, two] = [await worker(), await worker()];
    const asking = [one, two, one, two, one, two].map(({ ask }) => ask(30_000));
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(24));
    await Promise.all(ids.map((each) => one.command(startJob, each, { workflow: 'Back up' })));
    assert.deepEqual([...idsOf(await Promise.all(asking))].sort(), ids);
  });

  it('offers a job again whose worker was not heard of, and gives it up after the third', async () => {
    const [one, two] = [await worker(), await worker()];
    await one.command(startJob, id, { workflow: 'Back up' });
    for (const attempt of [1, 2, 3]) {
      const [given] = (await (attempt % 2 ? one : two).ask(30_000)).jobs;
      assert.equal(given?.doc.claim.claim, attempt);
      clock.pass(10_000);
    }
    await until(async () => (await two.tools.state(job, id)).status === 'incomplete');
    assert.deepEqual((await topicsIn(log.store, `job-${id}`)).slice(-3), ['jobClaimed', 'jobReleased', 'jobGivenUp']);
    assert.deepEqual((await two.ask()).jobs, []);
  });

  it('keeps what is claimed until its time is up', async () => {
    const one = await worker();
    await one.command(startJob, id, { workflow: 'Back up' });
    await one.ask(30_000);
    clock.pass(9999);
    const asking = one.ask(30_000);
    // A further job is given to who waits, so the first was not offered.
    await one.command(startJob, 'b'.repeat(24), { workflow: 'Back up' });
    assert.deepEqual(idsOf([await asking]), ['b'.repeat(24)]);
  });

  it('takes over leases and waiting jobs when it starts', async () => {
    const plain = await node();
    await plain.command(startJob, id, { workflow: 'Back up' });
    await plain.command(claimJob, id, wish);
    await plain.command(startJob, 'b'.repeat(24), { workflow: 'Back up' });
    clock.pass(10_000);
    const late = await worker();
    const given = [await late.ask(30_000), await late.ask(30_000)];
    assert.deepEqual([...idsOf(given)].sort(), [id, 'b'.repeat(24)]);
  });

  it('offers a job again whose automation was gone when it was claimed', async () => {
    const one = await worker();
    await one.command(createAutomation, 'n', { name: 'Nightly', componentName: 'Back up' });
    await one.command(startJob, id, { workflow: 'Nightly' });
    const { content } = await one.tools.state(automation, 'n');
    await one.command(deleteAutomation, 'n', {});
    assert.deepEqual((await one.ask(30_000)).jobs, []);
    const authors = { created: context.now, createdBy: 'u', lastUpdated: context.now, lastUpdatedBy: 'u' };
    await one.command(restoreAutomation, 'n', { ...content, ...authors });
    assert.deepEqual(idsOf([await one.ask(30_000)]), [id]);
  });

  it('gives a worker what it got before its account lost the right', async () => {
    const [one, two] = [await worker(), await worker()];
    for (const each of [id, second]) await one.command(startJob, each, { workflow: 'Back up' });
    let asked = 0;
    const actorNow = async () => {
      asked++;
      if (asked > 1) throw new RequestError('forbidden', 'The account may not claim jobs any more');
      await raceFor(one, two);
      return context.actor;
    };
    const got = await one.ask(0, {}, { max: 3, actorNow });
    assert.equal(asked, 2);
    assert.deepEqual(idsOf([got]), [id]);
    assert.deepEqual(idsOf([await one.ask(30_000)]), [third]);
  });

  it('gives a worker what it got before the log could not be reached', async () => {
    let isAway = false;
    const append: EventStore['append'] = async (...args) => {
      if (isAway) throw new RequestError('unavailable', 'The log is away');
      return log.store.append(...args);
    };
    const one = await worker({ ...log.store, append });
    const other = await worker();
    for (const each of [id, second]) await one.command(startJob, each, { workflow: 'Back up' });
    let asked = 0;
    const actorNow = async () => {
      asked++;
      if (asked === 1) await raceFor(one, other);
      else isAway = true;
      return context.actor;
    };
    const got = await one.ask(0, {}, { max: 3, actorNow });
    isAway = false;
    assert.equal(asked, 2);
    assert.deepEqual(idsOf([got]), [id]);
  });

  it('takes all back from a worker that has gone, though one of its jobs has ended meanwhile', async () => {
    const other = await worker();
    const gone = new AbortController();
    let isFirst = true;
    const append: EventStore['append'] = async (...args) => {
      const isRelease = JSON.stringify(args).includes('jobReleased');
      if (isRelease && isFirst) {
        isFirst = false;
        await other.command(completeJob, id, { claim: 1 });
      }
      return log.store.append(...args);
    };
    const one = await worker({ ...log.store, append });
    for (const each of [id, second]) await one.command(startJob, each, { workflow: 'Back up' });
    const actorNow = async () => {
      gone.abort();
      return context.actor;
    };
    assert.deepEqual(idsOf([await one.ask(30_000, {}, { max: 2, actorNow }, gone.signal)]), []);
    assert.equal((await one.tools.state(job, id)).status, 'complete');
    assert.deepEqual(idsOf([await one.ask(30_000, {}, { max: 2 })]), [second]);
  });

  it('takes back what it gave to a worker that went while its Idempotency-Key was looked up', async () => {
    const gone = new AbortController();
    const read: EventStore['read'] = (stream, ...more) => {
      // What was claimed under the key is read after the claim.
      if (hasClaimed) gone.abort();
      return log.store.read(stream, ...more);
    };
    let hasClaimed = false;
    const append: EventStore['append'] = async (...args) => {
      const appended = await log.store.append(...args);
      hasClaimed ||= JSON.stringify(args).includes('jobClaimed');
      return appended;
    };
    const one = await worker({ ...log.store, read, append });
    await one.command(startJob, id, { workflow: 'Back up' });
    const about = { idempotency: { key: 'k', request: 'r' } };
    assert.deepEqual(idsOf([await one.ask(30_000, about, {}, gone.signal)]), []);
    assert.equal(gone.signal.aborted, true);
    assert.equal((await topicsIn(log.store, `job-${id}`)).at(-1), 'jobReleased');
  });

  it('gives out other jobs while the stream of one cannot be used', async () => {
    const append: EventStore['append'] = async (stream, ...more) => {
      if (stream === `job-${id}` && JSON.stringify(more).includes('jobClaimed')) throw new Tampered(`Stream ${stream}`);
      return log.store.append(stream, ...more);
    };
    const one = await worker({ ...log.store, append });
    for (const each of [id, second]) await one.command(startJob, each, { workflow: 'Back up' });
    assert.deepEqual(idsOf([await one.ask(30_000)]), [second]);
    assert.deepEqual((await one.ask()).jobs, []);
  });

  it('takes a job that the account may see no more for none that its Idempotency-Key has claimed', async () => {
    const one = await worker();
    await one.command(createGroup, 'g', { name: 'ops' });
    const gbac = { read: ['ops'], write: ['ops'] };
    await one.command(createAutomation, 'n', { name: 'Nightly', componentName: 'Back up', gbac });
    await one.command(startJob, id, { workflow: 'Nightly' });
    const idempotency = { key: 'k', request: 'r' };
    const askAs = (groups: readonly string[]) => {
      const actor = { ...context.actor, admin: false, groups };
      return one.ask(100, { idempotency, actor }, { actorNow: async () => actor });
    };
    await one.ask(0, {}, { components: ['Other'] });
    assert.deepEqual(idsOf([await askAs(['ops'])]), [id]);
    assert.deepEqual(idsOf([await askAs(['ops'])]), [id]);
    assert.deepEqual(idsOf([await askAs([])]), []);
  });

  it('gives one answer for one Idempotency-Key, on whichever node it is sent', async () => {
    const [one, two] = [await worker(), await worker()];
    const ids = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(24));
    for (const each of ids) await one.command(startJob, each, { workflow: 'Back up' });
    await two.catchUp();
    const idempotency = { key: 'k', request: 'r' };
    const both = await Promise.all(
      [one, two].map(({ ask }, i) => ask(30_000, { idempotency, requestId: `request ${i}` })),
    );
    assert.equal(new Set(idsOf(both)).size, 1);
    const rest = new Set<string>();
    await until(async () => {
      for (const each of idsOf([await one.ask(), await two.ask()])) rest.add(each);
      return rest.size === 3;
    }, 'the other jobs');
  });
});

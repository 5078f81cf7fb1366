import assert from 'node:assert/strict';
import { fold } from '../../../src/domain/engine/core.ts';
import { unknownOutcome } from '../../../src/domain/operations-manager/builtIn.ts';
import { claim, heartbeat, lapse, release } from '../../../src/domain/operations-manager/jobClaims.ts';
import { decideMoves, jobMoveDecision } from '../../../src/domain/operations-manager/jobMoves.ts';
import {
  carryOut,
  complete,
  fail,
  type JobEvent,
  type JobState,
  job,
  jobMoves,
  originless,
} from '../../../src/domain/operations-manager/jobs.ts';
import { waitingJobs } from '../../../src/runners/jobs/waitingJobs.ts';
import { context, specification } from '../../support/given.ts';

const given = specification(job);
const now = Date.parse(context.now);
const lease = 300;
const startedAs = (type: string): JobEvent => ({
  topic: 'jobStarted',
  data: {
    ...{ name: 'Back up', description: '', type: 'workflow', variables: {}, automation: null, trigger: null },
    ...{ component: { type, name: 'Back up' }, execution: null, groups: [], watchers: [], ...originless },
  },
});
const started = startedAs('workflows');
const claimedBy = (number: number, account: string, until = now + lease * 1000): JobEvent => ({
  topic: 'jobClaimed',
  data: { claim: number, worker: 'w1', account, until, lease },
});
const me = context.actor.id;
const first = claimedBy(1, me);
const overdue = claimedBy(1, me, now);
const releasedFor = (reason: 'lapsed' | 'returned', number = 1): JobEvent => ({
  topic: 'jobReleased',
  data: { claim: number, reason },
});
const [paused, canceled, retried] = [jobMoves.pause.event, jobMoves.cancel.event, jobMoves.retry.event];
const gbac = { read: [], write: [] };
const refs = { gbac, variables: {}, error: 'No answer' };
const [done, failed]: [JobEvent, JobEvent] = [
  { topic: 'jobCompleted', data: { variables: {} } },
  { topic: 'jobErrored', data: { error: 'No answer' } },
];

describe('A claim on a job', () => {
  const wish = { worker: 'w1', lease };

  it('is numbered, and lasts for its lease', () => {
    given(started).when(claim, wish, { isGone: false }).then(first);
    given(started, first, releasedFor('lapsed')).when(claim, wish, { isGone: false }).then(claimedBy(2, me));
  });

  it('is given on running jobs that nobody holds', () => {
    for (const past of [[first], [paused], [canceled], [done], [failed]])
      given(started, ...past)
        .when(claim, wish, { isGone: false })
        .thenNothing();
    given(started)
      .when(claim, wish, { isGone: true })
      .thenRefused('not_found', /automation/);
  });

  it('is extended by a heartbeat once half of its lease is over, not before', () => {
    given(started, first).when(heartbeat, { claim: 1 }).thenNothing();
    given(started, claimedBy(1, me, now + 150_001))
      .when(heartbeat, { claim: 1 })
      .thenNothing();
    given(started, claimedBy(1, me, now + 150_000))
      .when(heartbeat, { claim: 1 })
      .then({ topic: 'jobClaimExtended', data: { claim: 1, until: now + 300_000 } });
    given(started, overdue, paused)
      .when(heartbeat, { claim: 1 })
      .then({ topic: 'jobClaimExtended', data: { claim: 1, until: now + 300_000 } });
    // A clock that was ahead has given it.
    given(started, claimedBy(1, me, now + 300_001))
      .when(heartbeat, { claim: 1 })
      .then({ topic: 'jobClaimExtended', data: { claim: 1, until: now + 300_000 } });
  });

  it('is refused to be heard of once it is not the last, but heard of on a canceled job', () => {
    const lost = [started, overdue, releasedFor('lapsed')];
    given(...lost)
      .when(heartbeat, { claim: 1 })
      .thenRefused('conflict', /claim/);
    given(...lost, claimedBy(2, me))
      .when(heartbeat, { claim: 1 })
      .thenRefused('conflict');
    given(started, overdue, canceled).when(heartbeat, { claim: 1 }).thenNothing();
    given(...lost, canceled)
      .when(heartbeat, { claim: 1 })
      .thenRefused('conflict');
    given(started, first, done)
      .when(heartbeat, { claim: 1 })
      .thenRefused('conflict', /has ended/);
  });

  it('is given back by its worker', () => {
    given(started, first).when(release, { claim: 1 }).then(releasedFor('returned'));
    given(started, first, releasedFor('returned')).when(release, { claim: 1 }).thenRefused('conflict');
    given(started, first, done)
      .when(release, { claim: 1 })
      .thenRefused('conflict', /has ended/);
  });

  it('on a job of a command template ends it in error when it lapses, also while it is paused', () => {
    const sends = startedAs('mop-template');
    const unknown: JobEvent = { topic: 'jobErrored', data: { error: unknownOutcome } };
    given(sends, overdue).when(lapse, { claim: 1, until: now }).then(releasedFor('lapsed'), unknown);
    given(sends, overdue, paused).when(lapse, { claim: 1, until: now }).then(releasedFor('lapsed'), unknown);
  });
  it('on a job of an agent is never the last one that may lapse', () => {
    const follows = startedAs('agent');
    const lost = [1, 2, 3].flatMap((n) => [claimedBy(n, me), releasedFor('lapsed', n)]);
    given(follows, ...lost, claimedBy(4, me, now))
      .when(lapse, { claim: 4, until: now })
      .then(releasedFor('lapsed', 4));
  });
  it('lapses when its time is up for whoever counts it, unless it was extended, and never by itself', () => {
    given(started, overdue).when(lapse, { claim: 1, until: now }).then(releasedFor('lapsed'));
    given(started, claimedBy(1, me, now + 1))
      .when(lapse, { claim: 1, until: now })
      .thenNothing();
    given(started, overdue, done).when(lapse, { claim: 1, until: now }).thenNothing();
    given(started, overdue, releasedFor('lapsed'), claimedBy(2, me, now))
      .when(lapse, { claim: 1, until: now })
      .thenNothing();
    // Until somebody has said so, the worker may report.
    given(started, overdue).when(complete, { claim: 1 }, refs).then(done);
  });

  it('lapses at once when its worker has ended, and only for the account that claimed', () => {
    const ended = { claim: 1, worker: 'w1' };
    given(started, first).when(lapse, ended).then(releasedFor('lapsed'));
    for (const [claimed, input] of [
      [first, { ...ended, worker: 'w2' }],
      [first, { ...ended, claim: 2 }],
      [claimedBy(1, 'other'), ended],
    ] as const)
      given(started, claimed).when(lapse, input).thenNothing();
  });

  it('is returned, not lost, when it lapses while the job is paused', () =>
    given(started, overdue, paused).when(lapse, { claim: 1, until: now }).then(releasedFor('returned')));

  const lostTwice = [overdue, releasedFor('lapsed'), claimedBy(2, me, now), releasedFor('lapsed', 2)];

  it('that is the third to be lost makes the job incomplete; claims that were given back do not count', () => {
    given(started, ...lostTwice, claimedBy(3, me), releasedFor('returned', 3), claimedBy(4, me, now))
      .when(lapse, { claim: 4, until: now })
      .then(releasedFor('lapsed', 4), { topic: 'jobGivenUp', data: { claims: 3 } });
    given(started, ...lostTwice, claimedBy(3, me), releasedFor('returned', 3))
      .when(claim, wish, { isGone: false })
      .then(claimedBy(4, me));
  });

  it('counts anew after a retry, but keeps its numbers', () => {
    const givenUp: JobEvent = { topic: 'jobGivenUp', data: { claims: 3 } };
    const past = [started, ...lostTwice, claimedBy(3, me, now), releasedFor('lapsed', 3), givenUp, retried];
    given(...past)
      .when(claim, wish, { isGone: false })
      .then(claimedBy(4, me));
    given(...past, claimedBy(4, me, now))
      .when(lapse, { claim: 4, until: now })
      .then(releasedFor('lapsed', 4));
  });
});

describe('A report on a job', () => {
  const other = 'bbbbbbbbbbbbbbbbbbbbbbbb';
  const worker = { ...context, actor: { ...context.actor, admin: false } };

  it('names the claim that is held', () => {
    given(started, first).when(complete, { claim: 1 }, refs).then(done);
    given(started, first).when(fail, { claim: 1 }, refs).then(failed);
    given(started, first, paused).when(complete, { claim: 1 }, refs).then(done);
  });

  it('of a claim that is no longer the last is refused, whatever it says', () => {
    const lost = [started, overdue, releasedFor('lapsed')];
    for (const past of [lost, [...lost, claimedBy(2, me)], [...lost, claimedBy(2, me), done]])
      for (const report of [complete, fail] as const)
        given(...past)
          .when<{ readonly claim: number }, typeof refs>(report, { claim: 1 }, refs)
          .thenRefused('conflict');
  });

  it('is taken without a claim, unless somebody has claimed', () => {
    given(started).when(complete, {}, refs).then(done);
    given(started, first, releasedFor('returned')).when(complete, {}, refs).then(done);
    given(started, first).when(complete, {}, refs).thenRefused('conflict', /claim/);
    given(started, first).when(fail, {}, refs).thenRefused('conflict', /claim/);
    given(started).when(complete, { claim: 1 }, refs).thenRefused('conflict');
  });

  it('that is made again is no change', () => {
    given(started, first, done).when(complete, { claim: 1 }, refs).thenNothing();
    given(started, first, done).when(complete, {}, refs).thenNothing();
    given(started, first, failed).when(fail, { claim: 1 }, refs).thenNothing();
  });

  it('on the claim of another account is refused to all but admins', () => {
    const state = fold(job, [started, claimedBy(1, other)]);
    assert.throws(() => complete(state, { claim: 1 }, { ...worker, refs }), /another account/);
    assert.throws(() => heartbeat(state, { claim: 1 }, worker), /another account/);
    assert.throws(() => release(state, { claim: 1 }, worker), /another account/);
    assert.deepEqual(complete(state, { claim: 1 }, { ...context, refs }), [done]);
  });
});

describe('A retry', () => {
  it('works from error and incomplete, and leaves no claim', () => {
    const givenUp: JobEvent = { topic: 'jobGivenUp', data: { claims: 3 } };
    for (const end of [failed, givenUp]) {
      given(started, end).when(carryOut, { move: 'retry' }).then(retried);
      const { status, error, claims }: JobState = fold(job, [started, first, end, retried]);
      assert.deepEqual([status, error, claims.held], ['running', null, null]);
    }
    for (const past of [[], [paused], [canceled], [done]])
      given(started, ...past)
        .when(carryOut, { move: 'retry' })
        .thenNothing();
  });

  it('is the only way on from incomplete', () => {
    const givenUp: JobEvent = { topic: 'jobGivenUp', data: { claims: 3 } };
    const past = [started, first, releasedFor('lapsed'), givenUp];
    for (const move of ['pause', 'resume', 'cancel'] as const)
      given(...past)
        .when(carryOut, { move })
        .thenNothing();
    given(...past)
      .when(complete, {}, refs)
      .thenRefused('conflict', /incomplete/);
    given(...past)
      .when(fail, {}, refs)
      .thenRefused('conflict', /incomplete/);
    given(...past)
      .when(claim, { worker: 'w1', lease }, { isGone: false })
      .thenNothing();
  });

  it('is decided for all jobs or for none', () => {
    const states = new Map([
      ['a', fold(job, [started, failed])],
      ['b', fold(job, [started])],
    ]);
    const decision = specification(jobMoveDecision);
    decision()
      .when(decideMoves, { move: 'retry', jobIds: ['a', 'b'] }, { missing: [], states })
      .thenRefused('conflict', /b \(running\)/);
    decision()
      .when(decideMoves, { move: 'retry', jobIds: ['a'] }, { missing: [], states })
      .then({ topic: 'jobsMoved', data: { move: 'retry', jobIds: ['a'] } });
  });
});

describe('The queue of jobs that wait for workers', () => {
  const all = () => true;
  const one = (id: string, turn: string, created: number, more: { component?: string; guard?: string } = {}) => ({
    id,
    turn,
    created,
    component: more.component ?? 'backup',
    guard: more.guard,
  });
  const taken = (
    queue: ReturnType<typeof waitingJobs>,
    components = ['backup'],
    may: (guard?: string) => boolean = all,
  ) => {
    const ids: string[] = [];
    const wish = { components: new Set(components), may };
    for (let job = queue.take(wish); job; job = queue.take(wish)) ids.push(job.id);
    return ids.join(' ');
  };

  it('gives the oldest first', () => {
    const queue = waitingJobs();
    for (const [id, created] of [
      ['c', 3],
      ['a', 1],
      ['b', 2],
    ] as const)
      queue.add(one(id, 'A', created));
    assert.equal(taken(queue), 'a b c');
    assert.equal(queue.size(), 0);
  });

  it('lets automations take turns: one with many jobs does not hold up another', () => {
    const queue = waitingJobs();
    for (let i = 0; i < 4; i++) queue.add(one(`a${i}`, 'A', i));
    for (let i = 0; i < 2; i++) queue.add(one(`b${i}`, 'B', 10 + i));
    assert.equal(taken(queue), 'a0 b0 a1 b1 a2 a3');
  });

  it('does not let an automation that always has a new job go first each time', () => {
    const queue = waitingJobs();
    const wish = { components: new Set(['backup']), may: all };
    queue.add(one('a0', 'A', 0));
    queue.add(one('a1', 'A', 1));
    const order: (string | undefined)[] = [];
    for (let i = 0; i < 4; i++) {
      queue.add(one(`b${i}`, 'B', 10 + i));
      order.push(queue.take(wish)?.id);
    }
    assert.deepEqual(order, ['a0', 'b0', 'a1', 'b1']);
  });

  it('keeps the turn of a job that is told of again, as all tasks of a job are at each change of it', () => {
    const queue = waitingJobs();
    queue.add(one('a', 'A', 0));
    queue.add(one('b', 'B', 1));
    queue.add(one('a', 'A', 0));
    assert.equal(taken(queue), 'a b');
    queue.add(one('a', 'A', 0));
    queue.add(one('b', 'B', 1));
    queue.add(one('a', 'A', 0, { component: 'port' }));
    assert.equal(taken(queue), 'b');
    assert.equal(taken(queue, ['port']), 'a');
  });

  it('serves workers of several components in turn as well', () => {
    const queue = waitingJobs();
    for (let i = 0; i < 3; i++) queue.add(one(`a${i}`, 'A', i));
    queue.add(one('x0', 'X', 9, { component: 'port' }));
    assert.equal(taken(queue, ['port', 'backup', 'none']), 'a0 x0 a1 a2');
  });

  it('passes over what the account may not see', () => {
    const queue = waitingJobs();
    queue.add(one('hidden', 'A', 0, { guard: 'g' }));
    queue.add(one('open', 'A', 1));
    queue.add(one('other', 'B', 2, { guard: 'g' }));
    assert.equal(
      taken(queue, ['backup'], (guard) => guard !== 'g'),
      'open',
    );
    assert.equal(taken(queue), 'other hidden');
  });

  it('has each job once, wherever it is in the line', () => {
    const queue = waitingJobs();
    for (const id of ['a', 'b', 'c']) queue.add(one(id, 'A', 1));
    queue.add(one('b', 'A', 1));
    queue.remove('c');
    queue.remove('unknown');
    assert.equal(taken(queue), 'a b');
  });
});

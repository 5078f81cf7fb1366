import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { logCopy } from '../src/cli/logCopy.ts';
import { endSession, startSession } from '../src/commands/agent-session-manager/agentSessions.ts';
import { createAgent } from '../src/commands/agent-session-manager/agents.ts';
import { retireEnded } from '../src/commands/engine/retirement.ts';
import { runAction } from '../src/commands/lifecycle-manager/actionExecutions.ts';
import { createResourceModel } from '../src/commands/lifecycle-manager/resourceModels.ts';
import { completeJob, failJob, moveJob, startJob } from '../src/commands/operations-manager/jobs.ts';
import { readConfig } from '../src/config.ts';
import { retirement as aggregate, retire } from '../src/domain/engine/retirement.ts';
import { resourceModel } from '../src/domain/lifecycle-manager/resourceModels.ts';
import { job } from '../src/domain/operations-manager/jobs.ts';
import { projections } from '../src/projections/all.ts';
import { compareFolds } from '../src/projections/compareFolds.ts';
import type { ReadStore } from '../src/projections/engine/port.ts';
import { foldLog } from '../src/projections/foldLog.ts';
import { lookForRetiredEveryMs, retirement } from '../src/runners/retirement.ts';
import { openSqliteReader, openSqliteStore } from '../src/store/sqlite.ts';
import { soon } from './cluster.ts';
import { context, specification } from './given.ts';
import { fixedClock, nodesOnLog, startNode, type TestNode } from './node.ts';
import { ok, refused } from './people.ts';
import { temporaryFolder } from './process.ts';
import { type Answer, startService, type TestService } from './service.ts';
import { openStream } from './sse.ts';

const day = 86_400_000;
const source = '@platform/operations-manager';

describe('The retirement of what has ended', () => {
  const given = specification(aggregate);
  const retired = (before: string) => ({ topic: 'endedRetired' as const, data: { before }, source });
  const [early, late] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];

  it('names the time before which it had ended, and the source of its kind', () => {
    given().when(retire, { before: early, source }).then(retired(early));
    given(retired(early)).when(retire, { before: late, source }).then(retired(late));
  });

  it('is no event if it is done already, also after the clock went back', () => {
    given(retired(late)).when(retire, { before: late, source }).thenNothing();
    given(retired(early), retired(late)).when(retire, { before: early, source }).thenNothing();
  });
});

describe('RETENTION_DAYS', () => {
  it('is a number of days, 30 unless set', () => {
    assert.equal(readConfig({}).RETENTION_DAYS, 30);
    for (const days of ['0', '1', '36500'])
      assert.equal(readConfig({ RETENTION_DAYS: days }).RETENTION_DAYS, Number(days));
    for (const days of ['-1', '0.5', '36501', 'never'])
      assert.throws(() => readConfig({ RETENTION_DAYS: days }), /RETENTION_DAYS must be an integer from 0 to/);
  });

  it('is looked at every hour or more often', () => assert.ok(lookForRetiredEveryMs <= 3_600_000));
});

describe('Retirement, on two nodes', () => {
  const clock = fixedClock();
  const { log, node } = nodesOnLog({ reacting: true, now: clock.now });
  const running: { readonly stop: () => Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop()));
  });
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => letter.repeat(24));
  const [first = '', second = '', third = '', fourth = ''] = ids;

  const retiring = ({ handle, tools, model, leadership, run, head, settled }: TestNode, more: object = {}) => {
    const runner = retirement({
      ...{ handle, tools, model, leadership, ready: run.whenReady, head, settled, clock },
      kinds: projections.filter(({ retires }) => retires),
      days: 30,
      lookEveryMs: 5,
      log: () => undefined,
      ...more,
    });
    running.push(runner);
    runner.start();
    return runner;
  };
  const retirements = async (kind = 'job'): Promise<readonly string[]> => {
    const found: string[] = [];
    for await (const events of log.store.read(`retirement-${kind}`)) {
      const stored = events.filter(({ type }) => type.endsWith(':endedRetired'));
      for (const { type, data } of stored) found.push(`${type} ${JSON.parse(data).before}`);
    }
    return found;
  };
  const ended = async (one: TestNode, id: string): Promise<void> => {
    await one.command(startJob, id, { workflow: 'Back up' });
    await one.command(completeJob, id, {});
  };
  /** All have ended, one after the other, and more than 30 days have passed. */
  const allEnded = async (one: TestNode): Promise<void> => {
    for (const id of ids) {
      await ended(one, id);
      clock.pass(1);
    }
    clock.pass(31 * day);
  };
  const shown = async (one: TestNode): Promise<readonly string[]> => {
    await one.catchUp();
    return ids.filter((_, n) => [...one.model.ids('jobs')].includes(ids[n] ?? ''));
  };

  it('removes what ended before, at that event, on each node and in each rebuild', async () => {
    const [one, two] = [await node(), await node()];
    await ended(one, first);
    clock.pass(day);
    await ended(one, second);
    await one.command(startJob, third, { workflow: 'Back up' });
    clock.pass(29 * day + 1);
    const before = new Date(clock.now() - 30 * day).toISOString();
    retiring(one);
    await soon('one is retired', async () => (await retirements()).length > 0);
    assert.deepEqual(await retirements(), [`@platform/operations-manager:endedRetired ${before}`]);
    assert.deepEqual(await retirements('agentSession'), []);
    for (const each of [one, two]) assert.deepEqual(await shown(each), [second, third]);
    const [fold, again] = [await foldLog(log.store), await foldLog(log.store)];
    await fold.foldTo();
    // The fold takes all events in one step; this one takes them in several.
    for (let to = 1; to <= (await log.store.head()); to++) await again.foldTo(to);
    assert.deepEqual(
      (await compareFolds(fold, again)).filter(({ differences }) => differences.length > 0),
      [],
    );
    assert.deepEqual([...fold.model.ids('jobs')].sort(), [second, third]);
  });

  it('removes the same in a rebuild, though a clock said that something ended before it began', async () => {
    const [one, ahead] = [await node(), await node(log.store, { now: () => clock.now() + 5000 })];
    await ahead.command(startJob, first, { workflow: 'Back up' });
    await one.command(completeJob, first, {});
    await ended(one, second);
    assert.deepEqual(await shown(one), [first, second]);
    retiring(one);
    for (const [passing, left] of [
      [30 * day + 1000, [first]],
      [day, []],
    ] as const) {
      clock.pass(passing);
      const before = new Date(clock.now() - 30 * day).toISOString();
      await soon('it is retired', async () => (await retirements()).some((one) => one.endsWith(before)));
      assert.deepEqual(await shown(one), left);
      const fold = await foldLog(log.store);
      await fold.foldTo();
      assert.deepEqual([...fold.model.ids('jobs')], left);
    }
  });

  it('happens once a day, by whichever node, and again after a start', async () => {
    const [one, two] = [await node(), await node()];
    for (const id of [first, second, third]) {
      await ended(one, id);
      clock.pass(day / 2);
    }
    clock.pass(29 * day);
    const runner = retiring(one);
    retiring(two);
    await soon('the first are retired', async () => (await retirements()).length > 0);
    clock.pass(day - 1);
    await pause(50);
    assert.equal((await retirements()).length, 1);
    assert.deepEqual(await shown(two), [second, third]);
    await runner.stop();
    clock.pass(1);
    retiring(one);
    await soon('the others are retired', async () => (await retirements()).length > 1);
    assert.deepEqual(await shown(one), []);
    clock.pass(10 * day);
    await pause(50);
    // Nothing has ended since, so nothing is stored.
    assert.equal((await retirements()).length, 2);
  });

  it('of much is several events, none of which retires more than its share', async () => {
    const one = await node();
    await allEnded(one);
    retiring(one, { atOnce: 2 });
    await soon('all are retired', async () => (await shown(one)).length === 0);
    assert.equal((await retirements()).length, 3);
  });

  it('begins once the read models show what the leader before has stored', async () => {
    const one = await node();
    await allEnded(one);
    const position = (await one.head()) + 1;
    let [waits, lists] = [false, false];
    let show = (): void => undefined;
    const shows = new Promise<void>((resolve) => {
      show = resolve;
    });
    retiring(one, {
      head: async () => position,
      settled: (least = 0) => {
        waits ||= least === position;
        return least === position ? shows : one.settled();
      },
      model: {
        ...one.model,
        list: (...asked: Parameters<ReadStore['list']>) => {
          lists = true;
          return one.model.list(...asked);
        },
      },
    });
    await soon('it waits', () => waits);
    assert.equal(lists, false);
    show();
    await soon('all are retired', async () => (await shown(one)).length === 0);
    assert.equal(lists, true);
  });

  it('never is, with RETENTION_DAYS=0', async () => {
    const one = await node();
    await ended(one, first);
    clock.pass(10_000 * day);
    retiring(one, { days: 0 });
    await pause(50);
    assert.deepEqual(await shown(one), [first]);
  });

  it('leaves alone what was retried in time, and lets nothing go on that is retired', async () => {
    const [one, two] = [await node(), await node()];
    for (const id of [first, second]) {
      await one.command(startJob, id, { workflow: 'Back up' });
      await one.command(moveJob, id, { move: 'cancel' });
    }
    for (const id of [third, fourth]) {
      await one.command(startJob, id, { workflow: 'Back up' });
      await one.command(failJob, id, { error: 'x' });
    }
    await one.command(moveJob, third, { move: 'retry' });
    clock.pass(1);
    const before = new Date(clock.now()).toISOString();
    await one.command(retireEnded, 'job', { before, source });
    // The other node may not know of it yet.
    assert.equal((await two.command(moveJob, fourth, { move: 'retry' })).changed, false);
    assert.equal((await two.tools.state(job, fourth)).status, 'error');
    for (const each of [one, two]) assert.deepEqual(await shown(each), [third]);
    await assert.rejects(two.command(completeJob, fourth, {}), /No such job/);
    // Its id stays taken.
    await assert.rejects(two.command(startJob, fourth, { workflow: 'Back up' }), /exists already/);
    assert.equal((await one.command(completeJob, third, {})).changed, true);
  });

  it('does not cross a retry: the job runs and is shown, or it is retired and does not run', async () => {
    const [one, two] = [await node(), await node()];
    for (const [n, id] of ids.entries()) {
      await one.command(startJob, id, { workflow: 'Back up' });
      await one.command(failJob, id, { error: 'x' });
      clock.pass(1);
      const before = new Date(clock.now()).toISOString();
      const retry = async () => {
        if (n % 2) await pause(n);
        return two.command(moveJob, id, { move: 'retry' });
      };
      const [{ changed }] = await Promise.all([retry(), one.command(retireEnded, 'job', { before, source })]);
      assert.equal((await shown(one)).includes(id), changed, `job ${n}`);
      assert.equal((await one.tools.state(job, id)).status, changed ? 'running' : 'error');
    }
  });

  it('takes no notice of what others write to its stream', async () => {
    const one = await node();
    await ended(one, first);
    const data = JSON.stringify({ before: '2099-01-01T00:00:00.000Z' });
    await log.store.append('retirement-job', -1, [
      { id: randomUUID(), type: 'somebody:endedRetired', data, metadata: '{}' },
      { id: randomUUID(), type: '@platform/lifecycle-manager:endedRetired', data, metadata: '{}' },
    ]);
    assert.deepEqual(await shown(one), [first]);
  });
});

const om = '/operations-manager';
const jobs = `${om}/jobs`;
const sessions = '/agent-session-manager/sessions';
const executions = '/lifecycle-manager/action-executions';

const refusedPlainly = ({ status, text }: Answer, code: number, about = /./): void => {
  assert.equal(status, code, text);
  assert.match(text, about);
};

const [done, own, late, session, model, execution, instanceless] = [...'abcdef0'].map((letter) =>
  letter.repeat(24),
) as [...[string, string, string, string, string, string, string]];

/** A folder with the log of a service that did something forty days ago. */
const oldLog = async (): Promise<string> => {
  const folder = temporaryFolder();
  const store = await openSqliteStore({ file: join(folder, 'events.db') });
  const clock = fixedClock(Date.now() - 40 * day);
  const node = await startNode(store, { now: clock.now, reacting: true });
  const by = { actor: { ...context.actor, id: 'tester' } };
  await node.group('ops');
  await node.command(startJob, done, { workflow: 'Back up', variables: { site: 'Bonn' } }, by);
  await node.command(completeJob, done, {}, by);
  await node.command(startJob, own, { workflow: 'Own', groups: ['ops'] }, by);
  await node.command(failJob, own, { error: 'No answer' }, by);
  await node.command(startJob, late, { workflow: 'Back up' }, by);
  await node.command(createAgent, 'agent', { name: 'Agent', inputSchema: {}, runner: 'webhook', url: 'http://h/' }, by);
  await node.command(startSession, session, { agent: 'Agent' }, by);
  await node.command(endSession, session, { status: 'COMPLETE', lastMessage: 'Done' }, by);
  const actions = [{ name: 'Make', type: 'create' }];
  await node.command(createResourceModel, model, { name: 'Port', schema: {}, actions }, by);
  const [action] = (await node.tools.state(resourceModel, model)).content.actions;
  const input = { modelId: model, actionId: action?._id, instanceName: 'p1', inputs: {} };
  await node.command(runAction, execution, input, by);
  clock.pass(35 * day);
  // Started long ago, ended lately.
  await node.command(completeJob, late, {}, by);
  clock.pass(5 * day);
  await node.group('newest');
  await node.catchUp();
  await node.stop();
  await store.close();
  return folder;
};

describe('what is retired', function () {
  this.timeout(240_000);
  let folder: string;
  let service: TestService;
  const password = 'a long enough password';
  const as = (user: string) => service.as({ user, password });
  let ended: string;
  let asOfThen: number;
  const idsOf = async (path: string): Promise<readonly string[]> => {
    const { data, results = data } = ok(await service.ask('GET', path));
    return results.map(({ _id, sessionId = _id }: any) => sessionId).sort();
  };
  const stored = (): Promise<any> =>
    service.ask('GET', '/audit/events?topic=endedRetired').then((answer) => ok(answer).results);

  before(async () => {
    folder = await oldLog();
    const first = await startService({ RETENTION_DAYS: '0' }, folder);
    for (const [username, memberOf] of [
      ['member', ['operators', 'ops']],
      ['stranger', ['operators']],
    ] as const)
      ok(await first.ask('POST', '/authorization/accounts', { username, password, memberOf }));
    for (const path of [`${jobs}/${done}`, `${sessions}/${session}`, `${executions}/${execution}`])
      ok(await first.ask('GET', path));
    ended = ok(await first.ask('GET', `${jobs}/${done}`)).data.metrics.end_time;
    const watched = await first.ask('POST', `${jobs}/watch`, { jobIds: [done, own, late] });
    ok(watched);
    asOfThen = Number(watched.headers.get('x-event-position'));
    service = await first.restart({ RETENTION_DAYS: '30' });
    await soon('all kinds are retired', async () => (await stored()).length === 3);
  });
  after(async () => {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has left the lists; what has ended lately has not', async () => {
    assert.deepEqual(await idsOf(jobs), [late]);
    assert.deepEqual(await idsOf(sessions), []);
    assert.deepEqual(await idsOf(executions), []);
  });

  it('is 404, with a hint how to see it, to those who might read it', async () => {
    const hint = new RegExp(`retired since: \\?asOf=${ended} shows it`);
    refused(await service.ask('GET', `${jobs}/${done}`), 404, hint);
    refused(await service.ask('GET', `${executions}/${execution}`), 404, /retired since/);
    refusedPlainly(await service.ask('GET', `${sessions}/${session}`), 404, /retired since/);
    refusedPlainly(await service.ask('GET', `${sessions}/${session}/messages`), 404, /retired since/);
    assert.equal(ok(await service.ask('GET', `${jobs}/${done}?asOf=${ended}`)).data.status, 'complete');
    refused(await as('member')('GET', `${jobs}/${own}`), 404, /retired since/);
    const { status, text } = await as('stranger')('GET', `${jobs}/${own}`);
    assert.deepEqual([status, /retired/.test(text)], [404, false]);
    const unknown = await service.ask('GET', `${jobs}/${instanceless}`);
    assert.deepEqual([unknown.status, /retired/.test(unknown.text)], [404, false]);
  });

  it('is in as-of until it was retired, and 404 after that, as the GET was', async () => {
    const then = `?asOf=${asOfThen}`;
    assert.equal(ok(await service.ask('GET', `${jobs}/${done}${then}`)).data.variables.site, 'Bonn');
    ok(await service.ask('GET', `${sessions}/${session}${then}`));
    ok(await service.ask('GET', `${sessions}/${session}/messages${then}`));
    ok(await service.ask('GET', `${executions}/${execution}${then}`));
    assert.deepEqual(await idsOf(`${jobs}${then}`), [done, own, late].sort());
    assert.deepEqual(await idsOf(`${sessions}${then}`), [session]);
    const [{ position }] = await stored();
    const after = `?asOf=${position}`;
    refused(await service.ask('GET', `${jobs}/${done}${after}`), 404);
    refusedPlainly(await service.ask('GET', `${sessions}/${session}${after}`), 404);
    refusedPlainly(await service.ask('GET', `${sessions}/${session}/messages${after}`), 404);
    refused(await service.ask('GET', `${executions}/${execution}${after}`), 404);
    assert.deepEqual(await idsOf(`${jobs}${after}`), [late]);
    assert.deepEqual(await idsOf(`${sessions}${after}`), []);
    assert.deepEqual(await idsOf(`${executions}${after}`), []);
    // The jobs were retired before the sessions and executions.
    const [job] = (await stored()).filter(({ source: from }: any) => from === source);
    assert.deepEqual(await idsOf(`${jobs}?asOf=${job.position - 1}`), [done, own, late].sort());
    assert.deepEqual(await idsOf(`${jobs}?asOf=${job.position}`), [late]);
  });

  it('is in audit', async () => {
    const { results } = ok(await service.ask('GET', `/audit/resources/job/${done}`));
    assert.deepEqual(
      results.map(({ topic }: any) => topic),
      ['jobCompleted', 'jobStarted'],
    );
  });

  it('takes no reports, moves, claims and heartbeats any more: 404, and nothing is stored', async () => {
    const head = async () => ok(await service.ask('GET', '/health/status')).eventStore.position;
    const before = await head();
    const requests = [
      ['complete', {}],
      ['error', { error: 'No answer' }],
      ['heartbeat', { claim: 1 }],
      ['release', { claim: 1 }],
    ] as const;
    for (const id of [done, own])
      for (const [what, body] of requests) refused(await service.ask('POST', `${jobs}/${id}/${what}`, body), 404);
    for (const what of ['pause', 'resume', 'cancel', 'retry', 'watch', 'unwatch'])
      refused(await service.ask('POST', `${jobs}/${what}`, { jobIds: [own] }), 404);
    refusedPlainly(await service.ask('POST', `${sessions}/${session}/cancel`), 404);
    refusedPlainly(await service.ask('POST', `${sessions}/${session}/complete`, {}), 404);
    refused(await service.ask('POST', `${executions}/${execution}/cancel`), 404);
    assert.equal(await head(), before);
  });

  it('is not in the lists of who watches', async () => {
    const watching = async () => {
      const store = await openSqliteReader(join(folder, 'events.db'));
      const fold = await foldLog(store);
      await fold.foldTo();
      await store.close();
      const [entry] = [...fold.model.entries()].filter(([collection]) => collection === 'watchings');
      return JSON.parse(entry?.[1].text ?? 'null').watched;
    };
    assert.deepEqual(await watching(), [late]);
    assert.deepEqual(ok(await service.ask('GET', `${jobs}/${late}`)).data.watchers, ['admin']);
  });

  it('is so by events with the sources of their kinds, seen by admins in audits and in no stream of events', async () => {
    const events = await stored();
    assert.deepEqual(events.map((event: any) => `${event.source} ${event.resource}`).sort(), [
      '@platform/agent-session-manager null',
      '@platform/lifecycle-manager null',
      '@platform/operations-manager null',
    ]);
    assert.deepEqual(ok(await as('stranger')('GET', '/audit/events?topic=endedRetired')).results, []);
    const stream = await openStream(service.url, '?from=start');
    ok(await service.ask('POST', `${om}/events/test/last`, {}));
    await soon('the stream has come to its end', () => stream.frames.some(({ event }) => event === 'test:last'));
    assert.equal(
      stream.frames.some(({ event = '' }) => event.endsWith('endedRetired')),
      false,
    );
    stream.close();
    const { data } = ok(await service.ask('GET', `${om}/events`));
    assert.equal(
      data.some(({ topic }: any) => topic === 'endedRetired'),
      false,
    );
  });

  it('stays away after a rebuild, and is the same in a log that was copied', async () => {
    const { collections } = ok(await service.ask('POST', '/health/rebuild'));
    for (const { name, differences } of collections) assert.deepEqual(differences, [], name);
    const copy = temporaryFolder();
    service = await service.restart();
    await service.stop();
    const url = (at: string): string => `sqlite:${join(at, 'events.db')}`;
    await logCopy(url(folder), url(copy), new AbortController().signal, { output: { write: () => true } as never });
    const ours = await openSqliteReader(join(folder, 'events.db'));
    const theirs = await openSqliteReader(join(copy, 'events.db'));
    const [one, other] = [await foldLog(ours), await foldLog(theirs)];
    await Promise.all([one.foldTo(), other.foldTo()]);
    const differing = (await compareFolds(one, other)).filter(({ differences }) => differences.length > 0);
    assert.deepEqual(differing, []);
    assert.deepEqual([...other.model.ids('jobs')], [late]);
    await Promise.all([ours.close(), theirs.close()]);
    rmSync(copy, { recursive: true, force: true });
    service = await startService({}, folder);
    assert.deepEqual(await idsOf(jobs), [late]);
  });
});

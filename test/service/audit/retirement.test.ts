import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { logCopy } from '../../../src/cli/commands/logCopy.ts';
import { endSession, startSession } from '../../../src/commands/agent-session-manager/agentSessions.ts';
import { createAgent } from '../../../src/commands/agent-session-manager/agents.ts';
import { runAction } from '../../../src/commands/lifecycle-manager/actionExecutions.ts';
import { createResourceModel } from '../../../src/commands/lifecycle-manager/resourceModels.ts';
import { completeJob, failJob, startJob } from '../../../src/commands/operations-manager/jobs.ts';
import { resourceModel } from '../../../src/domain/lifecycle-manager/resourceModels.ts';
import { compareFolds, foldLog } from '../../../src/projections/foldLog.ts';
import { openSqliteReader, openSqliteStore } from '../../../src/store/sqlite/store.ts';
import { soon } from '../../support/cluster.ts';
import { context } from '../../support/given.ts';
import { positionOf } from '../../support/hostile.ts';
import { fixedClock, startNode } from '../../support/node.ts';
import { ok, refused } from '../../support/people.ts';
import { temporaryFolder } from '../../support/process.ts';
import { type Answer, startService, type TestService } from '../../support/service.ts';
import { openStream } from '../../support/sse.ts';

const day = 86_400_000;

const source = '@platform/operations-manager';

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
    const before = await positionOf(service);
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
    assert.equal(await positionOf(service), before);
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

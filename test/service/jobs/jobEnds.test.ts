import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { job } from '../../../src/domain/operations-manager/jobs.ts';
import { soon } from '../../support/cluster.ts';
import { itInSoak } from '../../support/itInSoak.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { startServer, temporaryFolder } from '../../support/process.ts';
import { startService, type TestService } from '../../support/service.ts';
import { person, worker, workflow } from '../../support/workflowSamples.ts';

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
    const byPerson = { p: person() };
    for (const [name, tasks] of Object.entries({
      Person: byPerson,
      'Person and worker': { ...byPerson, w: worker() },
    })) {
      const edges = Object.keys(tasks).flatMap((id) => [`start -> ${id}`, `${id} -> end`]);
      ok(await service.ask('POST', '/operations-manager/workflows', { ...workflow(tasks, edges), name }));
    }
    const [silent, unheard] = [await start('Person'), await start('Person and worker')];
    const again = await service.restart(brief);
    const get = async (id: string): Promise<any> => ok(await again.ask('GET', `${jobs}/${id}`)).data;
    for (const id of [queued, held, claimed, unheard]) {
      await soon('it ends', async () => (await get(id)).status === 'error');
      assert.equal((await get(id)).error, 'Nothing has happened for 0.0003 hours (JOB_TIMEOUT)');
    }
    ok(await again.ask('POST', `${jobs}/retry`, { jobIds: [queued] }));
    await soon('it ends again', async () => (await get(queued)).status === 'error');
    assert.equal((await get(silent)).status, 'running', 'a person has all the time');
    await again.stop();
  });

  itInSoak('end once, though the process is killed while they end', async () => {
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

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok, type People, people, refused } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ours, worker, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says

const om = '/operations-manager';

describe('a workflow, and the rights and secrets of its job', function () {
  this.timeout(60_000);
  let service: TestService;
  let who: People;
  const admin = async (method: string, path: string, body?: unknown): Promise<Json> =>
    ok(await service.ask(method, path, body));
  const save = (name: string, document: Json): Promise<Json> => admin('POST', `${om}/workflows`, { ...document, name });
  const jobNow = async (id: string): Promise<Json> => (await admin('GET', `${om}/jobs/${id}`)).data;
  before(async () => {
    service = await startService();
    who = await people(service);
  });
  after(() => service.stop());

  it('begins no further task once its account has lost its rights', async () => {
    await save('Held', workflow({ w: worker() }, ['start -> w', 'w -> end']));
    const held = {
      name: 'Held',
      componentType: 'workflows',
      componentName: 'Held',
      gbac: { read: ['ops'], write: ['admins'] },
    };
    const { data: automation } = await admin('POST', `${om}/automations`, held);
    const start = () => who.member('POST', `${om}/jobs/start`, { workflow: 'Held' });
    const { _id: id } = ok(await start()).data;
    const { _id: worked } = ok(await start()).data;
    const task = `${worked}.w.1`;
    assert.deepEqual(ok(await who.stranger('GET', `${om}/tasks`)).data, [], 'whoever may not see the job sees no task');
    refused(await who.stranger('POST', `${om}/tasks/${task}/finish`, { result: 'success' }), 404);
    await admin('PATCH', `${om}/automations/${automation._id}`, { gbac: { read: [], write: ['admins'] } });
    // A report of work that is done is taken first.
    ok(await service.ask('POST', `${om}/tasks/${task}/finish`, { result: 'success' }));
    assert.deepEqual((await admin('POST', `${om}/tasks/claim`, { apps: ['Lab'], worker: 'w' })).data, []);
    await until(async () => (await jobNow(id)).status === 'error', 'the end of the job');
    assert.match((await jobNow(id)).error, /may not read its automation/);
    assert.equal((await jobNow(worked)).status, 'complete');
  });

  it('gives secrets to workers in clear, and to nobody else; no data task looks at them', async () => {
    const tasks = {
      move: ours('newVariable', { name: 'moved', value: '$var.job.token' }),
      look: ours('stringConcat', { str: '$var.job.token', stringN: ['x'] }, { app: 'WorkFlowEngine' }),
      w: worker({ login: '$var.job.moved' }),
    };
    const transitions = ['start -> move', 'start -> look', 'look -error-> w', 'move -> w', 'w -> end'];
    await save('Secret', workflow(tasks, transitions));
    const options = { variables: { token: 'hunter2' } };
    const { _id: id } = (await admin('POST', `${om}/jobs/start`, { workflow: 'Secret', options })).data;
    const asking = { apps: ['Lab'], worker: 'w' };
    // It comes over plain HTTP from another machine: nothing is given out, and nothing is claimed.
    refused(await service.ask('POST', `${om}/tasks/claim`, asking, { 'X-Forwarded-For': '192.0.2.7' }), 403, /TLS/);
    const [given] = (await admin('POST', `${om}/tasks/claim`, asking)).data;
    assert.deepEqual([given.claim, given.task.incoming.login], [1, 'hunter2']);
    for (const path of [`tasks/${id}.w.1`, `jobs/${id}`, `jobs/${id}/tasks/w`, `tasks?job=${id}`])
      assert.doesNotMatch(JSON.stringify(await admin('GET', `${om}/${path}`)), /hunter2/, path);
    const events = await withLog(join(service.folder, 'events.db'), (log) => eventsOf(log, `job-${id}`));
    assert.doesNotMatch(JSON.stringify(events), /hunter2/);
    assert.equal((await jobNow(id)).tasks.look.result, 'error');
    const body = { claim: given.claim, result: 'success', outgoing: { api_key: 'abc' } };
    await admin('POST', `${om}/tasks/${id}.w.1/finish`, body);
    assert.equal((await jobNow(id)).variables.moved, '********');
  });

  it('seals the variables that it calls encrypted, however they come into a job', async () => {
    const decorators = ['pin', 'door'].map((name) => ({ type: 'encryption', pointer: `/variables/${name}` }));
    await save('Inner', workflow({ w: worker({ pin: '$var.job.pin' }) }, ['start -> w', 'w -> end'], { decorators }));
    const tasks = {
      p: worker(),
      look: ours('stringConcat', { str: '$var.job.pin', stringN: ['x'] }),
      child: ours('childJob', { workflow: 'Inner', variables: { pin: { task: 'job', value: 'open' } } }),
    };
    const edges = ['start -> p', 'p -> look', 'look -error-> child', 'child -> end'];
    const { data: saved } = await save('Outer', workflow(tasks, edges, { decorators }));
    const variables = { pin: 'hunter3', door: { number: 'hunter4' }, open: 'hunter5' };
    const path = `${om}/workflows/${saved._id}/simulate`;
    const { data: simulated } = await admin('POST', path, { variables });
    assert.deepEqual(simulated.variables, { pin: '********', door: '********', open: 'hunter5' });
    assert.equal(simulated.tasks.look.result, 'error');
    const { _id: id } = (await admin('POST', `${om}/jobs/start`, { workflow: 'Outer', options: { variables } })).data;
    await admin('POST', `${om}/tasks/${id}.p.1/finish`, { result: 'error', error: 'no' });
    const again = { fromTask: 'p', variables: { pin: '********', door: 'hunter6' } };
    await admin('POST', `${om}/jobs/${id}/continue`, again);
    await admin('POST', `${om}/tasks/${id}.p.2/finish`, { result: 'success' });
    let given: Json;
    await until(async () => {
      [given] = (await admin('POST', `${om}/tasks/claim`, { apps: ['Lab'], worker: 'w' })).data;
      return given !== undefined;
    }, 'the task of the child');
    assert.equal(given.task.incoming.pin, 'hunter5', 'a worker gets it in clear');
    await admin('POST', `${om}/tasks/${given.task._id}/finish`, { claim: given.claim, result: 'success' });
    await until(async () => (await jobNow(id)).status === 'complete', 'the end of the job');
    const log = join(service.folder, 'events.db');
    const events = await withLog(log, async (open) => [
      await eventsOf(open, `job-${id}`),
      await eventsOf(open, `job-${given.task.job}`),
    ]);
    const [ofJob, ofChild] = events.map((one) => JSON.stringify(one));
    assert.doesNotMatch(ofJob!.replaceAll('"open":"hunter5"', ''), /hunter/);
    assert.doesNotMatch(ofChild!, /hunter/);
    assert.deepEqual((await jobNow(id)).variables.pin, '********');
    const set = events[0]!.find(({ topic }: Json) => topic === 'variablesSet') as Json;
    const begun = events[0]![0] as Json;
    assert.deepEqual(set.data.variables.pin, begun.data.variables.pin, 'the mask keeps a secret');
  });

  it('is not started by an event whose variables it refuses', async () => {
    const inputSchema = { type: 'object', required: ['payload'], properties: { payload: { type: 'string' } } };
    await save('Picky', workflow({ w: worker() }, ['start -> w', 'w -> end'], { inputSchema }));
    const picky = { name: 'Picky', componentType: 'workflows', componentName: 'Picky' };
    const { data: automation } = await admin('POST', `${om}/automations`, picky);
    const trigger = {
      name: 'On ticket',
      type: 'eventSystem',
      source: 'itsm',
      topic: 'ticket',
      actionId: automation._id,
    };
    const { data } = await admin('POST', `${om}/triggers`, { ...trigger, actionType: 'automations', enabled: true });
    await admin('POST', `${om}/events/itsm/ticket`, { number: 7 });
    let refusals: readonly Json[] = [];
    await until(async () => {
      const log = join(service.folder, 'events.db');
      refusals = await withLog(log, (open) => eventsOf(open, `triggerRuns-${data._id}`));
      return refusals.length > 0;
    }, 'the refusal');
    assert.deepEqual([refusals[0].topic, refusals[0].data.reason], ['runsRefused', 'variables']);
    const manual = {
      name: 'By hand',
      type: 'manual',
      actionId: automation._id,
      actionType: 'automations',
      enabled: true,
    };
    const { data: byHand } = await admin('POST', `${om}/triggers`, manual);
    refused(await service.ask('POST', `${om}/triggers/manual/${byHand._id}/run`, {}), 422, /variables/);
  });
});

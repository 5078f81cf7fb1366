import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { OperationId } from '../../../src/domain/operations-manager/workflows/ownOperations.ts';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { eventsIn, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { basic } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { ours, workflow } from '../../support/workflowSamples.ts';

type Json = any; // answers are whatever the route says

const om = '/operations-manager';

/** A task that stands for an operation. Each output goes into the variable of its name. */
const own = (operation: OperationId, incoming: Json, ...outputs: readonly string[]): Json => {
  const [app, name = ''] = operation.split('.');
  const outgoing = Object.fromEntries(outputs.map((output) => [output, `$var.job.${output}`]));
  return { ...ours(name, incoming, { variables: { outgoing } }), app };
};

describe('Tasks that stand for operations of the service', function () {
  this.timeout(120_000);
  let folder: string;
  let server: Server;
  let devices: Controller;
  let admin: ReturnType<typeof builtInOf>;
  const ask = (...args: Parameters<Server['ask']>) => server.ask(...args);
  const start = async () => {
    server = await startServer(folder, { OUTBOUND_ALLOW: '127.0.0.1' });
  };
  before(async () => {
    folder = temporaryFolder();
    devices = await controller();
    await start();
    admin = builtInOf(ask);
    ok(await ask('POST', '/configuration_manager/adapters', devices.adapter()));
    await admin.commandTemplate('Two', [{ command: 'one <!token!>' }, { command: 'two' }]);
  });
  beforeEach(() => {
    devices.commands.length = 0;
    devices.answer = says('fine');
  });
  after(async () => {
    await server.stop();
    devices.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const save = async (name: string, tasks: Json): Promise<void> => {
    const ids = ['start', ...Object.keys(tasks), 'end'];
    const edges = ids.slice(1).map((id, i) => `${ids[i]} -> ${id}`);
    ok(await ask('POST', `${om}/workflows`, { ...workflow(tasks, edges), name }));
  };
  const logged = () => withLog(join(folder, 'events.db'), eventsIn);
  /** The events of a task, in short. */
  const eventsOf = async (job: string, task: string): Promise<readonly string[]> =>
    (await logged())
      .filter(({ stream, data }: Json) => stream === `job-${job}` && data.task === task)
      .map(({ topic, data }: Json) => [topic, data.claim, data.reason ?? data.result].filter(Boolean).join(' '));
  const claimed = (job: string, task: string, claim: number) =>
    until(async () => (await admin.get(job)).tasks[task].claim?.claim === claim, `claim ${claim} on ${task}`);
  const twoOn = (incoming: Json = {}) =>
    own('MOP.RunCommandTemplate', { template: 'Two', devices: ['r1'], variables: { token: 'x' }, ...incoming });

  it('are carried out one after the other, and their secrets show as ********', async () => {
    await admin.template('Config', 'host {{ site }} {{ login.password }}');
    await save('Whole', {
      text: own('TemplateBuilder.renderJinjaTemplate', { name: 'Config', context: '$var.job.all' }, 'renderedTemplate'),
      cast: own('TemplateBuilder.renderJinja2ContextWithCast', {
        template: '[{{ n }}]',
        variables: { n: 7 },
        castDataType: 'object',
      }),
      stored: own('TemplateBuilder.renderJinja2TemplateWithCast', {
        name: 'Config',
        variables: { site: 'Ulm', login: {} },
      }),
      find: own('ConfigurationManager.getDevice', { name: 'r1' }, 'device'),
      run: own(
        'MOP.RunCommandTemplate',
        { template: 'Two', devices: ['r1'], variables: '$var.job.given' },
        'mop_template_results',
      ),
      apply: own(
        'ConfigurationManager.applyDeviceConfig',
        { device: 'r2', config: '$var.text.renderedTemplate' },
        'result',
      ),
      tell: own(
        'OperationsManager.publishEvent',
        { source: 'lab', topic: 'done', payload: '$var.job.all' },
        'position',
      ),
    });
    devices.answer = says('you said s3cret-word');
    const all = { site: 'Bonn', login: { password: 'other-s3cret' } };
    const id = await admin.start('Whole', { all, given: { token: 's3cret-word' } });
    const { status, error, variables, tasks } = await admin.inState(id, 'complete', 'error');
    assert.deepEqual([status, error], ['complete', null]);
    assert.equal(variables.renderedTemplate, 'host Bonn ********');
    assert.deepEqual(variables.device, { name: 'r1', adapter: 'controller' });
    assert.deepEqual(variables.result, { device: 'r2', adapter: 'controller', status: 200 });
    assert.equal(variables.mop_template_results.commands_results[0].response, 'you said ********');
    assert.equal(tasks.cast.status, 'done');
    const run = async (task: string) => ok(await ask('GET', `${om}/jobs/${id}/tasks/${task}`)).data.outgoing;
    assert.deepEqual(await run('cast'), { renderedTemplate: [7] });
    assert.deepEqual(await run('stored'), { renderedTemplate: 'host Ulm ' });
    assert.deepEqual(
      devices.commands.slice(0, 2).map(({ command }) => command),
      ['one s3cret-word', 'two'],
    );
    const events = await logged();
    const [told] = events.filter(({ topic, source }: Json) => topic === 'done' && source === 'lab') as Json[];
    assert.deepEqual(told.data, { site: 'Bonn', login: { password: '********' } });
    assert.equal(told.position, variables.position);
    assert.doesNotMatch(JSON.stringify(events), /s3cret-word|other-s3cret/);
    assert.deepEqual(await eventsOf(id, 'run'), ['taskOffered', 'taskClaimed 1', 'taskFinished success']);
  });

  it('stop at the next step once the account has lost its rights', async () => {
    const password = 'a long enough password';
    const account = { username: 'leaver', password, memberOf: ['operators'] };
    const { _id } = ok(await ask('POST', '/authorization/accounts', account)).data;
    const login = { Authorization: basic({ user: 'leaver', password }) };
    const leaver = builtInOf((method: string, path: string, body?: unknown) => ask(method, path, body, login));
    await save('Left', { run: twoOn() });
    devices.answer = () => undefined;
    const id = await leaver.start('Left');
    await until(() => devices.commands.length === 1);
    ok(await ask('PATCH', `/authorization/accounts/${_id}`, { inactive: true }));
    devices.answer = says('fine');
    says('fine')(devices.commands[0]!.response);
    assert.match((await admin.inState(id, 'complete', 'error')).error.message, /deleted or inactive/);
    assert.equal(devices.commands.length, 1);
  });

  it('that read are done again after a kill, and those that act are not', async () => {
    const endless = '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}';
    await admin.template('Long', endless);
    await save('Reads', { it: own('TemplateBuilder.renderJinjaTemplate', { name: 'Long' }, 'renderedTemplate') });
    await save('Acts', { it: twoOn() });
    await save('Applies', { it: own('ConfigurationManager.applyDeviceConfig', { device: 'r2', config: 'x' }) });
    const { properties } = devices.adapter() as Json;
    const uri = `${properties.baseUrl}/devices/rest/commands`;
    await save('Calls', {
      it: own('WorkFlowEngine.restCall', { uri, verb: 'POST', body: { command: 'x' } }),
    });
    devices.answer = () => undefined;
    const [reads, acts, applies, calls] = [
      await admin.start('Reads'),
      await admin.start('Acts'),
      await admin.start('Applies'),
      await admin.start('Calls'),
    ];
    await claimed(reads, 'it', 1);
    await until(() => devices.commands.length === 3, 'what was sent to the devices, and the call');
    await server.stop('SIGKILL');
    await start();
    devices.answer = says('fine');
    for (const id of [acts, applies, calls]) {
      const { status, error } = await admin.inState(id, 'complete', 'error');
      assert.equal(status, 'error');
      assert.match(error.message, /outcome is unknown/);
      assert.deepEqual(await eventsOf(id, 'it'), [
        'taskOffered',
        'taskClaimed 1',
        'taskReleased 1 lapsed',
        'taskFinished error',
      ]);
    }
    await claimed(reads, 'it', 2);
    await admin.move('pause', reads);
    ok(await ask('PUT', '/template_builder/templates/Long', { template: 'now' }));
    await until(async () => (await admin.get(reads)).tasks.it.claim === null, 'the task given back');
    await admin.move('resume', reads);
    assert.equal((await admin.inState(reads, 'complete', 'error')).variables.renderedTemplate, 'now');
    assert.deepEqual(await eventsOf(reads, 'it'), [
      'taskOffered',
      'taskClaimed 1',
      'taskReleased 1 lapsed',
      'taskClaimed 2',
      'taskReleased 2 returned',
      'taskClaimed 3',
      'taskFinished success',
    ]);
    assert.equal(devices.commands.length, 3, 'nothing was sent again');
    await admin.move('retry', acts);
    assert.equal((await admin.inState(acts, 'complete', 'error')).status, 'complete');
  });
});

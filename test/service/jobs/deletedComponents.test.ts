import assert from 'node:assert/strict';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { ok } from '../../support/people.ts';
import { sampled } from '../../support/sample.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { webhookServer } from '../../support/webhookServer.ts';

// A second of processor time, which is all that a template may take.
const endless = '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}';

describe('A component that is deleted after its job was started', function () {
  this.timeout(120_000);
  let service: TestService;
  let devices: Controller;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  let admin: ReturnType<typeof builtInOf>;
  before(async () => {
    service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
    devices = await controller();
    agents = await webhookServer({
      '/hang': () => undefined,
      '/later': (response) => void response.writeHead(202).end(),
    });
    ok(await service.ask('POST', '/configuration_manager/adapters', devices.adapter()));
    admin = builtInOf(service.ask);
  });
  after(async () => {
    await service.stop();
    agents.close();
    devices.close();
  });
  beforeEach(() => {
    devices.commands.length = 0;
    devices.answer = () => undefined;
  });

  /** Makes a component of each type with this name, and an automation of it. */
  const make = {
    template: (name: string, text = 'x') => admin.template(name, text),
    'mop-template': (name: string) => admin.commandTemplate(name, [{ command: 'one' }, { command: 'two' }]),
    agent: (name: string, path = '/later') => admin.agent(name, { runner: 'webhook', url: agents.url(path) }),
  };
  const paths = {
    template: (name: string) => ['DELETE', `/template_builder/templates/${name}`] as const,
    'mop-template': (name: string) => ['POST', `/mop/deleteTemplate/${name}`] as const,
    agent: (name: string) => ['DELETE', `/agent-session-manager/agents/${name}`] as const,
  };
  type Type = keyof typeof make;
  const types = Object.keys(make) as Type[];

  const automations = new Map<string, string>();
  const startOf = async (type: Type, name: string): Promise<string> => {
    automations.set(name, await admin.automation(type, name));
    return admin.start(name, { devices: ['r1'] });
  };
  /** Deletes the component. Its automation must run something else before; jobs keep what they were started with. */
  const remove = async (type: Type, name: string): Promise<void> => {
    const other = { componentType: 'workflows', componentName: 'Something else' };
    ok(await service.ask('PATCH', `/operations-manager/automations/${automations.get(name)}`, other));
    const [method, path] = paths[type](name);
    ok(await service.ask(method, path));
  };
  const endsInError = async (id: string, type: Type, name: string): Promise<void> => {
    const { status, error } = await admin.inState(id, 'complete', 'error');
    assert.deepEqual([status, error], ['error', `There is no ${type} "${name}"`]);
  };
  /** Sessions in all places: no other job of these components may begin. Returns their jobs. */
  const fillPlaces = async (name: string): Promise<readonly string[]> => {
    await make.agent(name, '/hang');
    await admin.automation('agent', name);
    const ids: string[] = [];
    for (let n = 0; n < 16; n++) ids.push(await admin.start(name));
    await until(() => callsOf(name).length === ids.length);
    return ids;
  };
  const callsOf = (name: string): readonly any[] => agents.called.filter(({ body }) => body.agent === name);

  it('ends the job in error, a template that waits to be rendered', async () => {
    // An account renders one template at a time, so these keep the other one waiting for two seconds.
    await make.template('Endless', endless);
    await admin.automation('template', 'Endless');
    for (let n = 0; n < 2; n++) await admin.start('Endless');
    await make.template('Rendered');
    const id = await startOf('template', 'Rendered');
    await until(async () => (await admin.get(id)).claim !== null);
    await remove('template', 'Rendered');
    await endsInError(id, 'template', 'Rendered');
  });

  it('ends the job in error, a command template whose first command is answered: the second is not sent', async () => {
    await make['mop-template']('Sent');
    const id = await startOf('mop-template', 'Sent');
    await until(() => devices.commands.length === 1);
    await remove('mop-template', 'Sent');
    const [first] = devices.commands;
    if (first) says('fine')(first.response);
    await endsInError(id, 'mop-template', 'Sent');
    assert.equal(devices.commands.length, 1);
  });

  it('ends the job in error, an agent whose session ends', async () => {
    await make.agent('Followed');
    const id = await startOf('agent', 'Followed');
    await until(() => callsOf('Followed').length === 1);
    await remove('agent', 'Followed');
    const [call] = callsOf('Followed');
    ok(await admin.report(call.body.sessionId, 'complete', 'Done'));
    await endsInError(id, 'agent', 'Followed');
  });

  for (const type of sampled(types, 1))
    it(`ends a queued job in error, though no other may begin: ${type}`, async () => {
      const name = `Queued ${type}`;
      const places = await fillPlaces(`In the places before ${name}`);
      await make[type](name);
      const id = await startOf(type, name);
      assert.equal((await admin.get(id)).claim, null);
      await remove(type, name);
      await endsInError(id, type, name);
      const { results } = ok(await service.ask('GET', `/audit/events?resource=job/${id}`));
      assert.deepEqual(
        results.map(({ topic }: any) => topic),
        ['jobErrored', 'jobStarted'],
      );
      await admin.move('cancel', ...places);
    });

  for (const type of sampled(types, 1))
    it(`leaves a paused job paused, which ends in error once it is resumed: ${type}`, async () => {
      const name = `Paused ${type}`;
      const places = await fillPlaces(`In the places before ${name}`);
      await make[type](name);
      const id = await startOf(type, name);
      await admin.move('pause', id);
      await remove(type, name);
      await admin.move('cancel', ...places);
      // What was started later has run: the paused job had its chance.
      await make.template(`After ${name}`);
      await admin.inState(await startOf('template', `After ${name}`), 'complete');
      assert.equal((await admin.get(id)).status, 'paused');
      await admin.move('resume', id);
      await endsInError(id, type, name);
    });

  it('ends the job in error again after a retry, until there is one with its name', async () => {
    await make.template('Back', '{{ 1 / 0 }}');
    const id = await startOf('template', 'Back');
    assert.match((await admin.inState(id, 'complete', 'error')).error, /does not render/);
    await remove('template', 'Back');
    await admin.move('retry', id);
    await endsInError(id, 'template', 'Back');
    await make.template('Back');
    await admin.move('retry', id);
    assert.equal((await admin.inState(id, 'complete', 'error')).variables.renderedTemplate, 'x');
  });
});

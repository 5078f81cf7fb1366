import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { until } from '../../support/until.ts';
import { says as answers, webhookServer } from '../../support/webhookServer.ts';

const endless = '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}';

describe('Built-in components whose service ends', function () {
  this.timeout(300_000);
  let folder: string;
  let server: Server;
  let devices: Controller;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  const admin = builtInOf((method, path, body) => server.ask(method, path, body));
  const start = async (): Promise<void> => {
    server = await startServer(folder, { OUTBOUND_ALLOW: '127.0.0.1' });
  };
  const eventsOfJob = (id: string) => withLog(join(folder, 'events.db'), (log) => eventsOf(log, `job-${id}`));
  const topicsOf = async (id: string): Promise<readonly string[]> => (await eventsOfJob(id)).map(({ topic }) => topic);

  beforeEach(async () => {
    folder = temporaryFolder();
    devices = await controller();
    agents = await webhookServer({
      '/hang': () => undefined,
      '/done': answers({ status: 'COMPLETE', lastMessage: 'Done' }),
    });
    await start();
    ok(await server.ask('POST', '/configuration_manager/adapters', devices.adapter({ timeout: 100_000 })));
    await admin.template('Slow', `${endless}never`);
    await admin.commandTemplate('Hung', [{ command: 'one' }, { command: 'two' }]);
    await admin.agent('Hanging', { runner: 'webhook', url: agents.url('/hang'), timeout: 60 });
    await admin.agent('Short', { runner: 'webhook', url: agents.url('/hang'), timeout: 20 });
    await admin.automation('template', 'Slow');
    await admin.automation('mop-template', 'Hung');
    for (const name of ['Hanging', 'Short']) await admin.automation('agent', name);
    devices.answer = () => undefined;
  });
  afterEach(async () => {
    await server.stop();
    agents.close();
    devices.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const begun = async () => {
    const [hanging, short] = [await admin.start('Hanging'), await admin.start('Short')];
    const hung = await admin.start('Hung', { devices: ['r1'] });
    await until(() => devices.commands.length === 1 && agents.called.length === 2);
    const slow = await admin.start('Slow');
    await until(async () => (await admin.get(slow)).claim !== null);
    return { hanging, short, hung, slow };
  };
  const sessionOf = (agent: string): string => agents.called.find(({ body }) => body.agent === agent)?.body.sessionId;

  it('by kill -9: what reads runs again, what acts is not called twice', async () => {
    const { hanging, short, hung, slow } = await begun();
    ok(await server.ask('PUT', '/template_builder/templates/Slow', { template: 'rendered' }));
    await server.stop('SIGKILL');
    devices.answer = says('fine');
    await start();
    ok(
      await server.ask('POST', `/agent-session-manager/sessions/${sessionOf('Hanging')}/complete`, {
        lastMessage: 'After all',
      }),
    );

    const rendered = await admin.inState(slow, 'complete', 'error');
    assert.equal(rendered.variables.renderedTemplate, 'rendered');
    assert.deepEqual(await topicsOf(slow), ['jobStarted', 'jobClaimed', 'jobReleased', 'jobClaimed', 'jobCompleted']);

    const { status, error } = await admin.inState(hung, 'complete', 'error');
    assert.equal(status, 'error');
    assert.match(error, /the outcome is unknown/);
    assert.equal(devices.commands.length, 1);
    assert.deepEqual(await topicsOf(hung), ['jobStarted', 'jobClaimed', 'jobReleased', 'jobErrored']);

    // Nobody has waited for the end of the claims.
    for (const id of [slow, hung, hanging, short]) {
      const [, claimed, released] = await eventsOfJob(id);
      assert.ok(Date.parse(released?.metadata.at ?? '') < claimed?.data.until, id);
    }

    const followed = await admin.inState(hanging, 'complete', 'error');
    assert.deepEqual([followed.status, followed.variables.lastMessage], ['complete', 'After all']);
    assert.match((await admin.inState(short, 'complete', 'error')).error, /its outcome is unknown/);
    assert.equal(agents.called.length, 2);
  });

  it('by SIGTERM: what reads is given back, what was sent is unknown', async () => {
    const { hanging, hung, slow } = await begun();
    assert.equal(await server.stop('SIGTERM'), 0);
    devices.answer = says('fine');
    await start();
    const { status, error } = await admin.get(hung);
    assert.equal(status, 'error');
    assert.match(error, /the outcome is unknown/);
    assert.equal(devices.commands.length, 1);
    ok(await server.ask('PUT', '/template_builder/templates/Slow', { template: 'rendered' }));
    // It may have begun before the template was changed, and then it did not come to its end.
    const { attempts } = (await admin.inState(slow, 'complete', 'error')) as { attempts?: number };
    assert.equal(attempts, undefined);
    assert.ok((await topicsOf(slow)).includes('jobReleased'));
    ok(
      await server.ask('POST', `/agent-session-manager/sessions/${sessionOf('Hanging')}/complete`, {
        lastMessage: 'Late',
      }),
    );
    const followed = await admin.inState(hanging, 'complete', 'error');
    assert.deepEqual([followed.status, followed.variables.lastMessage], ['complete', 'Late']);
  });

  it('with SIGTERM while a command is answered in time: the run comes to its end', async () => {
    const id = await admin.start('Hung', { devices: ['r1'] });
    await until(() => devices.commands.length === 1);
    const stopped = server.stop('SIGTERM');
    devices.answer = says('fine');
    const [first] = devices.commands;
    if (first) says('fine')(first.response);
    assert.equal(await stopped, 0);
    await start();
    assert.equal((await admin.get(id)).status, 'complete');
    assert.deepEqual(
      devices.commands.map(({ command }) => command),
      ['one', 'two'],
    );
  });
});

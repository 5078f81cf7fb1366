import assert from 'node:assert/strict';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { type Cluster, cluster } from '../../support/cluster.ts';
import { eventsOf, withLog } from '../../support/logged.ts';
import { ok } from '../../support/people.ts';
import { describeOwnRedis } from '../../support/redisServer.ts';
import { until } from '../../support/until.ts';
import { says as answers, webhookServer } from '../../support/webhookServer.ts';

describeOwnRedis('Built-in components on two nodes', (redis) => {
  let nodes: Cluster;
  let devices: Controller;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  let turn = 0;
  /** Asks one node after the other, those that run. */
  const admin = builtInOf(async (method, path, body) => {
    for (;;) {
      const node = nodes.nodes[turn++ % nodes.nodes.length]!;
      const answer = await node.ask(method, path, body);
      if (answer.status !== 0 && answer.status < 500) return answer;
    }
  });
  const ask = (...args: Parameters<Cluster['nodes'][0]['ask']>) => nodes.nodes[0]!.ask(...args);

  before(async function () {
    this.timeout(300_000);
    devices = await controller();
    agents = await webhookServer({
      '/done': answers({ status: 'COMPLETE', lastMessage: 'Done' }),
      '/hang': () => undefined,
    });
    nodes = await cluster(redis(), { OUTBOUND_ALLOW: '127.0.0.1' });
    await nodes.start();
    ok(await ask('POST', '/configuration_manager/adapters', devices.adapter({ timeout: 100_000 })));
    ok(await ask('POST', '/profiles', { id: 'limits', systemProps: {} }));
    ok(await ask('PUT', '/profiles/limits/active'));
    await admin.template('Greeting', 'Hello {{ name }}');
    await admin.commandTemplate('Check', [{ command: 'show <!n!>' }]);
    await admin.commandTemplate('Hung', [{ command: 'hung' }]);
    await admin.agent('Doer', { runner: 'webhook', url: agents.url('/done') });
    await admin.agent('Hanging', { runner: 'webhook', url: agents.url('/hang') });
    for (const name of ['Doer', 'Hanging']) await admin.automation('agent', name);
    for (const name of ['Check', 'Hung']) await admin.automation('mop-template', name);
    await admin.automation('template', 'Greeting');
  });
  after(async () => {
    await nodes?.remove();
    agents?.close();
    devices?.close();
  });
  beforeEach(() => {
    devices.commands.length = 0;
    agents.called.length = 0;
    devices.answer = says('fine');
  });

  const topicsOf = async (id: string): Promise<readonly string[]> => {
    const events = await withLog(nodes.logFile, (log) => eventsOf(log, `job-${id}`));
    return events.map(({ topic }) => topic);
  };

  it('run once each', async function () {
    this.timeout(300_000);
    const ids: string[] = [];
    for (let n = 0; n < 20; n++)
      ids.push(
        ...(await Promise.all([
          admin.start('Greeting', { name: `${n}` }),
          admin.start('Check', { devices: ['r1'], variables: { n } }),
          admin.start('Doer', { n }),
        ])),
      );
    for (const id of ids) {
      const { status, error } = await admin.inState(id, 'complete', 'error');
      assert.equal(status, 'complete', JSON.stringify(error));
      assert.deepEqual(await topicsOf(id), ['jobStarted', 'jobClaimed', 'jobCompleted']);
    }
    const commands = devices.commands.map(({ command }) => command);
    assert.deepEqual([commands.length, new Set(commands).size], [20, 20]);
    assert.deepEqual(
      agents.called.map(({ body }) => body.inputs.n).sort((a, b) => a - b),
      [...Array(20).keys()],
    );
  });

  it('are broken off by a cancel on another node', async function () {
    this.timeout(120_000);
    devices.answer = () => undefined;
    const hung = await admin.start('Hung', { devices: ['r1'] });
    const hanging = await admin.start('Hanging');
    await until(() => devices.commands.length === 1 && agents.called.length === 1);
    for (const { ask: askNode } of nodes.nodes)
      ok(await askNode('POST', '/operations-manager/jobs/cancel', { jobIds: [hung, hanging] }));
    await until(() => devices.commands[0]?.response.destroyed === true);
    await until(() => agents.called[0]?.request.socket.destroyed === true);
    assert.deepEqual(await topicsOf(hung), ['jobStarted', 'jobClaimed', 'jobCanceled']);
  });

  it('follow limits of the active profile on every node', async function () {
    this.timeout(120_000);
    const limits = async (systemProps: object): Promise<void> => {
      ok(await ask('PUT', '/profiles/limits', { properties: { systemProps } }));
    };
    await limits({ taskWorkerRateLimit: 1, taskWorkerRateLimitPeriod: 31_536_000 });
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, n) => admin.start('Check', { devices: ['r1'], variables: { n } })),
    );
    // Each node may begin one, once it has heard of the limit.
    await until(async () => (await Promise.all(ids.map(admin.get))).some(({ status }) => status === 'complete'));
    assert.ok(devices.commands.length <= 2, `${devices.commands.length}`);
    await limits({ taskWorkerRateLimit: 0 });
    for (const id of ids) await admin.inState(id, 'complete');
    assert.equal(devices.commands.length, 6);
  });

  it('are taken over when their node is killed, and nothing is sent twice', async function () {
    this.timeout(300_000);
    devices.answer = () => undefined;
    const hung = await Promise.all(Array.from({ length: 6 }, () => admin.start('Hung', { devices: ['r1'] })));
    const hanging = await Promise.all(Array.from({ length: 6 }, () => admin.start('Hanging')));
    await until(() => devices.commands.length === 6 && agents.called.length === 6);
    const { leader } = await nodes.roles();
    await leader.kill();
    devices.answer = says('fine');
    await nodes.mend();
    for (const { body } of [...agents.called]) ok(await admin.report(body.sessionId, 'complete', 'After all'));
    for (const id of hanging)
      assert.equal((await admin.inState(id, 'complete', 'error')).variables.lastMessage, 'After all');
    // What the other node runs is under way still.
    const settled = async (): Promise<number> =>
      (await Promise.all(hung.map(admin.get))).filter(({ status }) => status === 'error').length;
    const open = devices.commands.filter(({ response }) => !response.destroyed);
    await until(async () => (await settled()) === 6 - open.length);
    for (const { response } of open) says('fine')(response);
    for (const id of hung) await admin.inState(id, 'complete', 'error');
    assert.equal(devices.commands.length, 6);
    assert.equal(agents.called.length, 6);
  });
});

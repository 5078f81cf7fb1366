import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { note } from '../../support/cluster.ts';
import { cannotKill } from '../../support/killing.ts';
import { sweepServiceKills } from '../../support/kills/sweep.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { says as answers, webhookServer } from '../../support/webhookServer.ts';

const settings = { OUTBOUND_ALLOW: '127.0.0.1' };

describe(`Built-in components, killed while they store something${cannotKill}`, function () {
  this.timeout(1_800_000);
  let root: string;
  let devices: Controller;
  let agents: Awaited<ReturnType<typeof webhookServer>>;

  before(async function () {
    if (cannotKill) this.skip();
    root = temporaryFolder();
    devices = await controller();
    devices.answer = says('fine');
    agents = await webhookServer({ '/done': answers({ status: 'COMPLETE', lastMessage: 'Done' }) });
    const server = await startServer(join(root, 'base'), settings);
    const admin = builtInOf((method, path, body) => server.ask(method, path, body));
    ok(await server.ask('POST', '/configuration_manager/adapters', devices.adapter()));
    await admin.template('Greeting', 'Hello {{ round }}');
    await admin.commandTemplate('Check', [{ command: 'show <!round!>' }, { command: 'again <!round!>' }]);
    await admin.agent('Doer', { runner: 'webhook', url: agents.url('/done'), timeout: 5 });
    await admin.automation('template', 'Greeting');
    await admin.automation('mop-template', 'Check');
    await admin.automation('agent', 'Doer');
    await server.stop();
  });
  after(() => {
    agents?.close();
    devices?.close();
    if (root) rmSync(root, { recursive: true, force: true });
  });

  /** Starts the three jobs, until the service dies. */
  const startAll = async ({ ask }: Server, round: number): Promise<void> => {
    const jobs = [
      ['Greeting', { round }],
      ['Check', { devices: ['r1'], variables: { round } }],
      ['Doer', { round }],
    ] as const;
    await Promise.all(
      jobs.map(async ([workflow, variables]) => {
        await ask('POST', '/operations-manager/jobs/start', { workflow, options: { variables } });
      }),
    );
  };

  const jobsOf = async ({ ask }: Server): Promise<readonly any[]> =>
    ok(await ask('GET', '/operations-manager/jobs?limit=100')).data;

  const hasEnded = ({ status }: any): boolean => status === 'complete' || status === 'error';

  const allEnded = async (server: Server): Promise<readonly any[]> => {
    for (;;) {
      const jobs = await jobsOf(server);
      if (jobs.every(hasEnded)) return jobs;
      await pause(100);
    }
  };

  it('end once each, and call nobody twice', async () => {
    await sweepServiceKills({
      folder: root,
      settings,
      use: async (killed, n) => {
        await startAll(killed, n);
        return Promise.race([
          killed.ended.then(() => false),
          allEnded(killed).then(
            (jobs) => jobs.length === 3,
            () => false,
          ),
        ]);
      },
      look: async (next, _, n) => {
        const jobs = await allEnded(next);
        const of = (name: string): any => jobs.find((job) => job.name === name);
        const commands = devices.commands.map(({ command }) => command).filter((text) => text.endsWith(` ${n}`));
        const calls = agents.called.filter(({ body }) => body.inputs.round === n);
        const [greeting, check, doer] = [of('Greeting'), of('Check'), of('Doer')];
        if (greeting) assert.equal(greeting.variables.renderedTemplate, `Hello ${n}`);
        assert.deepEqual(commands, [`show ${n}`, `again ${n}`].slice(0, commands.length), 'each is sent once');
        if (check?.status === 'complete') assert.equal(commands.length, 2);
        if (check?.status === 'error') assert.match(check.error, /the outcome is unknown/);
        assert.ok(calls.length <= 1, 'the agent is called once at most');
        if (doer?.status === 'complete') assert.equal(calls.length, 1);
        if (doer?.status === 'error') assert.match(doer.error, /It has not ended within 5 seconds/);
        if (doer?.status === 'error' && calls.length > 0) assert.match(doer.error, /outcome is unknown/);
        note(`${n}: ${jobs.map(({ name, status }) => `${name} ${status}`).join(', ')}`);
      },
    });
  });
});

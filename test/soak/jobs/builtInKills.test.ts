import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { note } from '../../support/cluster.ts';
import { cannotKill, killedAtFsync } from '../../support/killing.ts';
import { ok } from '../../support/people.ts';
import { type Server, startServer, temporaryFolder } from '../../support/process.ts';
import { says as answers, webhookServer } from '../../support/webhookServer.ts';

/** At which fsyncs after the start the service is killed; at all with SOAK_ROUNDS. */
const last = 24;
const stride = process.env.SOAK_ROUNDS ? 1 : 4;
const atOnce = 3;
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
    const server = await startServer(join(root, 'first'), settings);
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

  const trying = async (round: number): Promise<string> => {
    const folder = join(root, `${round}`);
    cpSync(join(root, 'first'), folder, { recursive: true });
    const killed = await startServer(folder, settings, killedAtFsync(round)).catch(() => undefined);
    if (killed) {
      await startAll(killed, round);
      // Later kills come after the end of all jobs.
      await Promise.race([killed.ended, allEnded(killed).catch(() => undefined)]);
      await killed.stop('SIGKILL');
    }
    const server = await startServer(folder, settings);
    try {
      const jobs = await allEnded(server);
      const of = (name: string): any => jobs.find((job) => job.name === name);
      const commands = devices.commands.map(({ command }) => command).filter((text) => text.endsWith(` ${round}`));
      const calls = agents.called.filter(({ body }) => body.inputs.round === round);
      const [greeting, check, doer] = [of('Greeting'), of('Check'), of('Doer')];
      if (greeting) assert.equal(greeting.variables.renderedTemplate, `Hello ${round}`);
      assert.deepEqual(commands, [`show ${round}`, `again ${round}`].slice(0, commands.length), 'each is sent once');
      if (check?.status === 'complete') assert.equal(commands.length, 2);
      if (check?.status === 'error') assert.match(check.error, /the outcome is unknown/);
      assert.ok(calls.length <= 1, 'the agent is called once at most');
      if (doer?.status === 'complete') assert.equal(calls.length, 1);
      if (doer?.status === 'error') assert.match(doer.error, /It has not ended within 5 seconds/);
      if (doer?.status === 'error' && calls.length > 0) assert.match(doer.error, /outcome is unknown/);
      return `${round}: ${jobs.map(({ name, status }) => `${name} ${status}`).join(', ')}`;
    } finally {
      await server.stop();
    }
  };

  it('end once each, and call nobody twice', async () => {
    const rounds = Array.from({ length: Math.floor(last / stride) }, (_, i) => (i + 1) * stride);
    for (let from = 0; from < rounds.length; from += atOnce)
      for (const outcome of await Promise.all(rounds.slice(from, from + atOnce).map(trying))) note(outcome);
  });
});

import assert from 'node:assert/strict';
import { builtInOf, type Controller, controller, says } from '../../support/builtIn.ts';
import { ok } from '../../support/people.ts';
import { startService, type TestService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { webhookServer } from '../../support/webhookServer.ts';

const jobCount = 20;

describe('Built-in components whose jobs are paused, resumed and canceled all the time', function () {
  this.timeout(240_000);
  let service: TestService;
  let devices: Controller;
  let agents: Awaited<ReturnType<typeof webhookServer>>;
  let admin: ReturnType<typeof builtInOf>;
  before(async () => {
    service = await startService({ OUTBOUND_ALLOW: '127.0.0.1' });
    devices = await controller();
    agents = await webhookServer({
      '/done': (response) =>
        later(() => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"COMPLETE"}')),
    });
    devices.answer = (response) => later(() => says('fine')(response));
    ok(await service.ask('POST', '/configuration_manager/adapters', devices.adapter()));
    admin = builtInOf(service.ask);
  });
  after(async () => {
    await service.stop();
    agents.close();
    devices.close();
  });

  const below = (n: number): number => Math.floor(Math.random() * n);
  const later = (work: () => void): void => void setTimeout(work, below(60));

  /** Pauses and resumes these jobs, and cancels a few, until all have ended. Returns them. */
  const pullAt = async (ids: readonly string[]): Promise<readonly any[]> => {
    const move = async (what: string, id: string): Promise<void> => {
      const { status, text } = await service.ask('POST', `/operations-manager/jobs/${what}`, { jobIds: [id] });
      assert.ok(status === 200 || status === 409, text);
    };
    const pull = async (): Promise<void> => {
      for (let n = 0; n < 40; n++) {
        const what = ['pause', 'pause', 'resume', 'resume', 'cancel'][below(n % 8 === 0 ? 5 : 4)] ?? 'resume';
        await move(what, ids[below(ids.length)] ?? '');
      }
    };
    await Promise.all([pull(), pull(), pull()]);
    for (const id of ids) await move('resume', id);
    return Promise.all(ids.map((id) => admin.inState(id, 'complete', 'canceled', 'error')));
  };
  const once = (calls: readonly string[]): void => assert.deepEqual([...new Set(calls)], calls);

  it('send each command once at most, and all of them unless the job is canceled', async () => {
    const names = ['r1', 'r2', 'r3'];
    await admin.commandTemplate(
      'Three',
      [1, 2, 3].map((n) => ({ command: `<!job!> ${n}` })),
    );
    await admin.automation('mop-template', 'Three');
    const ids: string[] = [];
    for (let n = 0; n < jobCount; n++)
      ids.push(await admin.start('Three', { devices: names, variables: { job: `job-${n}-` } }));
    const ended = await pullAt(ids);
    once(devices.commands.map(({ device, command }) => `${device} ${command}`));
    for (const [n, { status, error }] of ended.entries()) {
      assert.equal(error, null);
      const sent = devices.commands.filter(({ command }) => command.startsWith(`job-${n}- `)).length;
      if (status === 'complete') assert.equal(sent, 9);
    }
  });

  it('call each agent once, and end as its session does', async () => {
    await admin.agent('Doer', { runner: 'webhook', url: agents.url('/done') });
    await admin.automation('agent', 'Doer');
    const ids: string[] = [];
    for (let n = 0; n < jobCount; n++) ids.push(await admin.start('Doer', { n }));
    const ended = await pullAt(ids);
    once(agents.called.map(({ body }) => body.sessionId));
    once(agents.called.map(({ body }) => String(body.inputs.n)));
    for (const { status, error, variables } of ended) {
      assert.equal(error, null);
      if (status === 'complete') assert.equal(variables.status, 'COMPLETE');
    }
    const sessions = async (): Promise<readonly any[]> =>
      ok(await service.ask('GET', '/agent-session-manager/sessions?limit=1000')).results;
    await until(async () => (await sessions()).every(({ status }) => status !== 'RUNNING'), 'the end of all sessions');
  });
});
